# SPDX-License-Identifier: MIT
"""The benchmark pacing runs, and gives its results in the form of all benchmarks.

Whether the figures are good is not asserted: that takes a quiet machine.
"""

from pathlib import Path

import pytest
from benches import bench, results


def test_form(tmp_path: Path) -> None:
    result = results("pacing", tmp_path, "film@60", "--rounds=1", "--seconds=1")
    off, on = result["rows"]
    assert (off["who"], on["who"]) == ("off", "on")
    for row in (off, on):
        assert row["bench"] == "pacing" and row["case"] == "film@60"
        assert row["frames"] > 0
        assert 10 < row["p50_ms"] <= row["p99_ms"]
    ratio = on["p50_ms"] / off["p50_ms"]
    assert result["ratios"] == {"commit_to_shown_p50_film@60": pytest.approx(ratio)}


@pytest.mark.parametrize("case", ["60", "fast@60"])
def test_unknown_case(case: str) -> None:
    run = bench("pacing", case)
    assert run.returncode == 2
    assert "must be like film@60" in run.stderr
