# SPDX-License-Identifier: MIT
"""Logs recorded from real Weston: every figure agrees with an independent computation."""

import json
import os
import shutil
import subprocess
import time

import independent
import logs
import pytest
import test_perfetto
from gid_timeline.cli import main

SECONDS = 5
SETUPS = {
    "pixman": ["--renderer=pixman"],
    "gl": ["--renderer=gl"],
}
CLIENTS = {"pixman": "weston-simple-shm", "gl": "weston-simple-egl"}


@pytest.fixture(scope="module", params=SETUPS)
def log(request, tmp_path_factory):
    """The timeline of a Weston that shows a client for some seconds."""
    client = CLIENTS[request.param]
    if not shutil.which("weston") or not shutil.which(client):
        pytest.skip("needs Weston and its clients")
    folder = tmp_path_factory.mktemp("weston")
    path = folder / "tl.log"
    env = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": "gid-test"}
    arguments = ["--backend=headless", *SETUPS[request.param], "--no-config", "--idle-time=0"]
    arguments += ["--socket=gid-test", f"--log={path}", "--logger-scopes=timeline", "--debug"]
    with open(folder / "output", "wb") as output:
        weston = subprocess.Popen(["weston", *arguments], env=env, stdout=output, stderr=output)
        try:
            _wait_for(folder / "gid-test", weston)
            subscribe = ["weston-debug", "-o", str(folder / "subscribed.log"), "timeline"]
            clients = [
                subprocess.Popen(arguments, env=env, stdout=output, stderr=output)
                for arguments in (subscribe, [client])
            ]
            time.sleep(SECONDS)
            for started in clients:
                started.terminate()
                started.wait(10)
        finally:
            weston.terminate()
            weston.wait(10)
    return path


def _wait_for(path, process):
    for _ in range(200):
        if path.exists():
            return
        if process.poll() is not None:
            pytest.skip("Weston does not start with this renderer here")
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


def test_every_figure_agrees_with_an_independent_computation(log, tmp_path):
    out = tmp_path / "report.json"
    assert main(["report", str(log), "-o", str(out)]) == 0
    document = json.loads(out.read_bytes())
    assert document["other_lines"] == document["broken_lines"] == 0
    assert document["unknown_points"] == {}
    (run,) = document["runs"]
    found = {}
    for part in run["outputs"] + run["surfaces"]:
        figures = {key: dict(value) for key, value in part["figures"].items()}
        for figure in figures.values():
            del figure["histogram"]
        if figures:
            found[part.get("name") or part["label"]] = figures
    assert found == independent.figures(log)
    assert run["outputs"][0]["figures"]["repaint"]["n"] > SECONDS * 10


def test_the_surface_has_its_title(log, capsys):
    assert main(["report", str(log)]) == 0
    assert "simple-" in capsys.readouterr().out


def test_a_subscription_tells_the_same_frames(log):
    """weston-debug gives another log of the same run, with ids of its own and a cut-off end."""
    whole, _ = logs.read(log.read_bytes())
    part, _ = logs.read((log.parent / "subscribed.log").read_bytes())
    begun = {row["begin"]: row["posted"] - row["begin"] for row in logs.rows(whole.frames)}
    seen = {row["begin"]: row["posted"] - row["begin"] for row in logs.rows(part.frames)}
    assert len(seen) > SECONDS * 10
    # Weston takes the time once for all subscriptions.
    common = [begin for begin in seen if begin in begun]
    assert len(common) >= len(seen) - 1
    assert [output.name for output in part.outputs] == [output.name for output in whole.outputs]


def test_the_real_log_makes_a_right_trace(log, tmp_path):
    out = tmp_path / "trace.json"
    assert main(["perfetto", str(log), str(out)]) == 0
    document = json.loads(out.read_bytes())
    test_perfetto.check(document)
    assert sum(event["name"] == "repaint" for event in document["traceEvents"]) > SECONDS * 10
