# SPDX-License-Identifier: MIT
"""What is installed, and which of Debian's packages has it; for whom."""

import re
from fnmatch import fnmatchcase

from lib.program import TOP

DEBIAN = TOP / "packaging" / "debian"
SYSTEMD = TOP / "packaging" / "systemd"
# Put in their place, and left out, by debian/rules.
ADDED = {f"etc/gidway/{name}.conf" for name in ("gidway", "cluster", "engine")}
LEFT_OUT = {"usr/share/doc/gidway/gidway.conf.example"}


def patterns() -> list[tuple[str, str]]:
    """(package, pattern) of all lines."""
    return [
        (path.stem, line.split()[0])
        for path in sorted(DEBIAN.glob("*.install"))
        for line in path.read_text().splitlines()
        if line
    ]


def fits(name: str, pattern: str) -> bool:
    """As dh_install has it: a star stands for no slash, and a folder for all that is in it."""
    parts, wanted = name.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted))


def version() -> str:
    return re.search(r"^  version: '(.*)',$", (TOP / "meson.build").read_text(), re.MULTILINE)[1]


def sysusers() -> dict[str, tuple[str, str]]:
    """Of each user what for, and the home."""
    lines = [line for path in SYSTEMD.glob("*.sysusers") for line in path.read_text().splitlines()]
    assert {line for line in lines if line.startswith("g ")} == {"g gidway - -"}
    found = [
        re.fullmatch(r'u (\S+) - "(.*)" (\S+)', line) for line in lines if line.startswith("u ")
    ]
    return {user[1]: (user[2], user[3]) for user in found}
