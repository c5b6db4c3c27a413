# SPDX-License-Identifier: MIT
"""From a click to its pixel: that each way works, and what is made of the figures."""

from pathlib import Path

import pytest
from benches import bench, module, results

WAYS = ("direct", "gidway", "waypipe")


def test_each_way(tmp_path: Path) -> None:
    """No click is lost, and what stands between takes time of a processor."""
    words = ["--clicks=5", "--rounds=1", "--sizes=720p", "--changes", "button", "whole"]
    result = results("click", tmp_path, *words, "--ways", *WAYS)
    rows = result["rows"]
    assert {(row["who"], row["what"]) for row in rows} == {
        (way, f"720p {change}") for way in WAYS for change in ("button", "whole")
    }
    for row in rows:
        assert row["clicks"] == 5 and row["lost"] == 0, row
        assert row["p99_ms"] >= row["p50_ms"] >= 0 and row["cpu_ms"] > 0, row
    assert set(result["ratios"]) == {
        "click_p50_refreshes",
        "click_p50_vs_best_peer",
        "click_cpu_vs_best_peer",
    }


def test_the_worst_is_told() -> None:
    """Of all that is changed, and beside the peer that is best there, which direct is not."""

    def row(who: str, what: str, p50: float, cpu: float) -> dict:
        return {"who": who, "what": what, "p50_ms": p50, "cpu_ms": cpu}

    ratios = module("click").ratios_of(
        [
            row("direct", "a", 1, 1),
            row("gidway", "a", 50, 2),
            row("waypipe", "a", 100, 20),
            row("wayvnc", "a", 25, 40),
            row("gidway", "b", 20, 9),
            row("waypipe", "b", 20, 18),
        ]
    )
    assert ratios == {
        "click_p50_refreshes": pytest.approx(3),
        "click_p50_vs_best_peer": pytest.approx(2),
        "click_cpu_vs_best_peer": pytest.approx(0.5),
    }


def test_ways_are_known() -> None:
    assert bench("click", "--ways", "telepathy").returncode == 2
