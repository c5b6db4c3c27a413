# SPDX-License-Identifier: MIT
"""Known vulnerabilities of the packages that run, as Debian's security tracker tells them.

The tracker gives all it knows as one file, which somebody brings: this machine may have no network.
"""

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assuring.supply import ROLES, Package

TRACKER = "https://security-tracker.debian.org/tracker/data/json"


class BadTracker(Exception):
    """The file is not what the tracker gives."""


@dataclass(frozen=True)
class Vulnerability:
    name: str
    source: str
    version: str
    urgency: str
    fixed: str  # the version of this release that has no such fault; "" if there is none yet
    description: str
    role: str  # the most that one of the source's packages is

    @property
    def counts(self) -> bool:
        """The tracker calls what no program of Debian's has unimportant."""
        return self.urgency != "unimportant"


def is_less(one: str, other: str) -> bool:
    command = ["dpkg", "--compare-versions", one, "lt", other]
    return one != other and subprocess.run(command).returncode == 0


def is_open(entry: dict, version: str) -> bool:
    """What the tracker says of a fault in a release. Fixed in "0": that one never had it."""
    if entry["status"] != "resolved":
        return True
    return entry["fixed_version"] != "0" and is_less(version, entry["fixed_version"])


def read_tracker(file: Path) -> dict:
    try:
        tracker = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadTracker(f"{file}: {error}") from None
    if not isinstance(tracker, dict) or "glibc" not in tracker:
        raise BadTracker(f"{file}: it is not what {TRACKER} gives: nothing about glibc")
    return tracker


def known(tracker: dict, packages: Sequence[Package], release: str) -> list[Vulnerability]:
    """Of the sources of packages that run, what this release of Debian still has."""
    found = []
    for source, version, role in _sources(package for package in packages if package.runs):
        try:
            for name, fault in tracker.get(source, {}).items():
                entry = fault["releases"].get(release)
                if entry is not None and is_open(entry, version):
                    fixed = entry["fixed_version"] if entry["status"] == "resolved" else ""
                    words = (entry.get("urgency", ""), fixed, fault.get("description", ""), role)
                    found.append(Vulnerability(name, source, version, *words))
        except (AttributeError, KeyError, TypeError) as error:
            problem = f"what it says of {source} is not as {TRACKER} has it: {error}"
            raise BadTracker(problem) from None
    return sorted(found, key=lambda one: (-ROLES.index(one.role), one.source, one.name))


def _sources(packages: Iterable[Package]) -> list[tuple[str, str, str]]:
    roles: dict[tuple[str, str], str] = {}
    for one in packages:
        if one.source:
            key = (one.source, one.source_version)
            roles[key] = max(roles.get(key, ROLES[0]), one.role, key=ROLES.index)
    return [(*key, role) for key, role in sorted(roles.items())]
