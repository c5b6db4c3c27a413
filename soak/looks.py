# SPDX-License-Identifier: MIT
"""What a process has, as Linux counts it."""

import re
from collections.abc import Iterable
from pathlib import Path

# What is counted, its unit, and how much more of it than at the begin is growth. The pages of slabs
# and libraries are others', too: how much of them is this process's part changes with those.
COUNTED = {
    "heap": ("KiB", 64),
    "memory": ("KiB", 512),
    "descriptors": ("", 1),
    "mappings": ("", 1),
}


def look(pid: int) -> dict[str, int]:
    """heap: what it has for itself (anonymous memory); memory: with its part of what is shared."""
    folder = Path("/proc") / str(pid)
    descriptors = len(list((folder / "fd").iterdir()))
    mappings = len((folder / "maps").read_text().splitlines())
    return counts((folder / "smaps_rollup").read_text(), descriptors, mappings)


def counts(smaps_rollup: str, descriptors: int, mappings: int) -> dict[str, int]:
    kib = dict(re.findall(r"^(\w+): +(\d+) kB", smaps_rollup, re.M))
    return {
        "heap": int(kib["Pss_Anon"]),
        "memory": int(kib["Pss"]),
        "descriptors": descriptors,
        "mappings": mappings,
    }


def least(looks: Iterable[dict[str, int]]) -> dict[str, int]:
    """The lowest of each: what is used for a while only is not growth."""
    looks = list(looks)
    return {what: min(one[what] for one in looks) for what in COUNTED}
