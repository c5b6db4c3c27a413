# SPDX-License-Identifier: MIT
"""What checks of pictures cost is measured, and grows with the picture."""

from pathlib import Path

from benches import results


def test_what_checks_cost(tmp_path: Path) -> None:
    words = ("--repetitions", "3", "--frames", "4")
    result = results("protection", tmp_path, *words)
    rows = {(row["size"], row["what"]): row for row in result["rows"]}
    assert rows.keys() == {(s, w) for s in ("720p", "1080p") for w in ("crc64", "cmac", "copy")}
    for way in ("crc64", "cmac"):
        assert rows["1080p", way]["ns_min"] > rows["720p", way]["ns_min"] > 10_000
    assert result["ratios"].keys() == {
        f"{way}_vs_copy_{size}" for way in ("crc64", "cmac") for size in ("720p", "1080p")
    }
