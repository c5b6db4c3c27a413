# SPDX-License-Identifier: MIT
"""The smallest gidway is built, runs, and does not grow."""

from pathlib import Path

from benches import results

# Of each part, what it is allowed to grow to: a tenth or so more than it has (docs/embedded.md).
KIB_MAX = {"libgid": 132, "gidd": 210, "the elements": 225}
OWN_KIB_MAX = 352


def test_the_smallest_gidway(tmp_path: Path) -> None:
    result = results("small", tmp_path)
    rows = {row["what"]: row for row in result["rows"]}
    assert rows.keys() == KIB_MAX.keys() | {"gidd started", "gidd with a stream"}
    for part, most in KIB_MAX.items():
        assert 50 * 1024 < rows[part]["bytes"] < most * 1024, part
    for state in ("started", "with a stream"):
        taken = rows[f"gidd {state}"]
        assert 0 < taken["libraries"] < taken["resident"]
        assert 0 < taken["own"] < OWN_KIB_MAX * 1024
