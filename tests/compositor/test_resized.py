# SPDX-License-Identifier: MIT
"""Outputs that get another size while somebody reads them: a Weston in a window, and sway's own."""

import itertools
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.painter import Painter
from lib.program import BUILD, Program, wait_for
from lib.stream_reader import StreamReader
from lib.sway import Sway, why_no_sway
from lib.weston import HEIGHT, WIDTH, Weston

pytestmark = pytest.mark.skipif(why_no_sway() is not None, reason=str(why_no_sway()))

MODES = ((400, 300), (501, 203), (WIDTH, HEIGHT))
CAPTURE = BUILD / "clients/gid-capture"
OUTPUT = "wayland0"  # Weston's name for its window
UNREAD = BUILD / "tests/compositor/unread_request.so"
MISSED_S = 0.02  # after which the module repaints again, if a picture found no slot


@pytest.fixture
def sway(cockpit: Cockpit, tmp_path: Path) -> Iterator[Sway]:
    started = Sway(tmp_path, cockpit.env("cluster"))
    yield started
    started.stop()


def make_weston(folder: Path, environment: dict[str, str], renderer: str, sway: Sway) -> Weston:
    """In a window that is as large as sway's output. Its picture is the stream "mirror"."""
    made = Weston(folder, environment, renderer)
    for word in ("--backend=headless", "--shell=desktop-shell.so"):
        made.command.remove(word)
    made.command += ["--backend=wayland", "--shell=kiosk-shell.so", f"--display={sway.socket}"]
    made.configure(f"[gid-output]\nmirror={OUTPUT}\nstream=mirror\n")
    return made.start()


@pytest.fixture(params=["pixman", "gl"])
def weston(
    request: pytest.FixtureRequest, cockpit: Cockpit, tmp_path: Path, sway: Sway
) -> Iterator[Weston]:
    started = make_weston(tmp_path, cockpit.env("cluster"), request.param, sway)
    yield started
    assert started.stop() == 0, started.read_log()


def read(cockpit: Cockpit, stream: str) -> StreamReader:
    return StreamReader(BUILD / "libgid/libgid.so", cockpit.socket("open"), stream)


def size_of(pixels: numpy.ndarray) -> tuple[int, int]:
    return pixels.shape[1], pixels.shape[0]


def wait_size(reader: StreamReader, size: tuple[int, int]) -> None:
    while size_of(reader.next().pixels) != size:
        pass


def first_size(reader: StreamReader) -> tuple[int, int]:
    """Within the window's frame. Weston begins before sway has said how large it may be."""
    while (size := size_of(reader.next().pixels)) == (WIDTH, HEIGHT):
        pass
    return size


def test_a_mirror(cockpit: Cockpit, weston: Weston, sway: Sway) -> None:
    """Has the new size at once, and what is drawn then."""
    with read(cockpit, "mirror") as reader:
        first = first_size(reader)
        frame = WIDTH - first[0], HEIGHT - first[1]  # of the window
        for seed, mode in enumerate(MODES):
            size = mode[0] - frame[0], mode[1] - frame[1]
            sway.set_mode(*mode)
            wait_size(reader, size)
            assert size_of(weston.screenshot(OUTPUT)) == size
            painter = Painter(weston.socket, OUTPUT, size)
            reader.wait_picture(painter.paint(seed))


def test_a_mirror_of_many_sizes(cockpit: Cockpit, weston: Weston, sway: Sway) -> None:
    """One after the other, while pictures of the one before are on their way."""
    with read(cockpit, "mirror") as reader:
        first = first_size(reader)
        for mode in itertools.islice(itertools.cycle(MODES), 30):
            sway.set_mode(*mode)
            reader.wait(0.02)
        wait_size(reader, first)
        painter = Painter(weston.socket, OUTPUT, first)
        reader.wait_picture(painter.paint(1))

    def slabs() -> list[dict]:
        every = cockpit.status("cluster")["slabs"]
        return [slab for slab in every if slab["owner"].startswith("weston")]

    wait_for(lambda: len(slabs()) == 1, "memory of the sizes before to be gone")


@pytest.mark.skipif(not UNREAD.exists(), reason="not with the sanitizers")
def test_a_mirror_drawn_before_it_has_memory(cockpit: Cockpit, tmp_path: Path, sway: Sway) -> None:
    """And once more before Weston has read what its capture needs: that picture comes later."""
    preload = Preload(UNREAD)
    weston = make_weston(tmp_path, cockpit.env("cluster") | preload.env, "pixman", sway)
    gidd = cockpit.gidds["cluster"]
    with read(cockpit, "mirror") as reader:
        width, height = first_size(reader)
        frame = WIDTH - width, HEIGHT - height  # of the window
        for mode in MODES:
            size = mode[0] - frame[0], mode[1] - frame[1]
            gidd.signal(signal.SIGSTOP)
            try:
                sway.set_mode(*mode)
                wait_for(lambda size=size: size_of(weston.screenshot(OUTPUT)) == size, "that size")
                time.sleep(5 * MISSED_S)
            finally:
                gidd.signal(signal.SIGCONT)
            wait_size(reader, size)
    assert weston.stop() == 0, weston.read_log()
    preload.check("weston")


def test_what_is_captured(cockpit: Cockpit, sway: Sway) -> None:
    """By gid-capture: likewise."""
    capture = Program([CAPTURE, "--stream=desktop"], sway.environment, sway.folder)
    with read(cockpit, "desktop") as reader:
        for mode in MODES:
            sway.set_mode(*mode)
            wait_size(reader, mode)
    assert capture.stop() == 0, capture.stderr
