# SPDX-License-Identifier: MIT
"""Pens of graphics tablets cross with their pressure: in a real Weston, and in a window of one."""

import signal
from collections.abc import Iterator

import pytest
from lib.cockpit import Cockpit
from lib.input_window import FIXED, InputWindow
from lib.pen_window import ERASER, PEN, STYLUS, STYLUS_3, TIP, PenWindow
from lib.program import Program, wait_for
from lib.two_desks import CONFIG, DESK_SIZE, TwoDesks
from lib.typist import (
    BUTTON,
    FULL,
    KEY,
    LEASE_MS,
    MOTION,
    PEN_BUTTON,
    PEN_MOTION,
    PEN_NEAR,
    Typist,
)
from lib.weston import Weston

DEVICES = 15  # with pens
BTN_LEFT, BTN_RIGHT, KEY_A = 0x110, 0x111, 30
DESK = "[gid-output]\nname=desk\nstream=desk\nmode=640x360\ninput=cluster\n"
LEFT, WIDTH = 80 / 800, 640 / 800  # of the picture on the screen


@pytest.fixture(scope="module")
def cockpit() -> Iterator[Cockpit]:
    made = Cockpit(CONFIG)
    made.start_all()
    yield made
    made.close()


@pytest.fixture(scope="module")
def desk(cockpit: Cockpit, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weston]:
    """One for all tests that need no window of it, each of which leaves no pen near."""
    weston = Weston(tmp_path_factory.mktemp("desk"), cockpit.env("open"))
    weston.configure(DESK)
    weston.start()
    yield weston
    assert weston.stop() == 0, weston.read_log()


@pytest.fixture
def typist(cockpit: Cockpit, desk: Weston) -> Iterator[Typist]:
    with Typist(cockpit.env("cluster"), "input/desk", DEVICES) as made:
        wait_tablets(desk)
        yield made


def wait_tablets(weston: Weston) -> None:
    wait_for(lambda: weston.has_global("zwp_tablet_manager_v2"), "tablets")


def near(tool: int) -> tuple[int, ...]:
    return (PEN_NEAR, tool, 1)


def gone(tool: int) -> tuple[int, ...]:
    return (PEN_NEAR, tool, 0)


def press(button: int, pressed: int = 1) -> tuple[int, ...]:
    return (PEN_BUTTON, button, pressed)


def move(x: float, y: float, pressure: int = 0, tilt: tuple[int, int] = (0, 0)) -> tuple[int, ...]:
    """Places as parts of the picture, the tilt in degrees."""
    return (PEN_MOTION, 0, pressure, int(x * FULL), int(y * FULL), *(at * FIXED for at in tilt))


def place(told: tuple) -> tuple[int, int]:
    return round(told[0] / FIXED), round(told[1] / FIXED)


def test_all_that_a_pen_does(desk: Weston, typist: Typist) -> None:
    window = PenWindow(desk.socket, "desk", DESK_SIZE)
    typist.do(near(PEN), move(0.25, 0.5, 0, (30, -45)))
    tool = window.tool(PEN)
    assert place(tool.wait("motion")) == (160, 180)
    window.wait_pen(tool, ("pressure", 0), ("tilt", 30 * FIXED, -45 * FIXED), ("frame",))
    typist.do(press(TIP), move(0.5, 0.25, 12345))
    assert place(tool.wait("motion")) == (320, 90)
    window.wait_pen(tool, ("down",), ("pressure", 12345), ("tilt", 0, 0), ("frame",))
    typist.do(press(STYLUS), press(STYLUS_3))
    window.wait_pen(tool, ("button", STYLUS, 1), ("button", STYLUS_3, 1), ("frame",))
    typist.do(press(STYLUS, 0), press(STYLUS_3, 0), press(TIP, 0))
    window.wait_pen(tool, ("button", STYLUS, 0), ("button", STYLUS_3, 0), ("up",), ("frame",))
    typist.do(gone(PEN))
    window.wait_pen(tool, ("proximity_out",), ("frame",))
    assert not window.pointer.has("motion") and not window.pointer.has("button")


