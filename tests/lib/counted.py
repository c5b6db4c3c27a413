# SPDX-License-Identifier: MIT
"""Programs whose calls for memory, descriptors, mappings and threads are counted as they run."""

import bisect
import struct
from collections import Counter
from pathlib import Path

from gid_vm.preload import Preload
from lib.program import BUILD, Program

LIBRARY = BUILD / "tests/lib/programs/counted_calls.so"

# As in counted_calls.c.
KINDS = ("malloc", "free", "map", "unmap", "open", "accept", "thread")
PLACES = 1024
# Those that give something back, or wait for others to have done so.
GIVING_BACK = ("free", "unmap")

# Of a kind, from an object such as libwlroots-0.19.so, at an offset in it.
Calls = Counter[tuple[str, str, int]]


class Counted:
    """The table of a program that has `env` of `CountedCalls` in its environment."""

    def __init__(self, folder: Path, program: Program) -> None:
        self._pid = program.pid
        (self._file,) = folder.glob(f"*.{program.pid}")

    def calls(self) -> Calls:
        """All that were made so far."""
        data = self._file.read_bytes()
        assert len(data) == len(KINDS) * PLACES * 16
        objects = self._objects()
        starts = [start for start, _, _ in objects]
        found: Calls = Counter()
        for index, (caller, calls) in enumerate(struct.iter_unpack("<QQ", data)):
            if calls:
                _, base, name = objects[max(0, bisect.bisect_right(starts, caller) - 1)]
                found[KINDS[index // PLACES], name, caller - base] += calls
        return found

    def _objects(self) -> list[tuple[int, int, str]]:
        """Of each mapping its start, the address of its object, and the object's name."""
        mapped, bases = [], {}
        for line in Path(f"/proc/{self._pid}/maps").read_text().splitlines():
            span, _, _, _, _, *path = line.split(maxsplit=5)
            start = int(span.split("-")[0], 16)
            name = Path(path[0]).name if path else "(nothing)"
            mapped.append((start, bases.setdefault(name, start), name))
        return sorted(mapped)


class CountedCalls:
    def __init__(self, folder: Path) -> None:
        self._preload = Preload(LIBRARY)
        self._folder = folder / "counted"
        self._folder.mkdir()
        self.env = self._preload.env | {"COUNTED_CALLS": str(self._folder)}
        # before a program, as `under` of a display or of a gidd
        self.under = ("env", *(f"{name}={value}" for name, value in self.env.items()))

    def of(self, program: Program) -> Counted:
        return Counted(self._folder, program)


def sums(table: bytes, *but: str) -> dict[str, int]:
    """How many of each kind a table has, but for those kinds: of another machine's program."""
    calls = [count for _, count in struct.iter_unpack("<QQ", table)]
    return {
        kind: sum(calls[index * PLACES : (index + 1) * PLACES])
        for index, kind in enumerate(KINDS)
        if kind not in but
    }


def by_object(calls: Calls, *but: str) -> dict[str, Counter[str]]:
    """How many of each kind each object made, but for those kinds."""
    found: dict[str, Counter[str]] = {}
    for (kind, name, _), count in calls.items():
        if count and kind not in but:
            found.setdefault(name, Counter())[kind] += count
    return found
