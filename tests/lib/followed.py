# SPDX-License-Identifier: MIT
"""The paths that root follows, as docs/security.md lists them: who follows which."""

import re

from lib.program import TOP

_HEADING = "## Paths that root follows"


def listed() -> dict[str, set[str]]:
    """By who follows them: a unit, a maintainer script, a program."""
    text = (TOP / "docs/security.md").read_text().partition(_HEADING)[2].partition("\n## ")[0]
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and cells[0].startswith("`"):
            for who in re.findall(r"`([^`]+)`", cells[1]):
                found.setdefault(who, set()).update(re.findall(r"`([^`]+)`", cells[0]))
    return found
