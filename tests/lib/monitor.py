# SPDX-License-Identifier: MIT
"""gid-monitor under test, and the drawing of the examples."""

import subprocess
from pathlib import Path

import pytest
from lib.program import BUILD, PATIENCE, SANITIZED, TOP

DRAWING = TOP / "examples/telltales.svg"
NO_SANITIZER = pytest.mark.skipif(SANITIZED, reason="Python is not built with the sanitizer")


def monitor(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [BUILD / "tools/gid-monitor/gid-monitor", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def make(out: Path, *options: str | Path, drawing: Path = DRAWING) -> None:
    done = monitor("make", drawing, "--out", out, *options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
