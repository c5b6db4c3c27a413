# SPDX-License-Identifier: MIT
"""The crates of others that gidway's crates are built with, as their locks name them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import tomllib


@dataclass(frozen=True, order=True)
class Crate:
    name: str
    version: str
    sha256: str  # of its archive


def read_crates(locks: Iterable[Path]) -> list[Crate]:
    """Of Cargo.lock files, each once: not our own, which have no checksum."""
    found = set()
    for lock in locks:
        for one in tomllib.loads(lock.read_text(encoding="utf-8")).get("package", ()):
            if "checksum" in one:
                found.add(Crate(one["name"], one["version"], one["checksum"]))
    return sorted(found)


def crates(top: Path) -> list[Crate]:
    return read_crates(sorted((top / "rust").rglob("Cargo.lock")))
