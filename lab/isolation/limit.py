# SPDX-License-Identifier: MIT
"""A memory limit for a hostile process: a control group where possible, else an rlimit."""

import contextlib
import os
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


class Limit:
    """`has_group`: False if the process cannot enter a control group by itself."""

    kills = False  # a program that is refused a slab first has tested the limit as well

    def __init__(self, size: int, has_group: bool = True) -> None:
        self._size = size
        self._group = self._make_group() if has_group else None

    @property
    def kind(self) -> str:
        return "control group" if self._group else "address space"

    def command(self, *command: str) -> list[str]:
        """The command that runs this one under the limit."""
        if self._group is None:
            return ["prlimit", f"--as={self._size}", *command]
        enter = 'echo $$ > "$0" && exec "$@"'
        return ["sh", "-c", enter, str(self._group / "cgroup.procs"), *command]

    def close(self) -> None:
        """Removes the group. The kernel notices the end of its last process a moment later than we
        do.
        """
        if self._group is not None:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    self._group.rmdir()
                    return
                time.sleep(0.02)

    def _make_group(self) -> Path | None:
        """Creates a group below our own; version 2 or 1."""
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "memory":
                parent, key = ROOT / "memory", "memory.limit_in_bytes"
            elif not controllers:
                parent, key = ROOT, "memory.max"
            else:
                continue
            group = parent / path.lstrip("/") / f"gidway-bench-{os.getpid()}"
            try:
                group.mkdir()
            except OSError:
                continue
            try:
                (group / key).write_text(str(self._size))
                return group
            except OSError:
                group.rmdir()
        return None


class Whole:
    """The limit of the whole domain, as a machine or a container: a leak ends there. `kills`: the
    limit is low enough to wait for, and kills the program.
    """

    def __init__(self, kind: str, kills: bool = False) -> None:
        self.kind, self.kills = kind, kills

    def command(self, *command: str) -> list[str]:
        return list(command)

    def close(self) -> None:
        pass
