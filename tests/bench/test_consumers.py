# SPDX-License-Identifier: MIT
"""`./run bench consumers` judges what it reads, and writes it into a document."""

import re
from pathlib import Path

import pytest
from benches import module, results
from lib.program import TOP


@pytest.mark.parametrize(
    ("numbers", "right", "wrong"),
    [
        ([0, 1, 2, 3], 4, 0),
        ([0, 1, 1, 3], 3, 0),  # an aggregator shows one again
        ([0, 2, 1, 3], 3, 1),
        ([-1, 0, 1, 2], 3, 0),  # or its background, at first
        ([0, -1, 9], 1, 2),
        ([], 0, 0),
    ],
)
def test_pictures_are_judged(numbers: list[int], right: int, wrong: int) -> None:
    found = module("consumers").judge(numbers, 4)
    assert found == {"in order": right, "wrong": wrong, "lost": 4 - right}


def test_loss_is_seen() -> None:
    """Where another source gives more frames, or gidsrc gives a wrong one."""

    def row(source: str, lost: int, wrong: int = 0) -> dict:
        return {"consumer": "a", "source": source, "lost": lost, "wrong": wrong, "errors": []}

    worse = module("consumers").worse
    assert worse([row("gidsrc", 0), row("unixfdsrc", 0)]) == []
    assert worse([row("gidsrc", 3), row("unixfdsrc", 3)]) == []
    assert worse([row("gidsrc", 1), row("unixfdsrc", 0)]) == ["a: gidsrc []"]
    assert worse([row("gidsrc", 0), row("gidsrc is-live=false", 0, 1)])


def test_the_table_of_the_document(tmp_path: Path) -> None:
    """It stands between the marks of the real one, and nothing else changes."""
    real = (TOP / "docs/benchmarks.md").read_text()
    document = tmp_path / "page.md"
    document.write_text(real)
    words = ["--frames=30", "--only=queue of 12", "--sources=gidsrc", "--document", document]
    (row,) = results("consumers", tmp_path, *words)["rows"]
    assert row["in order"] + row["lost"] == 30 and row["wrong"] == 0
    before, begin, rest = real.partition("<!-- table of ./run bench consumers --document -->\n")
    table, end, after = document.read_text().removeprefix(before + begin).partition("\n<!-- end of")
    last = table.splitlines()[-1]
    assert re.fullmatch(r"\| queue of 12 at least \| \d+/0/\d+ \(\d+\) \|  \|  \|  \|", last)
    assert "Of 30 frames" in table
    assert end + after == "\n<!-- end of" + rest.partition("\n<!-- end of")[2]
