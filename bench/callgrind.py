# SPDX-License-Identifier: MIT
"""Instructions of a program, counted by callgrind."""

import re
import subprocess
from pathlib import Path

PATIENCE = 120  # s


def command(out: Path) -> tuple[str, ...]:
    """What a program is run under. It writes `out` at its end."""
    return ("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}")


def read_costs(path: Path) -> dict[str, int]:
    """The instructions of each object of a callgrind file, by its own format's rules."""
    names: dict[str, str] = {}
    costs: dict[str, int] = {}
    name, is_call = "", False
    for line in path.read_text().splitlines():
        if found := re.match(r"c?ob=\((\d+)\)(?: (.+))?", line):
            names.setdefault(found[1], found[2] or "")
            if line[0] == "o":
                name = Path(names[found[1]]).name
        elif line.startswith("calls="):
            is_call = True  # the next line has what the called function spent
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            if not is_call:
                costs[name] = costs.get(name, 0) + int(line.split()[1])
            is_call = False
    return costs


def read_calls(path: Path, function: str) -> int:
    """How often it was called."""
    number, calls, is_wanted = "", 0, False
    for line in path.read_text().splitlines():
        if found := re.match(r"(c?)fn=\((\d+)\)(?: (.+))?", line):
            if found[3] == function:
                number = found[2]
            is_wanted = found[1] == "c" and found[2] == number
        elif is_wanted and line.startswith("calls="):
            calls += int(line[6:].split()[0])
    return calls


def control(pid: int, *what: str) -> None:
    words = ["callgrind_control", *what, str(pid)]
    subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE)
