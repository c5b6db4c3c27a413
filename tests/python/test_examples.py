# SPDX-License-Identifier: MIT
"""The examples in Python do what they say, with a camera of GStreamer's."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import gid
import numpy as np
import pytest
from lib.cockpit import Cockpit
from lib.pipeline import gst_env, make_registry
from lib.program import TOP, Program
from PIL import Image

from lab.domains.configuration import configuration

EXAMPLES = TOP / "examples" / "python"
SIZE = "width=320,height=240,framerate=30/1"


@pytest.fixture
def camera(cockpit: Cockpit) -> Iterator[Program]:
    """A white ball on black in `open`, 30 times a second."""
    text = f"videotestsrc is-live=true pattern=ball ! video/x-raw,format=BGRx,{SIZE} ! "
    text += "gidsink lease=60000"
    env = gst_env(cockpit.env("open"), make_registry())
    words = ["gst-launch-1.0", "-q", *text.split(), "stream=camera"]
    camera = Program(words, env, cockpit.folder, "camera")
    yield camera
    camera.kill()


def start(cockpit: Cockpit, name: str, *words: str | Path) -> Program:
    return cockpit.run("cluster", [sys.executable, EXAMPLES / f"{name}.py", *words], name)


def test_eight_processes_read_one_camera(cockpit: Cockpit, camera: Program) -> None:
    program = start(cockpit, "eight", "-d", "open", "camera", "10")
    assert program.wait() == 0, program.stderr
    lines = re.findall(r"^(\d): frame (\d+), mean (\d+\.\d+)$", program.stdout, re.M)
    assert {number for number, _, _ in lines} == set("01234567") and len(lines) == 80
    means: dict[str, set[str]] = {}
    for _, frame, mean in lines:
        means.setdefault(frame, set()).add(mean)
    assert all(len(mean) == 1 for mean in means.values())  # all saw the same


def test_a_detector_sends_what_it_saw(cockpit: Cockpit, camera: Program) -> None:
    program = start(cockpit, "detect", "-d", "open", "camera", "found")
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        consumer = domain.consumer("found", "cluster")
        places = set()
        while len(places) <= 3:  # the ball moves
            frame = consumer.frame(60)
            with suppress(gid.LeaseError), frame as picture:  # where we got no processor for long
                said = json.loads(frame.note)
                assert picture.shape == (120, 160)
                assert picture[said["y"] // 2, said["x"] // 2] == 255
                places.add((said["x"], said["y"]))
    assert program.is_running(), program.stderr
    program.signal(signal.SIGINT)
    assert (program.wait(), program.stderr) == (0, "")


def test_a_recorder_writes_raw_pixels_and_pictures(
    cockpit: Cockpit, camera: Program, tmp_path: Path
) -> None:
    for target in (tmp_path / "film.raw", tmp_path):
        program = start(cockpit, "record", "-d", "open", "camera", "12", target)
        assert program.wait() == 0, program.stderr
        assert re.fullmatch(r"12 frames, \d+ missed\n", program.stdout)
    raw = np.frombuffer((tmp_path / "film.raw").read_bytes(), np.uint8).reshape(12, 240, 320, 4)
    pictures = [np.asarray(Image.open(path)) for path in sorted(tmp_path.glob("*.png"))]
    assert len(pictures) == 12 and pictures[0].shape == (240, 320, 3)
    for picture in [*raw[..., :3], *pictures]:
        assert picture.max() == 255 and picture.min() == 0
        assert 0.005 < (picture > 128).mean() < 0.2  # the ball
    assert len({picture.tobytes() for picture in raw}) > 3


def test_they_fit_on_a_page_and_say_how_they_are_used(cockpit: Cockpit) -> None:
    files = sorted(EXAMPLES.glob("*.py"))
    assert len(files) == 3
    for file in files:
        assert file.read_text().count("\n") < 70 and "Usage: " in file.read_text()
        program = start(cockpit, file.stem)
        assert program.wait() == 2 and "usage:" in program.stderr


# What each takes behind the stream.
MORE = {"detect": ["found"], "eight": ["1"], "record": ["1", "/tmp"]}
NOT_SHARED = configuration({"open": "", "cluster": "local=found"}, {"open cluster": "bar"})


@pytest.mark.cockpit(NOT_SHARED)
@pytest.mark.parametrize("name", MORE)
def test_what_is_wrong_is_said_without_a_traceback(cockpit: Cockpit, name: str) -> None:
    """By each process in the same line."""
    words = ["-d", "open", "barr", *MORE[name]]
    program = start(cockpit, name, *words)
    assert program.wait() == 1
    (said,) = set(program.stderr.splitlines())
    assert said.startswith(f"{name}.py: ") and "check its name and domain" in said
    cockpit.kill("cluster")
    program = start(cockpit, name, *words)
    assert program.wait() == 1
    (said,) = set(program.stderr.splitlines())
    assert said.startswith(f"{name}.py: no gidd for domain 'cluster' at ")


@pytest.mark.parametrize("name", ["opencv/edges", "pyav/film", "gtk/show"])
def test_those_of_other_libraries_say_it_too(name: str, tmp_path: Path) -> None:
    """Here, where these need not be installed: what they import is nothing."""
    for library in ("cv2", "av"):
        (tmp_path / f"{library}.py").touch()
    (tmp_path / "gi").mkdir()
    (tmp_path / "gi" / "__init__.py").write_text("require_version = print\n")
    (tmp_path / "gi" / "repository.py").write_text("Gst = Gtk = None\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, TOP / "examples" / f"{name}.py"],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 2
    assert f"Usage: {name.split('/')[1]}.py " in done.stderr


@pytest.mark.parametrize(
    ("bridge", "package"), [("iceoryx2_bridge", "iceoryx2"), ("ros2_bridge", "rclpy")]
)
def test_a_bridge_without_its_packages_says_so(bridge: str, package: str) -> None:
    path = TOP / "python" / "bridges" / f"{bridge}.py"
    script = (
        f"import runpy, sys; sys.modules[{package!r}] = None; "
        f"runpy.run_path({str(path)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        f"{bridge}.py: there is no {package}: docs/python.md says how it comes here\n"
    )
