# SPDX-License-Identifier: MIT
"""The smallest gidway is built, runs, and does not grow."""

from pathlib import Path

from benches import results

PARTS = {"libgid", "gidd", "the elements"}


def test_the_smallest_gidway(tmp_path: Path) -> None:
    result = results("small", tmp_path)
    rows = {row["what"]: row for row in result["rows"]}
    assert rows.keys() == PARTS | {"gidd started", "gidd with a stream"}
    assert all(rows[part]["bytes"] > 50_000 for part in PARTS)
    for state in ("started", "with a stream"):
        taken = rows[f"gidd {state}"]
        assert 0 < taken["own"] < taken["resident"]
