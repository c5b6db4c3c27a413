# SPDX-License-Identifier: MIT
"""The resources of a process, as Linux counts them."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

KIND = "mappings of "  # followed by the kind of mapping
# The counted resources, their units, and the increase above which each counts as growth. Pages of
# slabs and libraries are shared: the share of this process changes with the others.
COUNTED = {
    "heap": ("KiB", 64),
    "memory": ("KiB", 512),
    "descriptors": ("", 1),
    "mappings": ("", 1),
}


def sample(pid: int) -> dict[str, int]:
    """heap: private memory (anonymous); memory: includes its part of shared memory. Also the number
    of mappings of each kind.
    """
    folder = Path("/proc") / str(pid)
    descriptors = len(list((folder / "fd").iterdir()))
    maps = (folder / "maps").read_text()
    mappings = len(maps.splitlines())
    return counts((folder / "smaps_rollup").read_text(), descriptors, mappings) | kinds(maps)


def kinds(maps: str) -> dict[str, int]:
    """The number of mappings of each kind, which shows the kind that grows."""
    found = Counter(_kind(line.split(maxsplit=5)[5:]) for line in maps.splitlines())
    return {f"{KIND}{kind}": count for kind, count in found.items()}


def _kind(name: list[str]) -> str:
    """The kind of a file is its folder or, for a memfd, its name without a counter."""
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
    """The minimum of each: temporary use is not growth."""
    samples = list(samples)
    names = {what: None for one in samples for what in (*COUNTED, *one)}
    return {what: min(one.get(what, 0) for one in samples) for what in names}
