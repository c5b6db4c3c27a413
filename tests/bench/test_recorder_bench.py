# SPDX-License-Identifier: MIT
"""What gid-recorder takes is measured, with one stream and more, and so is the page it makes."""

from pathlib import Path

from benches import results


def test_what_a_recorder_takes(tmp_path: Path) -> None:
    rows = results("recorder", tmp_path, "--seconds=3")["rows"]
    assert [row["what"] for row in rows] == [
        *("light", "light, camera", "light, camera, display"),
    ]
    for row in rows:
        assert 0 <= row["core_percent"] <= row["core_percent_max"] < 100
    assert rows[-1]["page_kb"] > 10 and rows[-1]["page_s"] > 1
    assert 0.01 < rows[-1]["page_cpu_s"] < 100
