# SPDX-License-Identifier: MIT
"""What a process has, as Linux counts it."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

KIND = "mappings of "  # and what they are of
# What is counted, its unit, and how much more of it than at the begin is growth. The pages of slabs
# and libraries are others', too: how much of them is this process's part changes with those.
COUNTED = {
    "heap": ("KiB", 64),
    "memory": ("KiB", 512),
    "descriptors": ("", 1),
    "mappings": ("", 1),
}


def sample(pid: int) -> dict[str, int]:
    """heap: what it has for itself (anonymous memory); memory: with its part of what is shared.
    Beside what is counted, each kind of mapping."""
    folder = Path("/proc") / str(pid)
    descriptors = len(list((folder / "fd").iterdir()))
    maps = (folder / "maps").read_text()
    mappings = len(maps.splitlines())
    return counts((folder / "smaps_rollup").read_text(), descriptors, mappings) | kinds(maps)


def kinds(maps: str) -> dict[str, int]:
    """How many mappings there are of each kind: of which one there are more says what grows."""
    found = Counter(_kind(line.split(maxsplit=5)[5:]) for line in maps.splitlines())
    return {f"{KIND}{kind}": count for kind, count in found.items()}


def _kind(name: list[str]) -> str:
    """A file is called by its folder or, in memory, by its name without what is counted up."""
    if not name:
        return "anonymous"
    path = name[0].removesuffix(" (deleted)")
    if path.startswith("["):
        return path.strip("[]").partition(":")[0]
    if path.startswith("/memfd:"):
        return re.sub(r"\d+", "N", path.removeprefix("/"))
    return re.sub(r"\d+", "N", path.rpartition("/")[0] or path)


def counts(smaps_rollup: str, descriptors: int, mappings: int) -> dict[str, int]:
    kib = dict(re.findall(r"^(\w+): +(\d+) kB", smaps_rollup, re.M))
    return {
        "heap": int(kib["Pss_Anon"]),
        "memory": int(kib["Pss"]),
        "descriptors": descriptors,
        "mappings": mappings,
    }


def least(samples: Iterable[dict[str, int]]) -> dict[str, int]:
    """The lowest of each: what is used for a while only is not growth."""
    samples = list(samples)
    names = {what: None for one in samples for what in (*COUNTED, *one)}
    return {what: min(one.get(what, 0) for one in samples) for what in names}
