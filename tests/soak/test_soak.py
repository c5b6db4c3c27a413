# SPDX-License-Identifier: MIT
"""A minute of soak: every kind of case once, samples, a page, and a verdict."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from program import BUILD, TOP

pytestmark = pytest.mark.timeout(900)


def test_a_short_one(tmp_path: Path) -> None:
    command = [
        TOP / "run",
        "soak",
        "--hours=0.02",
        "--seconds=2",
        "--sample=5",
        f"--out={tmp_path}",
    ]
    env = os.environ | {"GIDWAY_BUILD": str(BUILD)}
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=800)
    assert result.returncode in (0, 1), result.stderr
    assert "soak:" not in result.stderr, result.stderr
    samples = json.loads((tmp_path / "soak.json").read_text())
    assert len(samples) >= 2
    assert all(sample["gidd"]["descriptors"] > 3 for sample in samples)
    assert all(sample["gid-cluster"]["memory"] > 100 for sample in samples)
    lines = result.stdout.splitlines()
    assert len(lines) == 10 and lines[-1] == str(tmp_path / "soak.html")
    assert all("an hour" in line for line in lines[:-1])
    page = (tmp_path / "soak.html").read_text()
    assert page.count("<polyline") == 9
