# SPDX-License-Identifier: MIT
"""cursor=true: the cursor of a desktop, or of a window, is a stream that its user's view shows."""

import ctypes
import signal
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.forwarding import ShmBuffers
from lib.input_window import FIXED, InputWindow, Lock, seat_devices
from lib.program import BUILD, wait_for
from lib.stream_reader import Frame, StreamReader
from lib.two_desks import CONFIG, DESK_SIZE, TwoDesks
from lib.typist import RELATIVE, Typist
from lib.weston import ARGB8888, SHM_FORMATS, Weston

from lab.domains.wayland import Object

LIBGID = BUILD / "libgid/libgid.so"
CURSOR = "cursor/desk"
KEY_A, KEY_SCROLL_LOCK = 30, 70
SIDE = 24
EMPTY, TOO_LARGE = 1, 2  # enum gid_hidden
OWN = "cursor=true\n"
DESK = f"[gid-output]\nname=desk\nstream=desk\nmode=640x360\ninput=cluster\n{OWN}"
LEARNT_S = 0.2  # mostly; else it is tried again
HEARTBEAT_S = 0.5  # of the cursor's stream
LEFT, SCREEN_WIDTH = 80, 800  # of the picture on the screen


class Shaped:
    """The cursor of a window that has the pointer."""

    def __init__(self, window: InputWindow) -> None:
        self.window, self.display = window, window.display
        self.surface = self.display.bind("wl_compositor", 4)("create_surface")

    def set(self, seed: int, x: int, y: int, side: int = SIDE, scale: int = 1) -> numpy.ndarray:
        """Returns its picture: blue, green, red. Every other row is not to be seen."""
        noise = numpy.random.default_rng([seed, 9]).integers(0, 256, (side, side, 4), numpy.uint8)
        noise[..., 3] = 255
        noise[1::2] = 0
        buffer = ShmBuffers(self.display, side, side).draw_raw(
            noise.tobytes(), SHM_FORMATS[ARGB8888]
        )
        self._set_cursor(self.surface, x, y)
        self.surface("set_buffer_scale", scale)
        self.surface("attach", buffer, 0, 0)
        self.surface("damage_buffer", 0, 0, side, side)
        self.surface("commit")
        self.display.roundtrip()
        return noise[..., :3]

    def hide(self) -> None:
        self._set_cursor(None, 0, 0)
        self.display.roundtrip()

    def _set_cursor(self, surface: Object | None, x: int, y: int) -> None:
        self.window.last_place()
        self.window.pointer("set_cursor", self.window.entered, surface, x, y)


class CursorReader(StreamReader):
    """Of the stream of a cursor: what its notes say, too."""

    def wait_said(self, x: int, y: int, locked: bool) -> None:
        while True:
            frame = Frame()
            if self.lib.gid_consumer_receive(self.consumer, ctypes.byref(frame)) != 1:
                assert self.wait(60), f"no note of {x}, {y}, {locked}"
                continue
            note = ctypes.string_at(frame.note, frame.note_size) if frame.note_size else b""
            self.lib.gid_consumer_release(self.consumer, ctypes.byref(frame))
            if note == struct.pack("<HHhhH", 3, 10, x, y, locked):
                return


class Desk:
    """A Weston in `open`, whose output is used from `cluster`."""

    def __init__(self, cockpit: Cockpit, folder: Path) -> None:
        self.cockpit = cockpit
        self.weston = Weston(folder, cockpit.env("open"))
        self.weston.configure(DESK)
        self.weston.start()
        self.typist = Typist(cockpit.env("cluster"), "input/desk")
        wait_for(lambda: seat_devices(self.weston, "input/desk") == 7, "the seat's devices")
        self.window = InputWindow(self.weston.socket, "desk", DESK_SIZE)
        self.cursor = Shaped(self.window)
        self.typist.point(0.5, 0.5)
        self.window.wait_place(320, 180)

    def read(self) -> CursorReader:
        return CursorReader(LIBGID, self.cockpit.socket("cluster"), CURSOR, "open")

    def is_in_picture(self, shape: numpy.ndarray) -> bool:
        """Whether its first row is on the output, somewhere."""
        picture = self.weston.screenshot("desk")
        rows = numpy.ascontiguousarray(picture).tobytes()
        return shape[0].tobytes() in rows

    def finish(self) -> None:
        self.typist.stop()
        assert self.weston.stop() == 0, self.weston.read_log()


