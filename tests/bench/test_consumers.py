# SPDX-License-Identifier: MIT
"""`./run bench consumers` judges what it reads, and gidsrc is behind no other source."""

import re
from pathlib import Path

from benches import bench, results
from program import TOP

FRAMES = 45


def test_consumers(tmp_path: Path) -> None:
    arguments = (f"--frames={FRAMES}", "--only=queue of 12", "--sources=gidsrc,unixfdsrc")
    rows = results("consumers", tmp_path, *arguments)["rows"]
    assert [row["source"] for row in rows] == ["gidsrc", "unixfdsrc"]
    for row in rows:
        assert (row["in order"], row["wrong"], row["lost"]) == (FRAMES, 0, 0), row


def test_the_table_of_the_document(tmp_path: Path) -> None:
    """It stands between the marks of the real one, and nothing else changes."""
    real = (TOP / "docs/benchmarks.md").read_text()
    document = tmp_path / "page.md"
    document.write_text(real)
    words = ["--frames=30", "--only=queue of 12", "--sources=gidsrc", "--document", document]
    results("consumers", tmp_path, *words)
    before, begin, rest = real.partition("<!-- table of ./run bench consumers --document -->\n")
    table, end, after = document.read_text().removeprefix(before + begin).partition("\n<!-- end of")
    last = table.splitlines()[-1]
    assert re.fullmatch(r"\| queue of 12 at least \| 30/0/0 \(\d+\) \|  \|  \|  \|", last)
    assert "Of 30 frames" in table
    assert end + after == "\n<!-- end of" + rest.partition("\n<!-- end of")[2]


def test_encoder(tmp_path: Path) -> None:
    """What was recorded is read again, picture by picture."""
    arguments = (f"--frames={FRAMES}", "--only=x264enc to MP4", "--sources=gidsrc is-live=false")
    (row,) = results("consumers", tmp_path, *arguments)["rows"]
    assert (row["in order"], row["wrong"], row["lost"]) == (FRAMES, 0, 0), row
    assert row["copied"] > 0


def test_loss_is_seen() -> None:
    """Where a consumer is made to miss frames, it is said, and is not a success."""
    run = bench("consumers", "--frames=45", "--only=too slow", "--gidsrc=drop-old=true credit=1")
    assert run.returncode == 1
    assert "Worse" in run.stdout
