# SPDX-License-Identifier: MIT
"""How often windows of ordinary compositors are copied on their way to gid-cluster's screen."""

from pathlib import Path

import pytest
from benches import bench, results

COPIES = {"weston-pixman": 0, "weston-gl": 1}  # of a picture


def test_copies_are_counted(tmp_path: Path) -> None:
    words = ["--seconds=2", "--rounds=1", "--ways", *COPIES]
    rows = results("windows", tmp_path, *words)["rows"]
    assert [row["who"] for row in rows] == [way for way in COPIES for _ in range(2)]
    for row in rows:
        assert row["painted"] >= row["shown"] >= 1, row
        assert row["copies_a_picture"] == pytest.approx(COPIES[row["who"]], abs=0.3), row


def test_ways_are_known() -> None:
    assert bench("windows", "--ways", "mir").returncode == 2