@pytest.fixture
def desk(cockpit: Cockpit, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(cockpit, tmp_path)
    yield made
    made.finish()


def test_its_shape(desk: Desk) -> None:
    """As its program draws it, where it points, and that there is none."""
    with desk.read() as reader:
        for seed, (x, y) in enumerate([(5, 7), (0, 0), (-3, 40)]):
            reader.wait_picture(desk.cursor.set(seed, x, y))
            desk.cursor.set(seed, x, y)
            reader.wait_said(x, y, False)
        desk.cursor.hide()
        reader.wait_hidden(EMPTY)
        reader.wait_picture(desk.cursor.set(9, 1, 1))


def test_places_without_an_end(desk: Desk) -> None:
    """Where it points is any number, and so is the scale by which that counts."""
    with desk.read() as reader:
        for _ in range(2):
            desk.cursor.set(1, (1 << 31) - 1, -(1 << 31), scale=2)
        reader.wait_said((1 << 15) - 1, -(1 << 15), False)


def test_who_comes_late(desk: Desk) -> None:
    shape = desk.cursor.set(1, 5, 5)
    for _ in range(2):
        with desk.read() as reader:
            reader.wait_picture(shape)


def test_it_is_drawn_once(desk: Desk) -> None:
    """In the desktop's picture, unless somebody reads it."""
    shape = desk.cursor.set(1, 5, 5)
    wait_for(lambda: desk.is_in_picture(shape), "the cursor in the picture")
    with desk.read() as reader:
        reader.wait_picture(shape)
        wait_for(lambda: not desk.is_in_picture(shape), "the picture without it")
        another = desk.cursor.set(2, 5, 5)
        reader.wait_picture(another)
        desk.typist.point(0.25, 0.25)
        desk.window.wait_place(160, 90)
        assert not desk.is_in_picture(another)
    wait_for(lambda: desk.is_in_picture(another), "the cursor in the picture again")


def test_one_that_is_too_large(desk: Desk) -> None:
    """It stays in the picture."""
    with desk.read() as reader:
        shape = desk.cursor.set(1, 5, 5, 300)
        reader.wait_hidden(TOO_LARGE)
        wait_for(lambda: desk.is_in_picture(shape), "the cursor in the picture")


def test_a_flood_of_cursors(desk: Desk) -> None:
    """125 a second are sent at most, and the last one."""
    with desk.read() as reader:
        reader.wait_picture(desk.cursor.set(0, 1, 1))
        for seed in range(1, 300):
            last = desk.cursor.set(seed, 1, 1)
        reader.wait_picture(last)


def test_a_locked_pointer_is_told(desk: Desk) -> None:
    """And nothing of a place reaches its program meanwhile, but motion."""
    window = desk.window
    desk.typist.click()
    window.wait_button()
    window.wait_button()
    with desk.read() as reader:
        desk.cursor.set(1, 2, 3)
        reader.wait_said(2, 3, False)
        lock = Lock(window.display, window.painter.surface, window.pointer)
        desk.typist.do((RELATIVE, 0, 0, 10 * FIXED, 0, 10 * FIXED, 0))
        lock.wait_moved(10, 0)
        reader.wait_said(2, 3, True)
        desk.typist.point(0.75, 0.25)
        lock.wait_moved(160, -90)
        lock.end()
        desk.typist.point(0.5, 0.5)
        reader.wait_said(2, 3, False)
        window.wait_place(320, 180)


# --- gid-view -----------------------------------------------------------------------------------


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[TwoDesks]:
    cockpit = Cockpit(CONFIG)
    cockpit.start_all()
    made = TwoDesks(cockpit, tmp_path, keys=(OWN, ""))
    yield made
    made.finish()
    cockpit.close()


def part_of_screen(x: int, y: int) -> tuple[float, float]:
    """That pixel of the desktop's picture, nearer to it than to the next."""
    return (LEFT + x + 0.25) / SCREEN_WIDTH, (y + 0.25) / DESK_SIZE[1]


def expect_cursor(desks: TwoDesks, shape: numpy.ndarray, x: int, y: int) -> None:
    """On the screen, in front of what is there, which every other row shows."""

    def there() -> bool:
        screen = desks.screen.screenshot("screen")
        return numpy.array_equal(screen[y : y + SIDE : 2, LEFT + x : LEFT + x + SIDE], shape[::2])

    wait_for(there, "the cursor on the screen")


def test_gid_view_shows_it(desks: TwoDesks) -> None:
    view, window = desks.use()
    cursor = Shaped(window)
    desks.typist.point(*part_of_screen(100, 50))
    window.wait_place(100, 50)
    expect_cursor(desks, cursor.set(1, 5, 7), 95, 43)
    desks.typist.point(*part_of_screen(200, 80))
    window.wait_place(200, 80)
    shape = cursor.set(2, 0, 0)
    expect_cursor(desks, shape, 200, 80)
    picture = desks.desk.screenshot("desk")
    assert not numpy.array_equal(picture[80 : 80 + SIDE : 2, 200 : 200 + SIDE], shape[::2])
    cursor.hide()
    wait_for(
        lambda: numpy.array_equal(
            desks.screen.screenshot("screen")[:, LEFT : LEFT + DESK_SIZE[0]],
            desks.desk.screenshot("desk"),
        ),
        "the screen without a cursor",
    )
    assert view.stop() == 0


def test_a_view_that_slept(desks: TwoDesks) -> None:
    """For longer than signs of life take to push out what was new: it has that all the same."""
    view, window = desks.use()
    cursor = Shaped(window)
    desks.typist.point(*part_of_screen(100, 50))
    window.wait_place(100, 50)
    expect_cursor(desks, cursor.set(1, 0, 0), 100, 50)
    view.signal(signal.SIGSTOP)
    shape = cursor.set(2, 0, 0)
    time.sleep(4 * HEARTBEAT_S)
    view.signal(signal.SIGCONT)
    expect_cursor(desks, shape, 100, 50)
    assert view.stop() == 0


def push_right(desks: TwoDesks, window: InputWindow, lock: Lock, times: int) -> float:
    """How far that moved the pointer of the desktop, in pixels."""
    desks.typist.type(KEY_A)
    window.wait_keys(2)
    lock.relative.events.clear()
    for _ in range(times):
        desks.typist.do((RELATIVE, 0, 0, 50 * FIXED, 0, 50 * FIXED, 0))
    desks.typist.type(KEY_A)
    window.wait_keys(2)
    moved = [args[2] / FIXED for name, args in lock.relative.events if name == "relative_motion"]
    return round(sum(moved))


def is_endless(desks: TwoDesks, window: InputWindow, lock: Lock) -> bool:
    """Whether the pointer moves without an edge, from the middle of the picture on."""
    desks.typist.point(*part_of_screen(320, 180))
    desks.typist.click()  # without which Weston locks no pointer
    push_right(desks, window, lock, 1)  # by which the view learns of the lock
    time.sleep(LEARNT_S)
    return push_right(desks, window, lock, 20) == 1000


def test_gid_view_locks_the_pointer(desks: TwoDesks) -> None:
    """As long as a program of the desktop wants it, or until its user does not."""
    view, window = desks.use()
    typist = desks.typist
    typist.point(*part_of_screen(320, 180))
    window.wait_place(320, 180)
    typist.click()
    window.wait_button()
    window.wait_button()
    lock = Lock(window.display, window.painter.surface, window.pointer)
    wait_for(lambda: is_endless(desks, window, lock), "no edge to be in the way", pause=0.5)
    typist.type(KEY_SCROLL_LOCK)
    # The screen hears of it later than the keys that are pressed next come to the window.
    wait_for(lambda: push_right(desks, window, lock, 20) > 0, "the pointer to be free")
    push_right(desks, window, lock, 20)
    assert push_right(desks, window, lock, 20) == 0  # it is at the edge of the picture
    lock.end()
    typist.point(*part_of_screen(100, 50))
    window.wait_place(100, 50)
    time.sleep(LEARNT_S)
    lock = Lock(window.display, window.painter.surface, window.pointer)
    wait_for(lambda: is_endless(desks, window, lock), "it to be locked again", pause=0.5)
    lock.end()
    wait_for(lambda: is_placed(desks, window, 9, 9), "the pointer to be free")
    assert view.stop() == 0


def is_placed(desks: TwoDesks, window: InputWindow, x: int, y: int) -> bool:
    """Whether the pointer is there, once its user has moved it there."""
    desks.typist.point(*part_of_screen(x, y))
    window.display.roundtrip()
    at_x, at_y = window.last_place()
    return abs(at_x - x) <= 1 and abs(at_y - y) <= 1
