# SPDX-License-Identifier: MIT
"""What chapters can use in a development tree: the benchmarks, and a guest in a cockpit."""

import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gid_evaluate import plan
from gid_evaluate.lateness import Lateness
from gid_evaluate.outcome import Broke, CannotRun, NotRun
from gid_evaluate.results import Key
from gid_evaluate.systems import System

from lab.evaluate import benchmark

BENCH = Path(__file__).resolve().parents[2] / "bench"


@dataclass(frozen=True)
class Plan(plan.Plan):
    """`in_guest`: the parts of `./run bench virtual` that it needs."""

    in_guest: tuple[str, ...] = ()


@dataclass
class Context(plan.Context):
    """`bench`: the folder of the benchmarks. `virtual`: the arguments of the one run of `./run
    bench virtual` for all chapters (how, and what); None: no guest of our own. `patience`: a
    factor for the time limit of benchmarks.
    """

    bench: Path = BENCH
    virtual: tuple[Key, Key] | None = None
    patience: float = 1.0

    def benchmark(self, name: str, *arguments: str, minutes: float = 10) -> dict[str, Any]:
        """The JSON of one of gidway's own benchmarks. Chapters with the same arguments share one
        run.
        """
        found, late_us = self.measured_once(
            (name, *arguments), lambda: self._watched(name, *arguments, minutes=minutes)
        )
        self.lateness_us = max(self.lateness_us, late_us)
        self.again += [one for one in found.get("tried_again", []) if one not in self.again]
        return found

    def in_guest(self, piece: str) -> list[dict[str, Any]]:
        """The results for this piece, `--part=…` or `--run=…`, of the one run for all chapters that
        need a guest. A continued evaluation does not measure pieces again that an earlier run
        has, of which the newest counts.
        """
        if self.virtual is None:
            raise NotRun(f"no guest of gidway's own: {self.why_no_guest}")
        how, wanted = self.virtual
        runs = [key for key, _ in self.results.all_of("virtual") if key[1 : 1 + len(how)] == how]
        key = next((one for one in runs if piece in one), None)
        if key is None:
            known = {one for run in runs for one in run}
            key = ("virtual", *how, *(one for one in wanted if one not in known))
        if piece not in key:
            raise CannotRun(f"guest: {piece} was not run there")
        rows = self.benchmark(*key, minutes=120)["rows"]
        rows = [row for row in rows if row["piece"] == piece]
        if failed := [row["why"] for row in rows if row["what"] == "failed"]:
            raise Broke(f"guest: {failed[0]}")
        return rows

    def _watched(self, name: str, *arguments: str, minutes: float) -> tuple[dict[str, Any], float]:
        script, seconds = self.bench / f"{name}.py", minutes * 60 * self.patience
        with Lateness() as late:
            found = benchmark.answer(script, name, arguments, seconds)
        return found, late.worst_us


class InCockpit(System):
    """The guest that `./run bench virtual` boots once for all chapters: `lines` run there. `rows`
    returns the benchmark's results for a piece.
    """

    name = "guest"
    prefix = "./run bench virtual --run "

    def __init__(self, rows: Callable[[str], list[dict[str, Any]]]) -> None:
        self._rows = rows

    def run(self, words: list[str], seconds: float) -> str:
        (row,) = self._rows(f"--run={shlex.join(words)}")
        return row["out"]

    def typed(self, line: str) -> str:
        return f"{self.prefix}{shlex.quote(line)}"

    def has(self, program: str) -> bool:
        """It runs this machine's own programs."""
        return shutil.which(program) is not None
