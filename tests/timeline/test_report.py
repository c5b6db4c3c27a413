# SPDX-License-Identifier: MIT
"""The forms of the report, by the command line."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import IO

import logs
import pytest
from gid_timeline.cli import main
from lib.program import PATIENCE, python_env, wait_for


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "tl.log"
    path.write_text(logs.run(frames=50, late={7}))
    return path


def test_text(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(log)]) == 0
    text = capsys.readouterr().out
    assert "DP-1: 50 frames" in text
    assert "refresh 60.00 Hz" in text
    assert "1 frame of 50 late (2.0 %): 1 refresh missed." in text
    assert "\x1b" not in text


def test_the_processing_table(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(log), "--table", "processing"]) == 0
    line = capsys.readouterr().out.splitlines()[2].split()
    assert line[:5] == ["1", "DP-1", "50", "2.000", "2.000"]


def test_json_by_suffix(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert main(["report", str(log), "-o", str(out)]) == 0
    document = json.loads(out.read_bytes())
    (output,) = document["runs"][0]["outputs"]
    assert output["refresh"]["missed_refreshes"] == 1
    assert output["figures"]["repaint"]["p99_ns"] == 2_000_000
    assert sum(output["figures"]["repaint"]["histogram"]["counts"]) == 50


def test_csv_of_figures_and_of_frames(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(log), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    repaint = next(row for row in rows if row["figure"] == "repaint")
    assert (repaint["kind"], repaint["name"], repaint["n"]) == ("output", "DP-1", "50")
    assert main(["report", str(log), "--format", "frames-csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 50
    assert all(int(row["posted_ns"]) - int(row["begin_ns"]) == 2_000_000 for row in rows)


@pytest.mark.parametrize("command", [["report"], ["perfetto"], ["simulate"]])
def test_a_refresh_rate_of_no_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    path = tmp_path / "tl.log"
    path.write_text(logs.run(frames=5))
    assert main([*command, str(path), "--refresh", "DP-9=60"]) == 2
    assert "--refresh DP-9=…: there is no such output; there are: DP-1" in capsys.readouterr().err


def test_a_subsurface_goes_by_its_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Weston calls all of them alike."""
    path = tmp_path / "tl.log"
    window = logs.surface(7, "top-level window 'Big Buck Bunny' of gid-view")
    both = window + logs.surface(2, "sub-surface", main=7)
    path.write_text(logs.run(frames=5).replace(logs.surface(2, "film"), both))
    assert main(["report", str(path)]) == 0
    assert (
        "sub-surface of top-level window 'Big Buck Bunny' of gid-view " in capsys.readouterr().out
    )
    _, shown = in_terminal(80, "report", str(path))
    assert re.search(r"sub-surface of top-l\S*…\S* ?\S*nny' of gid-view ", shown)
    _, shown = in_terminal(160, "report", str(path))
    assert "sub-surface of top-level window 'Big Buck Bunny' of gid-view " in shown
    assert main(["report", str(path), "--format", "html"]) == 0
    name = "sub-surface of top-level window &#39;Big Buck Bunny&#39; of gid-view"
    assert name in capsys.readouterr().out


