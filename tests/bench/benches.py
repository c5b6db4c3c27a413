# SPDX-License-Identifier: MIT
"""A benchmark, run as a user runs it."""

import json
import os
import subprocess
from pathlib import Path

from program import BUILD, TOP


def bench(
    name: str, *arguments: str | Path, timeout: float = 900
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TOP / "run", "bench", name, *arguments],
        env=os.environ | {"GIDWAY_BUILD": str(BUILD)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def results(name: str, folder: Path, *arguments: str | Path, timeout: float = 900) -> dict:
    """What it wrote as JSON; what it printed is in the test's log."""
    file = folder / f"{name}.json"
    run = bench(name, f"--json={file}", *arguments, timeout=timeout)
    assert run.returncode == 0, run.stderr
    print(run.stdout)
    return json.loads(file.read_text())
