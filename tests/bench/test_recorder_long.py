# SPDX-License-Identifier: MIT
"""What is promised of gid-recorder, on a machine that has nothing else to do."""

from pathlib import Path

from benches import results

CORE_PERCENT = 2  # of one, at most, whatever it watches of a cockpit


def test_a_recorder_takes_little(tmp_path: Path) -> None:
    rows = results("recorder", tmp_path)["rows"]
    assert max(row["core_percent"] for row in rows) <= CORE_PERCENT
