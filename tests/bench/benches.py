# SPDX-License-Identifier: MIT
"""A benchmark, run as a user runs it."""

import importlib
import json
import os
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from lib.program import BUILD, TOP

from bench import counts

WRITTEN = TOP / "bench" / "counts.json"


def bench(
    name: str, *arguments: str | Path, timeout: float = 900
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TOP / "run", "bench", name, *arguments],
        # gidd itself may run late
        env=os.environ | {"GIDWAY_BUILD": str(BUILD), "GID_ANSWER_SECONDS": "60"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def module(name: str) -> ModuleType:
    """The program itself, to test what it makes of its figures."""
    return importlib.import_module(f"bench.{name}")


def results(name: str, folder: Path, *arguments: str | Path, timeout: float = 900) -> dict:
    """What it wrote as JSON; what it printed is in the test's log."""
    file = folder / f"{name}.json"
    run = bench(name, f"--json={file}", *arguments, timeout=timeout)
    assert run.returncode == 0, run.stderr
    print(run.stdout)
    return json.loads(file.read_text())


def written_counts() -> dict[str, float]:
    """Those that are written down for this compiler; without them the test is skipped."""
    kept: dict[str, dict[str, float]] = json.loads(WRITTEN.read_text())
    if counts.place(BUILD) not in kept:
        pytest.skip(f"no counts are written down for {counts.place(BUILD)}")
    return kept[counts.place(BUILD)]
