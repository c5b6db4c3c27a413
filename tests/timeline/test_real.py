# SPDX-License-Identifier: MIT
"""Logs recorded from real Weston: every figure agrees with an independent computation."""

import json
import os
import shutil
import subprocess
import time

import independent
import pytest
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
    arguments += ["--socket=gid-test", f"--log={path}", "--logger-scopes=timeline"]
    with open(folder / "output", "wb") as output:
        weston = subprocess.Popen(["weston", *arguments], env=env, stdout=output, stderr=output)
        try:
            _wait_for(folder / "gid-test", weston)
            shown = subprocess.Popen([client], env=env, stdout=output, stderr=output)
            time.sleep(SECONDS)
            shown.terminate()
            shown.wait(10)
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
