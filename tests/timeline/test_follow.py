# SPDX-License-Identifier: MIT
"""Following shows the last seconds, of a file that grows and of a pipe, within little memory."""

import codecs
import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import logs
import pytest
from gid_timeline.follow import SPAN, Follower
from gid_timeline.terminal import Paint
from lib.program import PATIENCE

TOOLS = Path(__file__).resolve().parents[2] / "tools/gid-timeline"
COMMAND = [sys.executable, "-m", "gid_timeline", "follow", "--interval", "0.2"]
ENV = {**os.environ, "PYTHONPATH": f"{TOOLS}:{TOOLS.parent / 'console'}", "NO_COLOR": "1"}


def test_figures_of_the_last_seconds() -> None:
    follower = Follower({})
    text = logs.run(frames=1500, late={1400, 10})
    for start in range(0, len(text), 10_000):
        follower.feed(text[start : start + 10_000].encode())
    (_, output, surface) = follower.lines(Paint(None))
    assert output.split()[:4] == ["DP-1", "59.9", "1", "2.000"]
    assert surface.split()[0] == "film"
    assert len(follower._frames.rows) <= SPAN // logs.REFRESH + 1


def test_memory_does_not_grow() -> None:
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


def test_a_run_whose_clock_begins_anew() -> None:
    """As of a guest that starts again: what came before is older than ten seconds, too."""
    follower = Follower({})
    follower.feed(logs.run(frames=100, start=36000 * 10**9).encode())
    text = logs.run(frames=1500, late={10})
    for start in range(0, len(text), 10_000):
        follower.feed(text[start : start + 10_000].encode())
    (_, output, _) = follower.lines(Paint(None))
    assert output.split()[:3] == ["DP-1", "60.0", "0"]
    assert len(follower._frames.rows) <= SPAN // logs.REFRESH + 1


def test_a_pipe_that_ends() -> None:
    text = logs.run(frames=120)
    done = subprocess.run([*COMMAND, "-"], input=text.encode(), env=ENV, capture_output=True)
    assert done.returncode == 0
    last = done.stdout.decode().splitlines()[-1]
    assert last == "DP-1: 60.0 fps, repaint p50 2.000 ms, commit → shown p50 12.000 ms"


def test_a_file_that_grows(tmp_path: Path) -> None:
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


def wait_for(process: subprocess.Popen[str], words: str) -> None:
    """It writes for as long as it runs: what does not come ends by the limit of the test."""
    while words not in process.stdout.readline():
        assert process.poll() is None, f"it ended before {words}"


