# SPDX-License-Identifier: MIT
"""The benchmark repaint runs, and gives its results in the form of all benchmarks.

Whether the times are good is not asserted: that takes a quiet machine. That a repaint takes as many
instructions with gid memory as with wl_shm, in all and to draw, holds on any machine.
"""

import pytest
from benches import results
from lib.pipeline import film


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict:
    size = [f"--clip={film(1280, 720)}", "--seconds=2", "--repetitions=1", "--repaints=60"]
    return results("repaint", tmp_path_factory.mktemp("repaint"), *size, timeout=1500)


def rows(result: dict, what: str) -> dict[str, dict]:
    return {row["who"]: row for row in result["rows"] if row["what"] == what}


@pytest.mark.timeout(1600)
def test_form(result: dict) -> None:
    assert all(row["bench"] == "repaint" for row in result["rows"])
    for what in ("time", "instructions"):
        assert set(rows(result, what)) == {"gid", "wl_shm"}
    for row in rows(result, "time").values():
        assert row["repaints"] > 0
        assert 0 < row["p50_ms"] <= row["p99_ms"] <= row["max_ms"]
        assert 0 < row["mean_ms"] <= row["max_ms"]
    assert len(result["ratios"]) == 4


@pytest.mark.parametrize("which", ["instructions", "drawing_instructions"])
def test_gid_memory_costs_what_wl_shm_does(result: dict, which: str) -> None:
    """A copy would double it. What is counted around the sixty repaints is up to two of them."""
    gid, wl_shm = (rows(result, "instructions")[who][which] for who in ("gid", "wl_shm"))
    assert gid / wl_shm == pytest.approx(1, abs=0.05)
