# SPDX-License-Identifier: MIT
"""From a click to its pixel with the desk in a guest: each way works, by gid and by its network."""

from pathlib import Path

import pytest
from benches import bench, results

pytestmark = pytest.mark.timeout(900)
WAYS = ("gidway", "waypipe")


def test_each_way(tmp_path: Path) -> None:
    words = ["--vm", "--clicks=3", "--rounds=1", "--sizes=720p", "--changes=button"]
    result = results("click", tmp_path, *words, "--ways", "direct", *WAYS)
    rows = {row["who"]: row for row in result["rows"]}
    assert set(rows) == set(WAYS)
    for row in rows.values():
        assert row["what"] == "720p button, guest"
        assert row["clicks"] == 3 and row["lost"] == 0, row
        assert row["cpu_ms_of"]["open/machine"] > 0, row
        assert row["cpu_ms_of"]["cluster/weston"] > 0, row
    assert result["ratios"]["click_p50_vs_best_peer"] > 0


def test_stages_are_of_this_machine() -> None:
    assert bench("click", "--vm", "--stages").returncode == 2
