# SPDX-License-Identifier: MIT
"""Instructions of a program, counted by callgrind."""

import re
import subprocess
from pathlib import Path

from lab.domains.program import PATIENCE, LabError, wait_for

ANSWER_SECONDS = 10  # of one try: vgdb can wait for ever, and hears at once when asked anew
PAUSE = 1.0  # s


def command(out: Path, counts: bool = True) -> tuple[str, ...]:
    """What a program is run under. It writes `out` at its end; with `counts` off, start() comes
    first, and counted() reads what there is."""
    at_start = () if counts else ("--instr-atstart=no",)
    return ("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", *at_start)


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


# callgrind_control says OK of what no program has heard, as on a busy machine. So vgdb tells it,
# which fails then, again and again until callgrind answers that it has done so.


def tell(pid: int, *words: str) -> str:
    """What callgrind answers, empty where it hears nothing: then it may be told again."""
    command = ["vgdb", f"--pid={pid}", *words]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    return result.stdout + result.stderr if result.returncode == 0 else ""


def start(pid: int, patience: float = PATIENCE) -> None:
    """From now on it counts."""

    def counts() -> bool:
        tell(pid, "instrumentation", "on")
        return "instrumentation: on" in tell(pid, "instrumentation")

    wait_for(f"callgrind counts process {pid}", counts, patience, PAUSE, lambda: check(pid))


def counted(pid: int, out: Path, patience: float = PATIENCE) -> Path:
    """The file of what it has counted until now: whole, as each dump has a name of its own."""
    dump = Path(f"{out}.1")

    def is_written() -> bool:
        return tell(pid, "dump") != "" and dump.exists()

    wait_for(f"callgrind writes {dump}", is_written, patience, PAUSE, lambda: check(pid))
    return dump


def check(pid: int) -> None:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        state = "Z"  # as if it waited to be reaped
    if state == "Z":
        raise LabError(f"process {pid}, which callgrind was to count, has ended")
