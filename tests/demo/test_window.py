# SPDX-License-Identifier: MIT
"""./run demo --window: cluster's display is to be seen on the desktop while the demo runs."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.program import BUILD, PATIENCE, TOP, Program, wait_for
from PIL import Image
from test_demo import BARS, CAMERA, bars

pytestmark = pytest.mark.timeout(1000)
SIZE = (1920, 1200)


@pytest.fixture
def desktop(tmp_path: Path, short: Path) -> Iterator[dict[str, str]]:
    """Somebody's Wayland: the environment of the programs in it."""
    environment = os.environ | {"XDG_RUNTIME_DIR": str(short)}
    command = ["weston", "--backend=headless", "--renderer=pixman", "--shell=kiosk", "--no-config"]
    command += [f"--width={SIZE[0]}", f"--height={SIZE[1]}", "--debug", "--idle-time=0"]
    weston = Program([*command, "--socket=desktop"], environment, tmp_path)
    wait_for((short / "desktop").exists, "the desktop")
    yield environment | {"WAYLAND_DISPLAY": "desktop"}
    weston.stop()


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """For sockets, whose paths may be no longer than that."""
    folder = Path("/tmp", f"gid-desktop-{os.getpid()}")
    folder.mkdir(mode=0o700)
    yield folder
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def screenshot(desktop: dict[str, str], folder: Path) -> numpy.ndarray:
    for old in folder.glob("wayland-screenshot-*"):
        old.unlink()
    subprocess.run(["weston-screenshooter"], env=desktop, cwd=folder, check=True, timeout=PATIENCE)
    (file,) = folder.glob("wayland-screenshot-*")
    with Image.open(file) as image:
        return numpy.asarray(image.convert("RGB"), numpy.int16)


def test_the_camera_is_on_the_desktop(desktop: dict[str, str], tmp_path: Path) -> None:
    demo = Program(
        [TOP / "run", "demo", "--window", "--seconds=1000", f"--out={tmp_path / 'out'}"],
        desktop | {"GIDWAY_BUILD": str(BUILD)},
        tmp_path,
    )
    left, top, right, bottom = CAMERA

    def is_shown() -> bool:
        assert demo.is_running(), demo.stderr
        shown = screenshot(desktop, tmp_path)
        assert shown.shape[:2] == SIZE[::-1]
        return numpy.abs(bars(shown[top:bottom, left:right]) - BARS).max() <= 2

    wait_for(is_shown, "the camera's picture", 3 * PATIENCE, pause=0.5)
    demo.signal(signal.SIGINT)
    assert demo.wait() == 130


@pytest.mark.parametrize(
    ("options", "why"),
    [((), "there is no desktop"), (("--vms=2",), "the guest's own screen")],
    ids=["no desktop", "a screen"],
)
def test_where_it_cannot_be(options: tuple[str, ...], why: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("WAYLAND_DISPLAY", "DISPLAY")}
    result = subprocess.run(
        [TOP / "run", "demo", "--window", *options],
        env=environment | {"GIDWAY_BUILD": str(BUILD)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert result.returncode == 2
    assert why in result.stderr


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_version(option: str) -> None:
    version = subprocess.run(
        [BUILD / "tools" / "gidctl" / "gidctl", "--version"], capture_output=True, text=True
    )
    result = subprocess.run(
        [TOP / "run", "demo", option],
        env=os.environ | {"GIDWAY_BUILD": str(BUILD)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.split()[-1] == version.stdout.split()[-1]
