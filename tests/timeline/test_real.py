# SPDX-License-Identifier: MIT
"""Logs recorded from real Weston: every figure agrees with an independent computation."""

import contextlib
import json
import os
import pty
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import independent
import logs
import pytest
import test_perfetto
from gid_timeline.cli import main
from lib.program import PATIENCE, Program, python_env, wait_for

FRAMES = 150  # that are recorded, however long that takes
SECONDS = float(os.environ.get("GIDWAY_TIMELINE_SECONDS", 0))  # at least, for long recordings
pytestmark = pytest.mark.timeout(300 + 2 * SECONDS)
SETUPS = {
    "pixman": ["--renderer=pixman"],
    "gl": ["--renderer=gl"],
}
CLIENTS = {"pixman": "weston-simple-shm", "gl": "weston-simple-egl"}


@pytest.fixture(scope="module", params=SETUPS)
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The timeline of a Weston that shows a client, which leaves before it does."""
    client = CLIENTS[request.param]
    if not shutil.which("weston") or not shutil.which(client):
        pytest.skip("needs Weston and its clients")
    folder = tmp_path_factory.mktemp("weston")
    path, subscribed = folder / "tl.log", folder / "subscribed.log"
    env = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": "gid-test"}
    arguments = ["--backend=headless", *SETUPS[request.param], "--no-config", "--idle-time=0"]
    arguments += ["--socket=gid-test", f"--log={path}", "--logger-scopes=timeline", "--debug"]
    programs = []

    def start(*arguments: str) -> Program:
        programs.append(Program(arguments, env, folder))
        return programs[-1]

    def is_listening() -> bool:
        if not weston.is_running():
            pytest.skip("Weston does not start with this renderer here")
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(str(folder / "gid-test")) == 0

    end = time.monotonic() + SECONDS

    def has_frames() -> bool:
        for program in programs:
            assert program.is_running(), f"{program.name} ended:\n{program.stderr}"
        enough = all(repaints(each) >= FRAMES for each in (path, subscribed))
        return enough and time.monotonic() >= end

    try:
        weston = start("weston", *arguments)
        wait_for(is_listening, "Weston to listen", PATIENCE)
        start("weston-debug", "-o", subscribed, "timeline")
        start(client)
        wait_for(has_frames, f"{FRAMES} frames in both logs", PATIENCE + SECONDS, pause=0.1)
        report_of_a_pipe(folder, env, path)
        for program in reversed(programs):
            program.stop(PATIENCE)
    finally:
        for program in programs:
            program.kill()
    return path


def report_of_a_pipe(folder: Path, env: dict[str, str], log: Path) -> None:
    """As it is typed, and ended by Ctrl-C, which the terminal sends to both programs."""
    ours, theirs = pty.openpty()
    command = f"weston-debug timeline | {sys.executable} -m gid_timeline report - -o typed.json"
    shell = subprocess.Popen(
        ["setsid", "--ctty", "sh", "-c", command],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=env | python_env(),
    )
    os.close(theirs)
    os.set_blocking(ours, False)
    said = b""

    def is_reading() -> bool:
        nonlocal said
        with contextlib.suppress(BlockingIOError):
            said += os.read(ours, 4096)
        assert shell.poll() is None, said
        return b"reading -" in said

    try:
        wait_for(is_reading, "it to read for a second", PATIENCE)
        before = repaints(log)
        wait_for(lambda: repaints(log) > before + FRAMES, "frames that it reads", PATIENCE)
        os.write(ours, b"\x03")
        shell.wait(PATIENCE)
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


def repaints(log: Path) -> int:
    return log.read_bytes().count(b'"core_repaint_posted"') if log.exists() else 0


def check_figures(log: Path, out: Path) -> dict:
    """That what is reported, to the file `out`, is what is computed independently. Returns it."""
    assert main(["report", str(log), "-o", str(out)]) == 0
    document = json.loads(out.read_bytes())
    assert document["other_lines"] == document["broken_lines"] == 0
    assert document["unknown_points"] == {}
    (run,) = document["runs"]
    found = []
    for part in run["outputs"] + run["surfaces"]:
        figures = {key: dict(value) for key, value in part["figures"].items()}
        for figure in figures.values():
            del figure["histogram"]
        if figures:
            found.append((part.get("name") or part["label"], figures))
    assert independent.in_order(found) == independent.figures(log)
    assert run["outputs"][0]["figures"]["repaint"]["n"] == repaints(log)
    return document


def test_every_figure_agrees_with_an_independent_computation(log: Path, tmp_path: Path) -> None:
    check_figures(log, tmp_path / "report.json")


def test_the_surface_has_its_title(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(log)]) == 0
    assert "simple-" in capsys.readouterr().out


def test_a_subscription_tells_the_same_frames(log: Path) -> None:
    """weston-debug gives another log of the same run, with ids of its own and a cut-off end."""
    whole, _ = logs.read(log.read_bytes())
    part, _ = logs.read((log.parent / "subscribed.log").read_bytes())
    # Weston takes the time once for all subscriptions.
    of_whole, of_part = (
        {(row["begin"], row["posted"]) for row in logs.rows(trace.frames) if row["posted"] >= 0}
        for trace in (whole, part)
    )
    assert len(of_part) >= FRAMES - 1  # it may have begun in the midst of one
    assert of_part <= of_whole
    assert [output.name for output in part.outputs] == [output.name for output in whole.outputs]


def test_what_ctrl_c_ended_is_reported(log: Path) -> None:
    document = json.loads((log.parent / "typed.json").read_bytes())
    (run,) = document["runs"]
    (output,) = run["outputs"]
    assert output["frames"] >= 10
    assert {figure["n"] > 0 for figure in output["figures"].values()} == {True}


def test_the_real_log_makes_a_right_trace(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "trace.json"
    assert main(["perfetto", str(log), "-o", str(out)]) == 0
    document = json.loads(out.read_bytes())
    test_perfetto.check(document)
    assert sum(event["name"] == "repaint" for event in document["traceEvents"]) == repaints(log)
