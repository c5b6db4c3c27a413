# SPDX-License-Identifier: MIT
"""Preloads a library into programs (LD_PRELOAD), and checks that it was loaded."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

# Characters that end a name in LD_PRELOAD.
_ENDS = set(" :")


class NotLoadedError(Exception):
    """A library that was to count or change something was not loaded."""


def _folders() -> Iterator[str]:
    yield tempfile.gettempdir()
    yield from ("/tmp", "/dev/shm", "/var/tmp")


class Preload:
    """For programs that get `env`. The library must include vm/preloaded.c, which reports."""

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
        """The names of the programs that have loaded it so far."""
        return self._told.read_text().splitlines()

    def check(self, *programs: str) -> None:
        """Raises NotLoadedError unless all of these have loaded it."""
        missing = set(programs) - set(self.programs)
        if missing:
            names = ", ".join(sorted(missing))
            raise NotLoadedError(
                f"{self._library} was not loaded into {names}, which goes on without"
            )

    def forget(self) -> None:
        """Clears the list of programs."""
        self._told.write_text("")