class Screen:
    """As much of a terminal as this program needs of one: what it shows after what was written."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.cells: list[list[str]] = [[] for _ in range(rows)]
        self.x = self.y = 0

    def write(self, text: str) -> None:
        for piece in re.findall(r"\x1b\[\d*[A-Za-z]|.", text, re.DOTALL):
            if piece == "\r":
                self.x = 0
            elif piece == "\n":
                self._go_down()
            elif piece[0] != "\x1b":
                self._put(piece)
            else:
                self._obey(piece)

    def _obey(self, piece: str) -> None:
        match piece[-1]:
            case "A":
                self.y = max(self.y - int(piece[2:-1] or 1), 0)
            case "H":
                self.x = self.y = 0
            case "K":
                del self.cells[self.y][self.x :]
            case "J" if piece == "\x1b[2J":
                self.cells = [[] for _ in range(self.rows)]
            case "J":
                del self.cells[self.y][self.x :]
                self.cells[self.y + 1 :] = [[] for _ in self.cells[self.y + 1 :]]

    def _go_down(self) -> None:
        self.y += 1
        if self.y == self.rows:
            self.cells = [*self.cells[1:], []]
            self.y -= 1

    def _put(self, char: str) -> None:
        if self.x == self.columns:
            self.x = 0
            self._go_down()
        row = self.cells[self.y]
        row += [" "] * (self.x + 1 - len(row))
        row[self.x] = char
        self.x += 1

    @property
    def lines(self) -> list[str]:
        shown = ["".join(row).rstrip() for row in self.cells]
        while shown and not shown[-1]:
            shown.pop()
        return shown


class Watched:
    """`follow` in a terminal of this size, and what is seen there."""

    def __init__(self, path: Path, columns: int, rows: int) -> None:
        self.screen = Screen(columns, rows)
        self.said = ""
        self._ahead = ""  # the begin of a drawing that nobody has waited for
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (rows, columns))
        self._process = subprocess.Popen([*COMMAND, str(path)], env=ENV, stdout=theirs)
        os.close(theirs)

    def wait(self, draws: int, after: str = "") -> None:
        """For so many more, after it has written this."""
        more = self._ahead
        while (begin := more.find(after)) < 0 or more[begin:].count("\x1b[J") < draws:
            more += self._decoder.decode(os.read(self._ours, 4096))
        end = more.rindex("\x1b[J") + len("\x1b[J")
        more, self._ahead = more[:end], more[end:]
        self.said += more
        self.screen.write(more)

    def resize(self, columns: int, rows: int) -> None:
        """As terminals do, which wrap anew what they show; where, nobody can tell."""
        termios.tcsetwinsize(self._ours, (rows, columns))
        shown = "\n".join(["?" * columns] * (rows - 1))
        self.screen = Screen(columns, rows)
        self.screen.write(shown)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._ours)


Watch = Callable[..., Watched]


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    found = []

    def start(text: str, columns: int, rows: int = 24) -> Watched:
        path = tmp_path / "tl.log"
        path.write_text(text)
        found.append(Watched(path, columns, rows))
        return found[-1]

    yield start
    for one in found:
        one.close()


LONG = logs.run(frames=100).replace('"film"', '"top-level window \x1b[2J動画 of a player"')


@pytest.mark.parametrize("columns", [200, 120, 100, 80, 60, 40, 20, 7])
def test_in_a_terminal_of_any_width_it_draws_over_itself(watch: Watch, columns: int) -> None:
    seen = watch(LONG, columns)
    seen.wait(3)
    lines = seen.screen.lines
    assert "the last 10 seconds, in ms; Ctrl-C ends"[:columns] == lines[0]
    assert len(lines) == (4 if columns >= 120 else 5)
    assert lines[2].startswith("  DP-1"[:columns])
    assert seen.said.count("\x1b[2J") == 0
    if columns < 120:
        assert lines[4].startswith("  (too narrow for repaint max"[:columns].rstrip())
    if columns >= 40:
        assert "12.000" in lines[2] and "12.000" in lines[3]
        assert lines[3].startswith("    top-")


def test_a_label_is_whole_where_there_is_room(watch: Watch) -> None:
    seen = watch(LONG, 200)
    seen.wait(1)
    assert "top-level window �[2J動画 of a player" in "".join(seen.screen.lines)


def test_more_outputs_than_the_terminal_has_lines(watch: Watch) -> None:
    time = 100 * 10**9
    outputs = [logs.output(i, f"DP-{i}") + logs.repaint(time, wo=i) for i in range(1, 40)]
    seen = watch("".join(outputs), 100, 12)
    seen.wait(3)
    lines = seen.screen.lines
    assert len(lines) == 11
    assert lines[0].startswith("the last 10 seconds")
    assert "more lines)" in lines[-1]


def test_a_terminal_that_changes_its_size(watch: Watch) -> None:
    seen = watch(LONG, 200)
    seen.wait(2)
    seen.resize(80, 30)
    seen.wait(3, after="\x1b[2J")
    assert len(seen.screen.lines) == 5
    assert seen.screen.lines[0].startswith("the last 10 seconds")


def test_nobody_reads_what_it_says(tmp_path: Path) -> None:
    """Who had enough of it is no error, and a full disk is not the log's."""
    (tmp_path / "tl.log").write_text(logs.run(frames=100))
    words = [*COMMAND, str(tmp_path / "tl.log")]
    ours, theirs = os.pipe()
    os.close(ours)
    full = "gid-timeline: standard output: No space left on device\n"
    with os.fdopen(theirs, "w") as pipe, open("/dev/full", "w") as disk:
        for output, told in ((pipe, (0, "")), (disk, (2, full))):
            done = subprocess.run(words, env=ENV, stdout=output, stderr=subprocess.PIPE, text=True)
            assert (done.returncode, done.stderr) == told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nonexistent"], "No such file"),
        (["-", "--interval", "0"], "--interval: must be a number from 0.05 to 3600"),
        (["-", "--interval", "inf"], "--interval: must be a number from 0.05 to 3600"),
    ],
)
def test_errors(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    from gid_timeline.cli import main

    assert main(["follow", *arguments]) == 2
    assert message in capsys.readouterr().err
