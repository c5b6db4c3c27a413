# SPDX-License-Identifier: MIT
"""Windows of ordinary compositors on gid-cluster's screen: each way brings its pictures."""

import shutil
from pathlib import Path

import pytest
from benches import results

WAYS = ["stream", "weston-pixman", "weston-gl"] + (["sway"] if shutil.which("sway") else [])
COPIES = {"stream": 0, "sway": 0}  # of a picture; Weston makes one


def test_each_way_brings_its_pictures(tmp_path: Path) -> None:
    words = ["--seconds=2", "--rounds=1", "--ways", *WAYS]
    rows = results("windows", tmp_path, *words)["rows"]
    assert [row["who"] for row in rows] == [way for way in WAYS for _ in range(2)]
    for row in rows:
        assert row["painted"] >= row["shown"] >= 5, row
        assert row["p99_ms"] >= row["p50_ms"] > 0.1, row
        assert row["copies_a_picture"] == pytest.approx(COPIES.get(row["who"], 1), abs=0.1), row
