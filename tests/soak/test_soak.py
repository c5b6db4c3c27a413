# SPDX-License-Identifier: MIT
"""A minute of soak: every kind of case once, samples, a page, and a verdict."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from program import BUILD, TOP

pytestmark = pytest.mark.timeout(900)

PROGRAMS = 7
BESIDE = 8  # curves of rates and latencies


def soak(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [TOP / "run", "soak", "--seconds=2", "--sample=5", f"--out={out}", *options]
    env = os.environ | {"GIDWAY_BUILD": str(BUILD)}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=800)


def test_a_short_one(tmp_path: Path) -> None:
    result = soak(tmp_path, "--hours=0.02")
    assert result.returncode in (0, 1), result.stderr
    assert "soak:" not in result.stderr, result.stderr
    samples = json.loads((tmp_path / "soak.json").read_text())
    assert len(samples) >= 2
    for sample in samples:
        assert len(sample["programs"]) == PROGRAMS
        for had in sample["programs"].values():
            assert had["descriptors"] > 3 and had["mappings"] > 10
            assert 100 < had["heap"] <= had["memory"]
        assert sample["film_hz"] > 0 and sample["rate_hz"] > 0
        assert sample["camera_latency_ms"] > 0 and sample["telltale_latency_ms"] > 0
    *curves, page, verdict = result.stdout.splitlines()
    assert page == str(tmp_path / "soak.html") and verdict
    assert len(curves) == 4 * PROGRAMS + BESIDE
    assert all("an hour" in curve for curve in curves)
    text = (tmp_path / "soak.html").read_text()
    assert text.count("<polyline") == len(curves) and verdict in text


def test_unknown_cases_are_refused(tmp_path: Path) -> None:
    result = soak(tmp_path, "--hours=0.01", "--case=earthquake")
    assert result.returncode == 1
    assert "no such case: earthquake" in result.stderr
