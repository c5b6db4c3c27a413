# SPDX-License-Identifier: MIT
"""The parts of a long soak: the hours of several runs add up, also across machines.

A file of parts has a line of JSON for each sample of each run. The last line of a run counts, so
that an interrupted run counts up to there; the files of several machines are joined by `cat`.
"""

import datetime
import json
import platform
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

PLANNED = 48.0  # hours, as planned by the evaluation of 2017
RUNS, ENDED, BROKE = "runs", "ended", "broke"
STATES = (RUNS, ENDED, BROKE)


class BadParts(Exception):
    """Why a file is invalid, in a sentence."""


@dataclass(frozen=True)
class Part:
    """`state`: RUNS if it has not ended, or stopped reporting."""

    id: str
    machine: str
    began: str
    hours: float
    state: str
    told: str  # its verdict
    grows: bool


def begin() -> Part:
    """A part that begins here and now."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Part(uuid.uuid4().hex, platform.node(), now, 0.0, RUNS, "", False)


def add(path: Path, part: Part) -> None:
    """One write in append mode: concurrent writers cannot break a line."""
    with path.open("ab", buffering=0) as file:
        file.write((json.dumps(asdict(part)) + "\n").encode())


def read(path: Path) -> list[Part]:
    """Each part once, by its last line."""
    found: dict[str, Part] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            part = Part(**json.loads(line))
            known = isinstance(part.hours, (int, float)) and part.state in STATES
        except (ValueError, TypeError):
            known = False
        if not known:
            raise BadParts(f"{path}:{number}: this is no part of a soak: {line[:60]}")
        found[part.id] = part
    return list(found.values())


def summary(parts: list[Part], planned: float = PLANNED) -> str:
    hours = sum(part.hours for part in parts)
    machines = len({part.machine for part in parts})
    broke, grew = (
        sum(getattr(part, key) == value for part in parts)
        for key, value in (("state", BROKE), ("grows", True))
    )
    told = f"{hours:.2f} of {planned:g} hours, in {_many(len(parts), 'part')} on "
    told += f"{_many(machines, 'machine')}: "
    told += f"{broke} broke off" if broke else "nothing broke"
    told += f", something grew in {grew}" if grew else ", nothing grew"
    left = planned - hours
    return f"{told}; {left:.2f} hours are left." if left > 0 else f"{told}."


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
