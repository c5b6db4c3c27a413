# SPDX-License-Identifier: MIT
"""Requirements, failures and assumptions, as the TRLC files of assurance/ have them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pip_package import bring

TRLC = "3.1.1"

# What ISO 26262-6, annex D, lists of communication, and two more, in the order of the tables.
FAULTS = (
    *("lost", "late", "repeated", "masquerading"),
    *("corrupted", "wrong_order", "wrong_size", "too_much"),
    *("inserted", "blocked", "partial", "asymmetric"),
)
# Of a part: what it lists of execution and of memory, and that it ends.
MISHAPS = ("ends", "stands_still", "slow", "out_of_step", "corrupted", "exhausted")


class KitError(Exception):
    """The files have mistakes: its text has a line for each."""


class NoTrlc(Exception):
    """TRLC is not there and cannot be brought."""


@dataclass(frozen=True)
class Requirement:
    name: str
    place: str  # file:line
    statement: str
    rationale: str
    owner: str  # a folder
    tests: tuple[str, ...]

    @property
    def chapter(self) -> str:
        return Path(self.place.partition(":")[0]).stem


@dataclass(frozen=True)
class Interface:
    name: str
    description: str
    from_part: str
    to_part: str


@dataclass(frozen=True)
class Part:
    name: str
    description: str
    shares: str


@dataclass(frozen=True)
class Failure:
    name: str
    place: str
    at: str  # an interface's name, or a part's
    fault: str
    effect: str
    detection: str
    reaction: str
    safe_state: str
    within: str
    timed: tuple[str, ...]
    injected: tuple[str, ...]


@dataclass(frozen=True)
class Assumption:
    name: str
    place: str
    statement: str
    rationale: str
    checked: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """How C is written here. `checked`: by what, as assuring.rules knows it."""

    name: str
    place: str
    statement: str
    like: tuple[str, ...]  # guidelines of MISRA C:2012
    checked: tuple[str, ...]
    deviation: str


@dataclass(frozen=True)
class Step:
    """A part of a safety frame's way, with what bounds its time."""

    name: str
    place: str
    number: int
    statement: str
    bound: str
    depends: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Kit:
    requirements: tuple[Requirement, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    parts: tuple[Part, ...] = ()
    failures: tuple[Failure, ...] = ()
    safe_states: tuple[tuple[str, str], ...] = ()  # name, description
    assumptions: tuple[Assumption, ...] = ()
    rules: tuple[Rule, ...] = ()
    way: tuple[Step, ...] = ()

    def named_tests(self) -> Iterator[tuple[str, str]]:
        """Each name of a test, and the place that has it."""
        for requirement in self.requirements:
            tests = (name for name in requirement.tests if not name.startswith("run "))
            yield from ((name, requirement.place) for name in tests)
        for failure in self.failures:
            yield from ((name, failure.place) for name in (*failure.timed, *failure.injected))
        for item in (*self.assumptions, *self.way):
            yield from ((name, item.place) for name in item.tests)
        for rule in self.rules:
            yield from ((name, rule.place) for name in rule.checked if name.startswith("tests/"))

    def not_analysed(self) -> list[tuple[str, str]]:
        """Interface and fault, or part and mishap, of which no failure says anything."""
        known = {(failure.at, failure.fault) for failure in self.failures}
        wanted = [(one.name, fault) for one in self.interfaces for fault in FAULTS]
        wanted += [(one.name, mishap) for one in self.parts for mishap in MISHAPS]
        return [both for both in wanted if both not in known]


def read_kit(folder: Path) -> Kit:
    trlc = bring("trlc", TRLC)
    if trlc is None:
        raise NoTrlc
    command = [sys.executable, "-P", Path(__file__).with_name("trlc_as_json.py"), folder]
    environment = os.environ | {"PYTHONPATH": str(trlc), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        raise KitError(result.stdout + result.stderr)
    return kit_of(json.loads(result.stdout))


def kit_of(objects: Sequence[dict]) -> Kit:
    """From what trlc_as_json gives."""

    def of(*kinds: str) -> Iterator[tuple[dict, dict]]:
        for item in objects:
            if item["type"] in kinds:
                place = {"name": item["name"], "place": f"{item['file']}:{item['line']}"}
                yield place, {key: _plain(value) for key, value in item["fields"].items()}

    return Kit(
        tuple(
            Requirement(**place, **(fields | {"owner": _folder(fields["owner"])}))
            for place, fields in of("Requirement")
        ),
        tuple(Interface(name=place["name"], **fields) for place, fields in of("Interface")),
        tuple(Part(name=place["name"], **fields) for place, fields in of("Part")),
        tuple(Failure(**place, **fields) for place, fields in of("Failure", "Breakdown")),
        tuple((place["name"], fields["description"]) for place, fields in of("Safe_State")),
        tuple(Assumption(**place, **fields) for place, fields in of("Assumption")),
        tuple(Rule(**place, **fields) for place, fields in of("Rule")),
        tuple(
            sorted(
                (Step(**place, **fields) for place, fields in of("Step")),
                key=lambda step: step.number,
            )
        ),
    )


def _folder(owner: str) -> str:
    """TRLC's words have no other signs."""
    return owner.replace("common_", "common/").replace("_", "-")


def _plain(value: object) -> object:
    """No package before a name, no None for words that are not there."""
    if value is None:
        return ""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, str) and value.startswith("Gidway."):
        return value.removeprefix("Gidway.")
    return value
