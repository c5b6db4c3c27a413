# SPDX-License-Identifier: MIT
"""What a soak refuses; and in the suite `long` a short one of all cases: samples, page, verdict."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from lib.program import BUILD, TOP

pytestmark = pytest.mark.timeout(1800)

PROGRAMS = 7
BESIDE = 8  # curves of rates and latencies


def soak(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [TOP / "run", "soak", "--seconds=2", "--sample=5", f"--out={out}", *options]
    env = os.environ | {"GIDWAY_BUILD": str(BUILD)}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=1500)


@pytest.mark.at_length
def test_a_short_one(tmp_path: Path) -> None:
    result = soak(tmp_path, f"--hours={os.environ['GIDWAY_SOAK_HOURS']}")
    assert result.returncode in (0, 1), result.stderr
    assert "soak:" not in result.stderr, result.stderr
    samples = json.loads((tmp_path / "soak.json").read_text())
    assert len(samples) >= 2
    for sample in samples:
        assert len(sample["programs"]) == PROGRAMS
        for had in sample["programs"].values():
            assert had["descriptors"] > 3 and had["mappings"] > 10
            assert 100 < had["heap"] <= had["memory"]
    for figure in ("film_hz", "rate_hz", "camera_latency_ms", "telltale_latency_ms"):
        assert max(sample[figure] for sample in samples) > 0, figure
    *curves, page, verdict = result.stdout.splitlines()
    assert page == str(tmp_path / "soak.html") and verdict
    assert len(curves) == 4 * PROGRAMS + BESIDE
    assert all("an hour" in curve for curve in curves)
    text = (tmp_path / "soak.html").read_text()
    assert text.count("<polyline") == len(curves) and verdict in text


def test_unknown_cases_are_refused(tmp_path: Path) -> None:
    result = soak(tmp_path, "--hours=0.01", "--case=earthquake")
    assert result.returncode == 2
    assert "no such case: earthquake" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_parts_that_cannot_be_written_is_told_first(tmp_path: Path) -> None:
    file = tmp_path / "nowhere/parts"
    result = soak(tmp_path, "--hours=0.01", "--case=undisturbed", f"--parts={file}")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.splitlines()[-1] == f"soak: {file}: No such file or directory"
    assert list(tmp_path.iterdir()) == []