def test_the_other_end_of_a_pen(desk: Weston, typist: Typist) -> None:
    """Is another tool, which programs erase with."""
    window = PenWindow(desk.socket, "desk", DESK_SIZE)
    typist.do(near(ERASER), move(0.5, 0.5))
    tool = window.tool(ERASER)
    window.wait_pen(tool, ("proximity_in",), ("frame",))
    typist.do(near(PEN), move(0.25, 0.25))  # two at once: the second is not heard
    typist.do(press(TIP))
    window.wait_pen(tool, ("down",), ("frame",))
    typist.do(gone(ERASER))
    window.wait_pen(tool, ("up",), ("proximity_out",))


def test_a_program_that_knows_none(desk: Weston, typist: Typist) -> None:
    """Has it as a pointer."""
    window = InputWindow(desk.socket, "desk", DESK_SIZE)
    typist.do(near(PEN), move(0.25, 0.5))
    window.wait_place(160, 180)
    typist.do(press(TIP), move(0.25, 0.5, 5000))
    assert window.wait_button() == (BTN_LEFT, 1)
    typist.do(move(0.5, 0.5, 5000))
    window.wait_place(320, 180)
    typist.do(press(TIP, 0), press(STYLUS))
    assert window.wait_button() == (BTN_LEFT, 0)
    assert window.wait_button() == (BTN_RIGHT, 1)
    typist.do(gone(PEN))
    assert window.wait_button() == (BTN_RIGHT, 0)


