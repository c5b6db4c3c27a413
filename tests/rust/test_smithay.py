# SPDX-License-Identifier: MIT
"""The compositor of rust/examples/smithay: its windows as readers of its stream see them."""

import time
from collections.abc import Callable, Iterator

import gid
import numpy as np
import pytest
from lib.cockpit import Cockpit
from lib.crates import CRATES, TARGET, WITH_CARGO, cargo
from lib.program import Program, devenv, wait_for
from lib.snapshot import snap

BUILDING = 3600.0  # Smithay, where much else is built
STREAM = "smithay"
BACKGROUND = (28, 56, 84)
SIZE = (720, 1280)
WINDOW = 250  # of weston-simple-shm: its width and height
STEP = 40  # from one window to the next
STILL = 0.5  # seconds without a frame
LATE = 60.0

pytestmark = [*WITH_CARGO, pytest.mark.timeout(BUILDING + 600)]

Show = Callable[[], Program]


@pytest.fixture(scope="module")
def built() -> None:
    done = cargo(CRATES / "examples/smithay", "build", patience=BUILDING)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def show(cockpit: Cockpit, built: None) -> Show:
    """Starts the compositor. Each call opens a window in it, which moves without end."""
    folder = str(cockpit.folder)
    libraries = devenv()["LD_LIBRARY_PATH"]
    command = [TARGET / "debug/gid-smithay", STREAM]
    compositor = cockpit.run(
        "open", command, "smithay", LD_LIBRARY_PATH=libraries, XDG_RUNTIME_DIR=folder
    )
    compositor.wait_output("WAYLAND_DISPLAY=")
    display = compositor.stdout.split("=")[1].strip()

    def show() -> Program:
        where = {"WAYLAND_DISPLAY": display, "XDG_RUNTIME_DIR": folder}
        return cockpit.run("open", ["weston-simple-shm"], "window", **where)

    return show


@pytest.fixture
def consumer(cockpit: Cockpit, show: Show) -> Iterator[gid.Consumer]:
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        with domain.consumer(STREAM, "open") as consumer:
            yield consumer


def see(cockpit: Cockpit) -> np.ndarray:
    picture = snap(cockpit, "cluster", "open", STREAM)
    assert picture.shape == (*SIZE, 3)
    return picture


def places(*numbers: int) -> np.ndarray:
    """Which pixels belong to the windows that were opened first, second, …"""
    those = np.zeros(SIZE, bool)
    for number in numbers:
        begin = STEP * number
        those[begin : begin + WINDOW, begin : begin + WINDOW] = True
    return those


def shows(cockpit: Cockpit, *numbers: int) -> bool:
    is_drawn = (see(cockpit) != BACKGROUND).any(axis=2)
    return bool((is_drawn == places(*numbers)).all())


def test_windows_come_and_go(cockpit: Cockpit, show: Show) -> None:
    assert shows(cockpit)
    first = show()
    wait_for(lambda: shows(cockpit, 0), "a window")
    second = show()
    wait_for(lambda: shows(cockpit, 0, 1), "two windows")
    first.kill()
    wait_for(lambda: shows(cockpit, 1), "the first window to go")
    second.kill()
    wait_for(lambda: shows(cockpit), "an empty desk")


def next_time(consumer: gid.Consumer) -> int:
    """When the next frame was sent, ns."""
    frame = consumer.frame(LATE)
    frame.release()
    return frame.submit_time


def test_frames_come_where_something_changes(consumer: gid.Consumer, show: Show) -> None:
    next_time(consumer)
    with pytest.raises(TimeoutError):
        consumer.frame(STILL)
    window = show()
    times = [next_time(consumer) for _ in range(61)]
    assert times[-1] - times[0] > 0.95e9, "60 Hz are the screen's most"
    window.kill()
    with pytest.raises(TimeoutError):
        while True:
            consumer.frame(STILL).release()


def test_damage_is_all_that_changed(consumer: gid.Consumer, show: Show) -> None:
    """A window moves, and others come and go beside it: so each slot lacks something at times."""
    show()
    other, before, last, compared = None, None, 0, 0
    for number in range(120):
        if number % 30 == 10:
            other = show()
        if number % 30 == 20:
            other.kill()
        frame = consumer.frame(LATE)
        try:
            with frame as pixels:
                picture = pixels[..., :3].copy()
        except gid.LeaseError:  # this program stood still
            before = None
            continue
        if before is not None and frame.sequence == last + 1:
            x, y, width, height = frame.damage
            changed = (picture != before).any(axis=2)
            changed[y : y + height, x : x + width] = False
            assert not changed.any()
            compared += 1
        before, last = picture, frame.sequence
    assert compared > 30


def test_nothing_is_drawn_where_somebody_reads(consumer: gid.Consumer, show: Show) -> None:
    show()
    was_kept = False
    while not was_kept:  # not where this program stood still until its lease was over
        frames = [consumer.frame(LATE) for _ in range(4)]
        views = [frame.picture for frame in frames]
        copies = [view.copy() for view in views]
        time.sleep(STILL)
        are_same = [(view == copy).all() for view, copy in zip(views, copies, strict=True)]
        are_held = [frame.current for frame in frames]
        assert all(same or not held for same, held in zip(are_same, are_held, strict=True))
        was_kept = all(are_held)
        for frame in frames:
            frame.release()
    for _ in range(10):  # more than there are slots: it goes on
        next_time(consumer)
