# SPDX-License-Identifier: MIT
"""Following shows the last seconds, of a file that grows and of a pipe, within little memory."""

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import logs
import pytest
from gid_timeline.follow import SPAN, Follower
from gid_timeline.terminal import Paint
from program import PATIENCE

TOOLS = Path(__file__).resolve().parents[2] / "tools/timeline"
COMMAND = [sys.executable, "-m", "gid_timeline", "follow", "--interval", "0.2"]
ENV = {**os.environ, "PYTHONPATH": str(TOOLS), "NO_COLOR": "1"}


def test_figures_of_the_last_seconds():
    follower = Follower({})
    text = logs.run(frames=1500, late={1400, 10})
    for start in range(0, len(text), 10_000):
        follower.feed(text[start : start + 10_000].encode())
    (_, output, surface) = follower.lines(Paint(None))
    assert output.split()[:4] == ["DP-1", "59.9", "1", "2.000"]
    assert surface.split()[0] == "film"
    assert len(follower._frames.rows) <= SPAN // logs.REFRESH + 1


def test_memory_does_not_grow():
    follower = Follower({})
    text = logs.run(frames=200)
    body = "".join(text.splitlines(True)[2:])
    follower.feed(text.encode())
    for i in range(1, 50):
        later = body.replace("[100, ", f"[{100 + 20 * i}, ").replace("[99, ", f"[{99 + 20 * i}, ")
        later = later.replace("[101, ", f"[{101 + 20 * i}, ").replace(
            "[102, ", f"[{102 + 20 * i}, "
        )
        later = later.replace("[103, ", f"[{103 + 20 * i}, ")
        follower.feed(later.encode())
    assert len(follower.trace.runs) == 1
    assert len(follower._frames.rows) <= 700
    assert len(follower.trace.frames) == 0


def test_a_run_whose_clock_begins_anew():
    """As of a guest that starts again: what came before is older than ten seconds, too."""
    follower = Follower({})
    follower.feed(logs.run(frames=100, start=36000 * 10**9).encode())
    text = logs.run(frames=1500, late={10})
    for start in range(0, len(text), 10_000):
        follower.feed(text[start : start + 10_000].encode())
    (_, output, _) = follower.lines(Paint(None))
    assert output.split()[:3] == ["DP-1", "60.0", "0"]
    assert len(follower._frames.rows) <= SPAN // logs.REFRESH + 1


def test_a_pipe_that_ends():
    text = logs.run(frames=120)
    done = subprocess.run([*COMMAND, "-"], input=text.encode(), env=ENV, capture_output=True)
    assert done.returncode == 0
    last = done.stdout.decode().splitlines()[-1]
    assert last == "DP-1: 60.0 fps, repaint p50 2.000 ms, commit → shown p50 12.000 ms"


def test_a_file_that_grows(tmp_path):
    path = tmp_path / "tl.log"
    text = logs.run(frames=100)
    half = len(text) // 2
    path.write_text(text[:half])
    process = subprocess.Popen([*COMMAND, str(path)], env=ENV, stdout=subprocess.PIPE, text=True)
    try:
        assert "60.0 fps" in process.stdout.readline()
        with path.open("a") as file:
            file.write(text[half:])
        wait_for(process, "60.0 fps")
        path.write_text(logs.run(frames=30, name="HDMI-A-1", start=900 * 10**9))
        wait_for(process, "HDMI-A-1: 60.0 fps")
    finally:
        process.terminate()
        process.wait(PATIENCE)


def wait_for(process, words):
    end = time.monotonic() + 100
    while time.monotonic() < end:
        if words in process.stdout.readline():
            return
    raise AssertionError(f"{words} did not come")


def test_in_a_terminal_it_draws_over_itself(tmp_path):
    path = tmp_path / "tl.log"
    path.write_text(logs.run(frames=100).replace('"film"', '"\x1b[2Jfilm"'))
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*COMMAND, str(path)], env=ENV, stdout=theirs)
    os.close(theirs)
    seen = b""
    try:
        end = time.monotonic() + 100
        while seen.count(b"the last 10 seconds") < 2 and time.monotonic() < end:
            seen += os.read(ours, 4096)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        os.close(ours)
    assert b"\x1b[4A" in seen
    assert b"film" in seen and b"\x1b[2J" not in seen


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["/nonexistent"], "No such file"), (["-", "--interval", "0"], "--interval")],
)
def test_errors(arguments, message, capsys):
    from gid_timeline.cli import main

    assert main(["follow", *arguments]) == 2
    assert message in capsys.readouterr().err