def test_a_pen_and_a_mouse(desk: Weston, typist: Typist) -> None:
    """Each is what it is."""
    window = PenWindow(desk.socket, "desk", DESK_SIZE)
    typist.do((MOTION, 0, 0, FULL // 2, FULL // 2), (BUTTON, BTN_LEFT, 1))
    assert window.wait_button() == (BTN_LEFT, 1)
    typist.do(near(PEN), move(0.25, 0.5), press(TIP))
    tool = window.tool(PEN)
    window.wait_pen(tool, ("down",), ("frame",))
    typist.do((BUTTON, BTN_LEFT, 0))
    assert window.wait_button() == (BTN_LEFT, 0)
    typist.do(gone(PEN))
    window.wait_pen(tool, ("up",), ("proximity_out",))
    assert not window.pointer.has("button")


@pytest.mark.parametrize("end", ["killed", "silent"])
def test_nothing_stays_pressed(cockpit: Cockpit, desk: Weston, end: str) -> None:
    lease_ms = LEASE_MS if end == "killed" else 2000
    user = Typist(cockpit.env("cluster"), "input/desk", DEVICES, lease_ms)
    wait_tablets(desk)
    window = PenWindow(desk.socket, "desk", DESK_SIZE)
    user.do(near(PEN), move(0.25, 0.5, 9), press(TIP), press(STYLUS))
    tool = window.tool(PEN)
    window.wait_pen(tool, ("down",), ("button", STYLUS, 1), ("frame",))
    if end == "killed":
        user.kill()
    else:
        user.signal(signal.SIGSTOP)
    window.wait_pen(tool, ("up",), ("button", STYLUS, 0), ("proximity_out",))
    user.kill()


def test_a_window_that_goes(desk: Weston, typist: Typist) -> None:
    """Under the pen: what is below it then gets it."""
    below = PenWindow(desk.socket, "desk", DESK_SIZE)
    above = PenWindow(desk.socket, "desk", DESK_SIZE)
    typist.do(near(PEN), move(0.25, 0.5), press(TIP))
    above.wait_pen(above.tool(PEN), ("down",), ("frame",))
    above.display.close()
    typist.do(press(TIP, 0))
    tool = below.tool(PEN)

    def comes() -> bool:
        typist.do(move(0.25, 0.25))
        typist.do(move(0.5, 0.5))
        below.display.roundtrip()
        return tool.has("motion")

    wait_for(comes, "the pen on the window below")
    typist.do(press(TIP))
    below.wait_pen(tool, ("down",), ("frame",))
    typist.do(gone(PEN))
    below.wait_pen(tool, ("up",), ("proximity_out",))


@pytest.fixture(scope="module")
def desks(cockpit: Cockpit, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoDesks]:
    made = TwoDesks(cockpit, tmp_path_factory.mktemp("desks"), "drawn", devices=DEVICES)
    yield made
    made.finish()


def begin(desks: TwoDesks) -> tuple[Program, PenWindow]:
    """A view whose pens are there, and a window that knows them on what it shows."""
    view = desks.view()
    wait_tablets(desks.desk)
    window = PenWindow(desks.desk.socket, desks.name, DESK_SIZE)
    desks.settle(window)
    return view, window


def on_screen(x: float) -> float:
    """Of the picture's width, as part of the screen's."""
    return LEFT + WIDTH * x


def test_through_a_window(desks: TwoDesks) -> None:
    """What a pen does on the picture it does on the desktop, and nothing beside it."""
    view, window = begin(desks)
    typist = desks.typist
    typist.do(near(PEN), move(on_screen(0.25), 0.5, 0, (30, -45)))
    tool = window.tool(PEN)
    assert place(tool.wait("motion")) == (160, 180)
    window.wait_pen(tool, ("tilt", 30 * FIXED, -45 * FIXED), ("frame",))
    typist.do(press(TIP), move(on_screen(0.5), 0.25, 54321))
    assert place(tool.wait("motion")) == (320, 90)
    window.wait_pen(tool, ("pressure", 54321), ("down",), ("frame",))
    typist.do(press(STYLUS))
    window.wait_pen(tool, ("button", STYLUS, 1), ("frame",))
    typist.do(move(0.01, 0.5, 7))  # beside the picture, with the tip down
    window.wait_pen(tool, ("pressure", 7), ("frame",))
    typist.do(press(STYLUS, 0), press(TIP, 0), move(0.01, 0.5))
    window.wait_pen(tool, ("up",), ("button", STYLUS, 0), ("proximity_out",))
    typist.do(press(TIP), move(0.02, 0.5, 9))
    typist.do(move(on_screen(0.5), 0.5, 9))  # pressed beside it: not there until it is lifted
    typist.do((KEY, KEY_A, 1))
    typist.do((KEY, KEY_A, 0))
    window.wait_keys(2)
    assert not tool.has("proximity_in") and not tool.has("down")
    typist.do(press(TIP, 0), move(on_screen(0.5), 0.5))
    window.wait_pen(tool, ("proximity_in",), ("frame",))
    typist.do(gone(PEN))
    window.wait_pen(tool, ("proximity_out",))
    assert view.stop() == 0


def test_an_eraser_through_a_window(desks: TwoDesks) -> None:
    view, window = begin(desks)
    desks.typist.do(near(ERASER), move(on_screen(0.75), 0.5), press(TIP))
    tool = window.tool(ERASER)
    window.wait_pen(tool, ("down",), ("frame",))
    desks.typist.do(gone(ERASER))
    window.wait_pen(tool, ("up",), ("proximity_out",))
    assert view.stop() == 0


@pytest.mark.parametrize("end", ["killed", "closed"])
def test_a_window_that_ends(desks: TwoDesks, end: str) -> None:
    view, window = begin(desks)
    desks.typist.do(near(PEN), move(on_screen(0.5), 0.5, 99), press(TIP))
    tool = window.tool(PEN)
    window.wait_pen(tool, ("down",), ("frame",))
    if end == "killed":
        view.kill()
    else:
        assert view.stop() == 0
    window.wait_pen(tool, ("up",), ("proximity_out",))
    desks.typist.do(gone(PEN))
