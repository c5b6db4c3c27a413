# SPDX-License-Identifier: MIT
"""The examples in folders: windows by SDL, Qt and GTK, pixel by pixel. Each is built as it says."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gid
import numpy as np
import pytest
from lib.cockpit import Cockpit
from lib.pipeline import gst_env
from lib.program import BUILD, TOP, Program, devenv, wait_for
from lib.weston import Weston, lit

EXAMPLES = TOP / "examples"
SDL, QT = "libsdl3-dev", "qt6-base-dev qt6-wayland"
# The folder, what Debian has to have, and how it is built there.
WAYS = {
    "sdl by make": ("sdl", SDL, "make"),
    "sdl by meson": ("sdl", SDL, "meson setup b && ninja -C b && mv b/show ."),
    "sdl by cmake": ("sdl", f"cmake {SDL}", "cmake -B b && cmake --build b && mv b/show ."),
    "qt by cmake": ("qt", f"cmake {QT}", "cmake -B b && cmake --build b && mv b/show ."),
}
FILES = {
    "cmake": "/usr/bin/cmake",
    SDL: "/usr/include/SDL3/SDL.h",
    "qt6-base-dev": "/usr/lib/x86_64-linux-gnu/cmake/Qt6/Qt6Config.cmake",
    "qt6-wayland": "/usr/lib/x86_64-linux-gnu/qt6/plugins/platforms/libqwayland-generic.so",
}
# What a window has to have of its own accord, so that only the picture is there.
PLAIN = {
    **{"SDL_VIDEODRIVER": "wayland", "SDL_VIDEO_WAYLAND_ALLOW_LIBDECOR": "0"},
    **{"QT_QPA_PLATFORM": "wayland", "QT_WAYLAND_DISABLE_WINDOWDECORATION": "1"},
}


def build(way: str, folder: Path) -> Path:
    name, packages, commands = WAYS[way]
    if any(not os.path.exists(FILES[package]) for package in packages.split()):
        pytest.skip(f"needs more: ./run shell --with {packages} -- ./run test examples")
    place = folder / "my window"
    shutil.copytree(EXAMPLES / name, place)
    env = devenv() | {"CFLAGS": "-Wextra -Werror", "CXXFLAGS": "-Wall -Wextra -Werror"}
    made = subprocess.run(
        ["sh", "-ec", commands], env=env, cwd=place, capture_output=True, text=True, timeout=300
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return place / "show"


@pytest.fixture
def producer(cockpit: Cockpit) -> Iterator[gid.Domain]:
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        yield domain


@pytest.fixture
def weston(cockpit: Cockpit, tmp_path: Path) -> Iterator[Weston]:
    weston = Weston(tmp_path, cockpit.env("cluster"))
    weston.start()
    yield weston
    if weston.is_running():
        assert weston.stop() == 0, weston.read_log()


def show(weston: Weston, program: Path) -> Program:
    library = {"LD_LIBRARY_PATH": str(BUILD / "libgid")}
    return weston.client([program, "-d", "open", "camera"], **PLAIN, **library)


WIDTH, HEIGHT = 150, 90


@pytest.mark.parametrize("way", WAYS)
def test_each_pixel_is_right(
    way: str, weston: Weston, producer: gid.Domain, tmp_path: Path
) -> None:
    """The program comes first, and stays when a producer ends: the next one has other pictures."""
    window = show(weston, build(way, tmp_path))
    rng = np.random.default_rng(7)
    for format in ("XR24", "AR24", "XB24", "XR24"):
        pixels = rng.integers(1, 256, (HEIGHT, WIDTH, 4), np.uint8)
        pixels[..., 3] = 255
        with producer.producer("camera", format, WIDTH, HEIGHT, lease=60.0) as camera:
            camera.submit(pixels)
            wait_shown(weston, window, pixels[..., 2::-1] if format == "XB24" else pixels[..., :3])
    assert window.is_running(), window.stderr
    window.stop()


def wait_shown(weston: Weston, window: Program, picture: np.ndarray) -> None:
    def is_shown() -> bool:
        return np.array_equal(lit(weston.screenshot()), picture)

    wait_for(is_shown, lambda: f"the picture: {window.said()}")


@pytest.mark.parametrize("way", ["sdl by make", "qt by cmake"])
def test_the_part_that_is_shown(
    way: str, weston: Weston, producer: gid.Domain, tmp_path: Path
) -> None:
    window = show(weston, build(way, tmp_path))
    pixels = np.random.default_rng(7).integers(1, 256, (HEIGHT, WIDTH, 4), np.uint8)
    with producer.producer("camera", "XR24", WIDTH, HEIGHT, lease=60.0) as camera:
        camera.submit(pixels, crop=(30, 20, 60, 40))
        wait_shown(weston, window, pixels[20:60, 30:90, :3])
    window.stop()


@pytest.mark.parametrize("format", ["NV12", "YU12"])
def test_colours_of_yuv_are_right(
    format: str, weston: Weston, producer: gid.Domain, tmp_path: Path
) -> None:
    """Nothing is said of them: then they are those of BT.601, of limited range."""
    window = show(weston, build("sdl by make", tmp_path))
    with producer.producer("camera", format, WIDTH, HEIGHT, lease=60.0) as camera:
        with camera.slot() as (luma, *chroma):
            luma[...] = 100
            if format == "NV12":
                chroma[0][...] = 110, 180
            else:
                chroma[0][...], chroma[1][...] = 110, 180
        red, green, blue = 181, 63, 62  # 1.164 * (100 - 16) + 1.596 * (180 - 128), …

        def is_right() -> bool:
            shot = lit(weston.screenshot()).astype(int)
            return shot.shape[:2] == (HEIGHT, WIDTH) and abs(shot - (blue, green, red)).max() <= 3

        wait_for(is_right, lambda: f"its colours: {window.said()}")
    window.stop()


@pytest.mark.parametrize("way", ["sdl by make", "qt by cmake"])
def test_what_it_cannot_show_is_told(
    way: str, weston: Weston, producer: gid.Domain, tmp_path: Path
) -> None:
    window = show(weston, build(way, tmp_path))
    with producer.producer("camera", "R16", WIDTH, HEIGHT, lease=60.0) as camera:
        camera.submit(np.zeros((HEIGHT, WIDTH), np.uint16))
        window.wait_output("show: a picture is left out")
    window.stop()


@pytest.mark.parametrize("way", ["sdl by make", "qt by cmake"])
def test_it_says_how_it_is_used(way: str, tmp_path: Path) -> None:
    env = os.environ | {"QT_QPA_PLATFORM": "offscreen", "LD_LIBRARY_PATH": str(BUILD / "libgid")}
    program = subprocess.run([build(way, tmp_path)], env=env, capture_output=True, text=True)
    assert program.returncode == 1 and "Usage: show [-d DOMAIN] STREAM" in program.stderr


def test_gtk_shows_each_pixel(
    cockpit: Cockpit, weston: Weston, producer: gid.Domain, tmp_path: Path
) -> None:
    """By GStreamer's own element. It is there before its stream is."""
    plugins = Path("/usr/lib/x86_64-linux-gnu/gstreamer-1.0")
    if not (plugins / "libgstgtk4.so").exists():
        pytest.skip("needs more: ./run shell --with gstreamer1.0-gtk4 -- ./run test examples")
    library = gst_env({"GSK_RENDERER": "cairo"}, cockpit.folder / "registry.bin")
    program = [sys.executable, EXAMPLES / "gtk" / "show.py", "gid://open/camera"]
    window = weston.client(program, **library)
    pixels = np.random.default_rng(7).integers(1, 256, (HEIGHT, WIDTH, 4), np.uint8)
    with producer.producer("camera", "XR24", WIDTH, HEIGHT, lease=60.0) as camera:
        camera.submit(pixels)
        wait_shown(weston, window, pixels[..., :3])
    window.stop()
