# SPDX-License-Identifier: MIT
"""Evaluations that tests make up, and the way to the package that reads them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from gid_evaluate.plan import Goal, Plan
from gid_evaluate.result import Chapter, Evaluation, Figure
from gid_evaluate.systems import Native
from lib.program import BUILD

from lab.evaluate.context import BENCH, Context

EVALUATE = [sys.executable, "-P", "-m", "lab.evaluate.evaluate"]
INSTALLED = str(BUILD / "tools/gid-evaluate/gid-evaluate")
FOLDERS = (BUILD / "gidd", BUILD / "tools/gidctl", BUILD / "tools/gid-evaluate/probe")
ENVIRONMENT = os.environ | {
    "PATH": ":".join([*map(str, FOLDERS), os.environ["PATH"]]),
    "GID_ANSWER_SECONDS": "60",  # where gidd itself runs late
}
MACHINE = {"processor": "a <b>", "cores": 2, "memory": "4 GiB", "kernel": "6", "weston": "14.0.2"}


def figure(name: str, value: float, unit: str = "ns", margin: float = 0.01) -> Figure:
    spread = (value * (1 - margin), value * (1 + margin))
    return Figure(name, value, unit, 10, spread, "gid-probe calls")


def evaluation(*chapters: Chapter, mode: str = "quick") -> Evaluation:
    machine = MACHINE | {"gstreamer": "1.26.2"}
    return Evaluation(machine, mode, "none", "2026-01-01T00:00:00+00:00", list(chapters))


def chapter(name: str, verdict: str, *figures: Figure, goal: str = "a ≤ 1") -> Chapter:
    return Chapter(name, "Title", "Method", goal, verdict, "", list(figures))


def plan(run: Callable[..., object], *goals: Goal) -> Plan:
    return Plan("5.1", "Title", "Method", run, goals)


def alone(bench: Path = BENCH, *, is_full: bool = False, patience: float = 1.0) -> Context:
    """Without a guest."""
    return Context(is_full, Native(), None, "none was wanted", bench=bench, patience=patience)


def evaluate(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run(*EVALUATE, *arguments)


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [*map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=500, env=ENVIRONMENT)
