# SPDX-License-Identifier: MIT
"""How long a picture is on its way to the light at the most, as gid-cluster --check says it."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

CONFIGURATION = "assurance/example.conf"
ROW = re.compile(r"^(\S+)" + r" +(\d+\.\d\d) ms" * 4 + " from the ring to the light$", re.MULTILINE)


@dataclass(frozen=True)
class Light:
    """Of one role, in ms on the machine that makes the report."""

    role: str
    taken: float
    examined: float
    shown: float
    total: float


def lights_in(text: str) -> list[Light]:
    return [
        Light(row[1], *(float(word) for word in row.groups()[1:])) for row in ROW.finditer(text)
    ]


def lights_of(top: Path, build: Path) -> list[Light] | None:
    """None: it is not built, refuses the configuration on this machine, or tells of no role."""
    program = build / "cluster/gid-cluster"
    if not program.exists():
        return None
    command = [program, "--check", "--config", top / CONFIGURATION]
    said = subprocess.run(command, capture_output=True, text=True)
    return (lights_in(said.stdout) or None) if said.returncode == 0 else None
