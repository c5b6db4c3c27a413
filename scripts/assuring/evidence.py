# SPDX-License-Identifier: MIT
"""All that the report is made of, and how much of each kind is red."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bounding.loops import Loop

from assuring.crates import Crate
from assuring.detected import A_MILLION
from assuring.hardening import Program
from assuring.light import Light
from assuring.supply import Package, Release
from assuring.verdicts import Verdicts
from assuring.vulnerabilities import Vulnerability


@dataclass(frozen=True)
class About:
    version: str
    tree: str
    when: str  # UTC
    seconds: float
    results: str  # of which run
    release: Release


@dataclass(frozen=True)
class Evidence:
    """Each that is None was not looked at with just these files."""

    about: About
    verdicts: Verdicts
    detected: dict[str, int] | None = None  # of a million faults, by each profile
    calls: dict | None = None  # what the test of the sealed phase counted
    stacks: dict | None = None  # what `./run stack --json` wrote
    loops: Sequence[Loop] = ()  # of which nobody has said a bound
    coverage: dict | None = None  # what `./run coverage` wrote
    lights: Sequence[Light] | None = None  # of the roles of an example, on this machine
    programs: Sequence[Program] | None = None  # of the packages
    packages: Sequence[Package] = ()
    crates: Sequence[Crate] = ()
    vulnerabilities: Sequence[Vulnerability] | None = None

    @cached_property
    def _counted(self) -> dict[str, int | None]:
        """How many of each kind beside the verdicts' own. None: nobody looked."""
        detected, vulnerabilities = self.detected, self.vulnerabilities
        return {
            "faults on the way that are not seen": None
            if detected is None
            else sum(A_MILLION - seen for seen in detected.values()),
            "ways to the light that are not told": None if self.lights is None else 0,
            "programs that lack hardening": None
            if self.programs is None
            else sum(bool(one.lacks) for one in self.programs),
            "stacks that are not bounded": _problems(self.stacks),
            "loops without a known bound": len(self.loops),
            "aims of coverage that are missed": _problems(self.coverage),
            "gaps of coverage without a reason": None
            if self.coverage is None
            else self.coverage["without_reason"],
            "known vulnerabilities of what runs": None
            if vulnerabilities is None
            else sum(one.counts for one in vulnerabilities),
        }

    @cached_property
    def red(self) -> dict[str, int]:
        """How many of each kind; together they are what assurance.json says. What nobody looked at
        is red once.
        """
        counted = {what: 1 if number is None else number for what, number in self._counted.items()}
        return self.verdicts.red | counted

    @cached_property
    def not_looked_at(self) -> list[str]:
        """Of `red`: what is not a finding but the want of one."""
        return [what for what, number in self._counted.items() if number is None]


def _problems(looked_at: dict | None) -> int | None:
    return None if looked_at is None else len(looked_at["problems"])
