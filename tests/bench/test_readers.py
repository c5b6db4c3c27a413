# SPDX-License-Identifier: MIT
"""Readers in Python: each way brings its pictures, and the ratios are those of the rows."""

from pathlib import Path

import pytest
from benches import results


def test_each_way_is_measured(tmp_path: Path) -> None:
    result = results("readers", tmp_path, "--frames=60", "--readers", "1", "2")
    rows = {(row["way"], row["readers"]): row for row in result["rows"]}
    assert set(rows) == {(w, n) for w in ("gid", "shared_memory", "unixfd") for n in (1, 2)}
    assert all(row["cpu_us"] > 1 and row["latency_us"] > 1 for row in rows.values())
    best = min(rows[way, 2]["cpu_us"] for way in ("shared_memory", "unixfd"))
    ratios = result["ratios"]
    of_two = ratios["python_cpu_vs_best_peer_2"]
    assert of_two == pytest.approx(rows["gid", 2]["cpu_us"] / best)
    assert ratios["python_cpu_vs_best_peer"] == max(of_two, ratios["python_cpu_vs_best_peer_1"])