def test_labels_cannot_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tl.log"
    path.write_text(logs.run(frames=10).replace('"film"', '"\x1b[2Jfilm\x07"'))
    assert main(["report", str(path)]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text and "\x07" not in text
    assert "film" in text


def test_titles_cannot_steer_the_terminal_as_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A title with a line break, and behind it what looks like the declaration of an output."""
    path = tmp_path / "tl.log"
    title = logs.surface(2, "film\n" + logs.output(3, "\x1b[2JDP-2\x07").rstrip("\n"))
    frames = [logs.repaint(10**11 + i * logs.REFRESH, wo=3) for i in range(40)]
    path.write_text(logs.output(1) + title + "".join(frames))
    for command in (
        ["report", str(path)],
        ["report", str(path), "--table", "processing"],
        ["compare", str(path), str(path)],
        ["simulate", str(path)],
        ["report", str(path), "--refresh", "none=60"],
    ):
        assert main(command) in (0, 2)
        text = "".join(capsys.readouterr())
        assert "DP-2" in text and "\x1b" not in text and "\x07" not in text


HOSTILE = "\x1b[2J\x9b31m\u202efilm\u2066\x85\x7f"


@pytest.mark.parametrize("form", ["text", "json", "csv", "frames-csv"])
def test_no_form_steers_the_terminal(tmp_path: Path, form: str) -> None:
    """Among them C1 controls, which some terminals obey, and marks that turn the text around."""
    path = tmp_path / "tl.log"
    name = logs.point(10**12, "core" + HOSTILE.replace("\x1b", "\\u001b"), wo=1)
    path.write_text(logs.run(frames=10).replace('"film"', f'"{HOSTILE}"') + name)
    status, shown = in_terminal(160, "report", str(path), "--format", form)
    assert status == 0
    assert "film" in shown or form == "frames-csv"
    assert all(char.isprintable() or char == "\n" for char in shown)


def test_json_has_the_label_itself(tmp_path: Path) -> None:
    path, out = tmp_path / "tl.log", tmp_path / "out.json"
    path.write_text(logs.run(frames=10).replace('"film"', f'"{HOSTILE}\N{DANCER}"'))
    assert main(["report", str(path), "-o", str(out)]) == 0
    (surface,) = json.loads(out.read_bytes())["runs"][0]["surfaces"]
    assert surface["label"] == HOSTILE + "\N{DANCER}"
    assert "\N{DANCER}" in out.read_text()


def test_names_of_files_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "tl\x1b[2J\x9b.log"
    for found in (False, True):
        if found:
            path.write_text(logs.run(frames=10))
        _, shown = in_terminal(100, "report", str(path))
        assert "tl" in shown
        assert all(char.isprintable() or char == "\n" for char in shown)


def test_a_page_is_not_for_a_terminal(log: Path) -> None:
    status, shown = in_terminal(80, "report", str(log), "--format", "html")
    assert (status, "-o FILE.html" in shown) == (2, True)


def test_several_logs_are_one_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each with outputs and surfaces of its own, although their ids are the same."""
    names = {}
    for name, text in (
        ("open", logs.run(frames=30)),
        ("empty", "nothing of interest\n"),
        ("cluster", logs.run(frames=40, start=90 * 10**9, name="HDMI-A-1")),
    ):
        names[name] = tmp_path / f"{name}.log"
        names[name].write_text(text)
    out = tmp_path / "out.json"
    assert main(["report", *map(str, names.values()), "-o", str(out)]) == 0
    document = json.loads(out.read_bytes())
    outputs = [(run["log"], *run["outputs"]) for run in document["runs"]]
    assert [(log, output["name"], output["frames"]) for log, output in outputs] == [
        (str(names["open"]), "DP-1", 30),
        (str(names["cluster"]), "HDMI-A-1", 40),
    ]
    assert document["logs_without_timeline"] == [str(names["empty"])]
    assert main(["report", *map(str, names.values())]) == 0
    text = capsys.readouterr().out
    assert "Run 2 of cluster.log, " in text
    assert f"{names['empty']} has no line of a timeline." in text
    assert main(["report", str(names["empty"]), str(names["empty"])]) == 2
    assert "none of its 2 lines" in capsys.readouterr().err


def test_what_is_one_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tl.log"
    time = 100 * 10**9
    begin = logs.point(time, "core_repaint_begin", wo=1)
    path.write_text("Weston 14\n" + logs.output(1) + begin + logs.repaint(time + logs.REFRESH))
    for form in ("text", "html"):
        assert main(["report", str(path), "--format", form]) == 0
        told = capsys.readouterr().out
        assert "1 repaint has no shown time." in told and "repaints failed" not in told
        assert "1 line of the log is other text, such as Weston" in told
    exit_loop = logs.point(time + logs.MS, "core_repaint_exit_loop", wo=1)
    path.write_text(logs.output(1) + (begin + exit_loop) * 2)
    assert main(["report", str(path)]) == 0
    assert "2 repaints failed." in capsys.readouterr().out


def has_read(pipe: IO[bytes]) -> bool:
    """Whether all that was written into it has been taken out."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0] == 0


@pytest.mark.parametrize("more", [logs.run(frames=50), ""])
def test_interrupted_while_a_pipe_is_read(more: str) -> None:
    """Its writer goes on, and says nothing more; test_real has one that is interrupted, too."""
    program = subprocess.Popen(
        [sys.executable, "-m", "gid_timeline", "report", "-", "--format", "json"],
        env=os.environ | python_env(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    try:
        program.stdin.write(b"Weston 14\n")
        wait_for(lambda: has_read(program.stdin), "it to read")
        program.stdin.write(more.encode())
        program.send_signal(signal.SIGINT)
        out, errors = program.stdout.read(), program.stderr.read().decode()
        status = program.wait(PATIENCE)
    finally:
        program.kill()
        program.stdin.close()
        program.wait()
    if not more:
        assert (status, out) == (2, b"") and "-: none of its 1 line is" in errors
        return
    assert (status, errors) == (0, "")
    (run,) = json.loads(out)["runs"]
    assert run["outputs"][0]["frames"] == 50


def test_a_file_that_is_read_is_interrupted_as_always(tmp_path: Path) -> None:
    """With what it would tell of half a file nobody is helped."""
    path = tmp_path / "tl.log"
    path.write_text(logs.run(frames=200_000))
    program = subprocess.Popen(
        [sys.executable, "-m", "gid_timeline", "report", str(path)],
        env=os.environ | python_env(),
        stdout=subprocess.PIPE,
    )

    def reads() -> bool:
        found = Path(f"/proc/{program.pid}/fd").iterdir()
        return any(os.path.realpath(one) == str(path) for one in found)

    try:
        wait_for(reads, "it to open its log", pause=0.001)
        program.send_signal(signal.SIGINT)
        assert program.stdout.read() == b""
        assert program.wait(PATIENCE) == 130
    finally:
        program.kill()
        program.wait()


def test_a_log_without_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tl.log"
    path.write_text(logs.seat(1))
    for form in ("text", "html", "json", "csv", "frames-csv"):
        assert main(["report", str(path), "--format", form]) == 0
    assert "No repaint" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["report"], ["perfetto"], ["simulate"], ["compare"]])
@pytest.mark.parametrize(
    ("text", "message"),
    [("", "it is empty"), ("weston 14.0.2\nOutput: DP-1\n{}\n", "none of its 3 lines")],
)
def test_a_file_that_is_no_timeline(
    log: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    text: str,
    message: str,
) -> None:
    path, out = tmp_path / "other.log", tmp_path / "out.json"
    path.write_text(text)
    more = [str(log)] if command == ["compare"] else []
    assert main([*command, str(path), *more, "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert f"{path}: {message}" in error and "--logger-scopes=timeline" in error
    assert not out.exists()


def test_any_line_of_a_timeline_is_enough(tmp_path: Path) -> None:
    """Such as gidway's own points alone, or a seat."""
    point = '{ "T":[5, 6], "N":"gid_submit", "gid":"1:42.3#7", "stream":"movie", "sequence":4 }\n'
    for line in (logs.seat(1), point, logs.surface(2, "film"), logs.point(7, "core_something_new")):
        path = tmp_path / "tl.log"
        path.write_text("other text\n" + line)
        assert main(["report", str(path)]) == 0, line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "/nonexistent/tl.log"], "No such file"),
        (["report", "LOG", "-o", "/nonexistent/out.html"], "No such file"),
        (["report", "LOG", "--refresh", "fast"], "--refresh fast"),
        (["report", "LOG", "--refresh", "DP-1=0"], "--refresh DP-1=0"),
        (["report", "LOG", "-o", "tl.xyz"], "tl.xyz: its suffix must be one of .txt, .html"),
        (["join", "LOG", "-o", "tl.xyz"], "tl.xyz: its suffix must be one of .txt, .html"),
        (["report", "LOG", "-o", "tl.html", "--format", "csv"], "of tl.html, which says html"),
        (
            ["report", "LOG", "-o", "tl.json", "--format", "frames-csv"],
            "of tl.json, which says json",
        ),
        (["join", "LOG", "-o", "tl.csv", "--format", "json"], "of tl.csv, which says csv"),
        (["compare", "LOG", "LOG", "-o", "x.json", "--format", "text"], "which says json"),
        (["simulate", "-o", "x.md", "--format", "csv"], "of x.md, which says markdown"),
        (["report", "LOG", "-o", "tl.html", "--table", "processing"], "--table processing is text"),
        (["report", "-", "-"], "standard input can be read only once"),
        (["simulate", "--log-output", "DP-1"], "name the log, too"),
        (["simulate", "--refresh", "60"], "name the log, too"),
        (["simulate", "LOG", "--frames", "5"], "leave out --workload and --frames"),
    ],
)
def test_errors_say_what_is_wrong(
    log: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([str(log) if word == "LOG" else word for word in arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and error.startswith("gid-timeline: ")
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "--miss-rate", "2"], "--miss-rate: must be a number from 0.00001 to 0.1"),
        (["simulate", "--miss-rate", "nan"], "--miss-rate: must be a number from"),
        (["simulate", "--seed", "-1"], "--seed: must be a number from"),
        (["compare", "LOG", "LOG", "--seed", "-1"], "--seed: must be a number from"),
        (["compare", "LOG", "LOG", "--confidence", "1"], "--confidence: must be a number from"),
        (
            ["compare", "LOG", "LOG", "--confidence", "5e-1"],
            "must be a number from 0.5 to 0.99999, not '5e-1'",
        ),
        (["simulate", "--frames", "0"], "--frames: must be a number from 1 to 10000000"),
    ],
)
def test_numbers_have_bounds(
    log: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([str(log) if word == "LOG" else word for word in arguments]) == 2
    assert message in capsys.readouterr().err


def in_terminal(columns: int, *arguments: str) -> tuple[int, str]:
    """Runs the program in a terminal so wide; gives its exit status and what it showed."""
    controller, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (40, columns))
    program = subprocess.Popen(
        [sys.executable, "-m", "gid_timeline", *arguments],
        env=os.environ | python_env() | {"NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            piece = os.read(controller, 65536)
        except OSError:  # the other end is closed
            break
        shown += piece
    os.close(controller)
    return program.wait(), shown.decode().replace("\r\n", "\n")


def test_tables_fit_the_terminal(log: Path) -> None:
    status, wide = in_terminal(160, "report", str(log))
    assert status == 0
    assert "too narrow" not in wide
    status, narrow = in_terminal(80, "report", str(log))
    assert status == 0
    table = narrow[narrow.index("\n  ms ") :].partition("(too narrow")[0].splitlines()
    assert len(table) > 5
    assert max(len(line) for line in table) <= 80
    assert "(too narrow for sd" in narrow
    assert "p99" in narrow


def test_a_trace_is_not_for_a_terminal(log: Path) -> None:
    status, shown = in_terminal(80, "perfetto", str(log))
    assert status == 2
    assert "-o FILE" in shown


def in_shell(redirection: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own: what a full disk does shows at its end, too."""
    return subprocess.run(
        [
            "sh",
            "-c",
            f'exec "$@" {redirection}',
            "sh",
            sys.executable,
            "-m",
            "gid_timeline",
            *words,
        ],
        env=os.environ | python_env(),
        capture_output=True,
        text=True,
    )


def test_a_full_disk_is_no_condition_that_holds(log: Path) -> None:
    words = ["compare", str(log), str(log), "--fail-if", "repaint_p99 > 1.05"]
    done = in_shell(">/dev/full", *words)
    assert done.returncode == 2
    assert done.stderr == "gid-timeline: standard output: No space left on device\n"
    done = in_shell("", *words, "-o", "/dev/full")
    assert done.returncode == 2
    assert done.stderr == "gid-timeline: /dev/full: No space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_without_standard_streams(log: Path, closed: str) -> None:
    done = in_shell(closed, "compare", str(log), str(log), "--fail-if", "repaint_p99 > 1.05")
    assert (done.returncode, done.stderr) == (0, "")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-V"], version="1.2.3") == 0
    assert capsys.readouterr().out == "gid-timeline 1.2.3\n"


def test_long_logs_give_the_same_figures_with_little_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gid_timeline import figures, samples, table

    path = tmp_path / "tl.log"
    path.write_text(logs.run(frames=3000, late=set(range(0, 3000, 71))) + logs.run(start=10**12))
    names = ("plain", "little")
    for name in names:
        out = tmp_path / f"{name}.json"
        assert main(["report", str(path), "-o", str(out)]) == 0
        for module in (figures, samples):
            monkeypatch.setattr(module, "IN_MEMORY", 50)
        monkeypatch.setattr(table, "_ROWS_IN_MEMORY", 100)
        monkeypatch.setattr(table, "_ROWS_AT_ONCE", 70)
        monkeypatch.setattr("gid_timeline.reader.CHUNK_BYTES", 5000)
    plain, little = ((tmp_path / f"{name}.json").read_bytes() for name in names)
    assert plain == little
