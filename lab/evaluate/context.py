# SPDX-License-Identifier: MIT
"""What a chapter gets to run with where there are benchmarks: these, and a guest in a cockpit."""

import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gid_evaluate import plan
from gid_evaluate.lateness import Lateness
from gid_evaluate.outcome import Broke, CannotRun, NotRun
from gid_evaluate.systems import System

from lab.evaluate import benchmark

BENCH = Path(__file__).resolve().parents[2] / "bench"


@dataclass(frozen=True)
class Plan(plan.Plan):
    """`in_guest`: parts of `./run bench virtual` that it needs."""

    in_guest: tuple[str, ...] = ()


@dataclass
class Context(plan.Context):
    """`bench`: the folder of the benchmarks. `virtual`: the arguments of the one run of
    `./run bench virtual` that serves all chapters; None without a guest of our own. `patience`: how
    many times as long as it may a benchmark is waited for."""

    bench: Path = BENCH
    virtual: tuple[str, ...] | None = None
    patience: float = 1.0

    def benchmark(self, name: str, *arguments: str, minutes: float = 10) -> dict[str, Any]:
        """The JSON of one of gidway's own benchmarks. Chapters that ask alike have one run."""
        found, late_us = self.results.get(
            (name, *arguments), lambda: self._watched(name, *arguments, minutes=minutes)
        )
        self.lateness_us = max(self.lateness_us, late_us)
        self.has_measured = True
        self.again += [one for one in found.get("tried_again", []) if one not in self.again]
        return found

    def in_guest(self) -> dict[str, Any]:
        """What the one run of all that has a guest found."""
        if self.virtual is None:
            raise NotRun(f"no guest of gidway's own: {self.why_no_guest}")
        return self.benchmark("virtual", *self.virtual, minutes=60)

    def _watched(self, name: str, *arguments: str, minutes: float) -> tuple[dict[str, Any], float]:
        script, seconds = self.bench / f"{name}.py", minutes * 60 * self.patience
        with Lateness() as late:
            found = benchmark.answer(script, name, arguments, seconds)
        return found, late.worst_us


class InCockpit(System):
    """The guest that `./run bench virtual` boots once for all: `lines` run there. `found` gives
    what the benchmark found."""

    name = "guest"
    prefix = "./run bench virtual --run "

    def __init__(self, found: Callable[[], dict[str, Any]]) -> None:
        self._found = found

    def run(self, words: list[str], seconds: float) -> str:
        line = shlex.join(words)
        for row in self._found()["rows"]:
            if row["what"] == "run" and row["who"] == line:
                if row["failed"]:
                    raise Broke(f"guest: {row['failed']}")
                return row["out"]
        raise CannotRun(f"guest: {line} was not run there")

    def typed(self, line: str) -> str:
        return f"{self.prefix}{shlex.quote(line)}"

    def has(self, program: str) -> bool:
        """It runs this machine's own programs."""
        return shutil.which(program) is not None
