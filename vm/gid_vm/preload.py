# SPDX-License-Identifier: MIT
"""A library that is loaded into programs before their own (LD_PRELOAD), and whether it was."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

# In what ld.so takes for a list of libraries, these end a name.
_ENDS = set(" :")


class NotLoadedError(Exception):
    """What a library was to count or to change was not."""


def _folders() -> Iterator[str]:
    yield tempfile.gettempdir()
    yield from ("/tmp", "/dev/shm", "/var/tmp")


class Preload:
    """For programs that have `env` in theirs. The library has vm/preloaded.c in it, which tells."""

    def __init__(self, library: str | Path) -> None:
        where = next(folder for folder in _folders() if not _ENDS & set(folder))
        self._folder = tempfile.TemporaryDirectory(
            prefix="gid-", dir=where, ignore_cleanup_errors=True
        )
        link = Path(self._folder.name) / "preloaded.so"
        link.symlink_to(Path(library).absolute())
        self._library, self._told = Path(library), link.with_name("told")
        self._told.touch()
        self.env = {"LD_PRELOAD": str(link), "GIDWAY_PRELOADED": str(self._told)}

    @property
    def programs(self) -> list[str]:
        """The names of those that have loaded it so far."""
        return self._told.read_text().splitlines()

    def check(self, *programs: str) -> None:
        """That all of these have."""
        missing = set(programs) - set(self.programs)
        if missing:
            names = ", ".join(sorted(missing))
            raise NotLoadedError(
                f"{self._library} was not loaded into {names}, which goes on without"
            )

    def forget(self) -> None:
        """Who has loaded it so far."""
        self._told.write_text("")
