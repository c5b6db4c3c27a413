# SPDX-License-Identifier: MIT
"""Consumers behind gidsrc miss nothing of a live film, on a machine that lets them run.

What downstream holds, and whatever it does, is tested by tests/gst/test_held.py on any machine.
"""

from pathlib import Path

from benches import bench, results

FRAMES = 45


def test_consumers(tmp_path: Path) -> None:
    arguments = (f"--frames={FRAMES}", "--only=queue of 12", "--sources=gidsrc,unixfdsrc")
    rows = results("consumers", tmp_path, *arguments)["rows"]
    assert [row["source"] for row in rows] == ["gidsrc", "unixfdsrc"]
    for row in rows:
        assert (row["in order"], row["wrong"], row["lost"]) == (FRAMES, 0, 0), row


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
