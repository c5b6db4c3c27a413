# SPDX-License-Identifier: MIT
"""Input of another domain in a real Weston: of whoever shows one of its outputs."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.input_window import FIXED, InputWindow, bind_seat, seat_devices, wait_keyboard
from lib.painter import Painter
from lib.program import BUILD, wait_for
from lib.typist import (
    AXIS,
    BUTTON,
    FULL,
    KEY,
    KEYBOARD,
    LEASE_MS,
    MOTION,
    POINTER,
    RELATIVE,
    TOUCH,
    TOUCH_DOWN,
    TOUCH_MOTION,
    TOUCH_UP,
    Typist,
)
from lib.weston import Weston

from lab.domains.configuration import configuration

SIZE = (640, 360)
DESK = "[gid-output]\nname=desk\nstream=desk\nmode=640x360\ninput=cluster\n"
SIDE = "[gid-output]\nname=side\nstream=side\nmode=640x360\ninput=open\n"
KEY_A, KEY_SHIFT, KEY_Q = 30, 42, 16
BTN_LEFT = 0x110
RATE, BURST = 4000, 1000  # of events that are played


class Desk:
    """A Weston in `open`. Its output `desk` is used from `cluster`, `side` from `open` itself."""

    def __init__(self, cockpit: Cockpit, folder: Path) -> None:
        self.cockpit = cockpit
        self.weston = Weston(folder, cockpit.env("open"))
        self.weston.configure(DESK + SIDE)
        self.weston.start()

    def typist(self, devices: int = 7, lease_ms: int = LEASE_MS) -> Typist:
        return Typist(self.cockpit.env("cluster"), "input/desk", devices, lease_ms)

    def window(self, output: str = "desk") -> InputWindow:
        return InputWindow(self.weston.socket, output, SIZE)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One for all tests, each of which leaves nothing pressed."""
    cockpit = Cockpit()
    cockpit.start_all()
    made = Desk(cockpit, tmp_path_factory.mktemp("desk"))
    yield made
    assert made.weston.stop() == 0, made.weston.read_log()
    cockpit.close()


def test_keys(desk: Desk) -> None:
    with desk.typist() as typist:
        window = desk.window()
        typist.press(KEY_SHIFT)
        typist.type(KEY_A)
        typist.lift(KEY_SHIFT)
        assert window.wait_keys(4) == [
            (KEY_SHIFT, 1),
            (KEY_A, 1),
            (KEY_A, 0),
            (KEY_SHIFT, 0),
        ]
        assert window.keyboard.has("modifiers")


def test_pointer(desk: Desk) -> None:
    with desk.typist() as typist:
        window = desk.window()
        typist.point(0.25, 0.5)
        window.wait_place(160, 180)
        typist.do((MOTION, 0, 0, FULL - 1, FULL - 1))
        window.wait_place(640, 360)
        typist.point(0.5, 0.5)
        window.wait_place(320, 180)
        typist.do((RELATIVE, 0, 0, 10 * FIXED, -20 * FIXED, 10 * FIXED, -20 * FIXED))
        window.wait_place(330, 160)
        typist.click()
        assert window.wait_button() == (BTN_LEFT, 1)
        assert window.wait_button() == (BTN_LEFT, 0)
        typist.do((AXIS, 0, 1, 15 * FIXED, 120))
        assert window.pointer.wait("axis_source") == (0,)
        assert window.pointer.wait("axis_discrete") == (0, 1)
        assert window.pointer.wait("axis")[1:] == (0, 15 * FIXED)


def test_wheels_of_high_resolution(desk: Desk) -> None:
    """An eighth of a step moves, and eight of them are one step."""
    with desk.typist() as typist:
        window = desk.window()
        typist.point(0.5, 0.5)
        window.wait_place(320, 180)
        for _ in range(8):
            typist.do((AXIS, 0, 1, 2 * FIXED, 15))
        window.pointer.wait("axis_discrete")
        typist.click()
        window.wait_button()
        window.wait_button()
        assert sum(name == "axis" for name, _ in window.pointer.events) == 8
        assert not window.pointer.has("axis_discrete")  # there was one


def test_fingers(desk: Desk) -> None:
    with desk.typist() as typist:
        window = desk.window()
        typist.do((TOUCH_DOWN, 0, 0, FULL // 4, FULL // 2), (TOUCH_DOWN, 5, 0, 0, 0))
        down = window.touch.wait("down")
        assert [round(at / FIXED) for at in down[4:]] == [160, 180]
        window.touch.wait("down")
        typist.do((TOUCH_MOTION, 0, 0, FULL // 2, FULL // 2))
        assert [round(at / FIXED) for at in window.touch.wait("motion")[2:]] == [320, 180]
        typist.do((TOUCH_UP, 0, 0), (TOUCH_UP, 5, 0))
        assert {window.touch.wait("up")[2] for _ in range(2)} == {down[3], down[3] + 5}


def test_two_seats_of_a_kiosk(tmp_path: Path) -> None:
    """Whose shell knows one: the keyboard of the other one goes to what is seen on its output."""
    cockpit = Cockpit()
    cockpit.start_all()
    weston = Weston(tmp_path, cockpit.env("open"))
    weston.command[weston.command.index("--shell=desktop-shell.so")] = "--shell=kiosk-shell.so"
    weston.configure(DESK + SIDE)
    weston.start()
    try:
        for domain, output in (("cluster", "desk"), ("open", "side")):
            with Typist(cockpit.env(domain), f"input/{output}") as typist:
                for key in (KEY_A, KEY_Q):  # the second window covers the first one
                    window = InputWindow(weston.socket, output, SIZE, focused=False)
                    typist.type(key)
                    assert window.wait_keys(2) == [(key, 1), (key, 0)], output
        assert weston.stop() == 0, weston.read_log()
    finally:
        cockpit.close()


@pytest.mark.parametrize("output", ["desk", "side"])
def test_windows_of_a_kiosk_that_come_and_go(tmp_path: Path, output: str) -> None:
    """The highest one has the keyboard without a key, also of the seat that the shell does not
    know."""
    cockpit = Cockpit()
    cockpit.start_all()
    weston = Weston(tmp_path, cockpit.env("open"), kind="kiosk", options=["--no-outputs"])
    weston.configure(DESK + SIDE)
    weston.start()
    domain = {"desk": "cluster", "side": "open"}[output]
    try:
        with Typist(cockpit.env(domain), f"input/{output}") as typist:
            first = InputWindow(weston.socket, output, SIZE)
            second = InputWindow(weston.socket, output, SIZE)
            first.keyboard.wait("leave")
            typist.type(KEY_A)
            assert second.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
            second.display.close()
            first.keyboard.wait("enter")
        assert weston.stop() == 0, weston.read_log()
    finally:
        cockpit.close()


@pytest.mark.parametrize("kind", ["desktop", "kiosk"])
def test_a_window_that_was_there_first(cockpit: Cockpit, tmp_path: Path, kind: str) -> None:
    """It has the keyboard as soon as there is one, without a key or a click."""
    weston = Weston(tmp_path, cockpit.env("open"), kind=kind, options=["--no-outputs"])
    weston.configure(DESK)
    weston.start()
    painter = Painter(weston.socket, "desk", SIZE)
    painter.paint(1)
    seat = bind_seat(painter.client.display, "input/desk")
    with Typist(cockpit.env("cluster"), "input/desk"):
        wait_keyboard(seat)
        seat("get_keyboard").wait("enter")
    assert weston.stop() == 0, weston.read_log()


@pytest.mark.parametrize("begun", ["by Weston", "after it"])
def test_a_program_that_was_there_first(cockpit: Cockpit, tmp_path: Path, begun: str) -> None:
    """The same of a program of Weston's, whose window is there before anybody has a keyboard."""
    command = ["stdbuf", "-oL", "weston-eventdemo", "--log-focus", "--log-redraw"]
    weston = Weston(tmp_path, cockpit.env("open"), options=["--no-outputs"])
    weston.configure(DESK)
    weston.command += ["--", *command] if begun == "by Weston" else []
    weston.start()
    program = weston.program if begun == "by Weston" else weston.client(command)
    program.wait_output("redraw")
    with Typist(cockpit.env("cluster"), "input/desk"):
        program.wait_output("focus x:")
    assert weston.stop() == 0, weston.read_log()


@pytest.mark.parametrize("end", ["released", "killed", "ended", "stopped"])
def test_nothing_stays_pressed(desk: Desk, end: str) -> None:
    """Its window lost the keyboard, its program died, was closed, or stands still."""
    typist = desk.typist(lease_ms=500 if end == "stopped" else LEASE_MS)
    window = desk.window()
    typist.point(0.5, 0.5)
    window.wait_place(320, 180)
    typist.do((KEY, KEY_A, 1), (BUTTON, BTN_LEFT, 1), (TOUCH_DOWN, 0, 0, 9, 9))
    assert window.wait_keys(1) == [(KEY_A, 1)]
    assert window.wait_button() == (BTN_LEFT, 1)
    window.touch.wait("down")
    if end == "released":
        typist.tell("release")
    elif end == "killed":
        typist.kill()
    elif end == "ended":
        typist.stop()
    else:
        typist.signal(signal.SIGSTOP)
    assert window.wait_keys(1) == [(KEY_A, 0)]
    assert window.wait_button() == (BTN_LEFT, 0)
    window.touch.wait("up")
    if end == "stopped":
        typist.signal(signal.SIGCONT)
        typist.lift(KEY_A)  # what was released is not released again
        typist.type(KEY_Q)
        assert window.wait_keys(2) == [(KEY_Q, 1), (KEY_Q, 0)]
    typist.stop()


def test_devices_that_are_gone(desk: Desk) -> None:
    """A program with one window sees which of them its user has, and what comes back is of use."""
    stream = "input/desk"
    with desk.typist() as typist:
        window = desk.window()
        typist.point(0.5, 0.5)
        window.wait_place(320, 180)
        typist.do((KEY, KEY_A, 1), (TOUCH_DOWN, 0, 0, 9, 9))
        assert window.wait_keys(1) == [(KEY_A, 1)]
        window.touch.wait("down")
        typist.tell(f"devices {POINTER}", "send")
        wait_for(lambda: seat_devices(desk.weston, stream) == 1, "a pointer alone")
        assert window.wait_keys(1) == [(KEY_A, 0)]
        window.touch.wait("up")
        window.keyboard.wait("leave")
        typist.lift(KEY_A)  # of a keyboard that is gone
        typist.do((TOUCH_UP, 0, 0))
        typist.click()
        assert window.wait_button() == (BTN_LEFT, 1)
        assert window.wait_button() == (BTN_LEFT, 0)
        typist.tell(f"devices {KEYBOARD}", "send")
        wait_for(lambda: seat_devices(desk.weston, stream) == 2, "a keyboard alone")
        typist.click()  # with no pointer
        typist.tell(f"devices {KEYBOARD | POINTER | TOUCH}", "send")
        wait_for(lambda: seat_devices(desk.weston, stream) == 7, "all of them")
    with desk.typist() as typist:
        window = desk.window()
        typist.point(0.25, 0.5)
        window.wait_place(160, 180)
        typist.type(KEY_Q)
        assert window.wait_keys(2) == [(KEY_Q, 1), (KEY_Q, 0)]
        typist.do((TOUCH_DOWN, 1, 0, FULL // 4, FULL // 2))
        typist.do((TOUCH_UP, 1, 0))
        window.touch.wait("down")
        window.touch.wait("up")


def test_what_is_held_stays_held(desk: Desk) -> None:
    """For longer than a lease: a sign of life comes by itself."""
    with desk.typist() as typist:
        window = desk.window()
        typist.press(KEY_A)
        window.wait_keys(1)
        leases = "input/desk of domain cluster is not there"
        before = desk.weston.read_log().count(leases)
        # no event can tell that nothing happens: three leases
        with pytest.raises(TimeoutError):
            window.display.wait_until(lambda: window.keyboard.has("key"), "a release", 1.5)
        assert desk.weston.read_log().count(leases) == before
        typist.lift(KEY_A)
        assert window.wait_keys(1) == [(KEY_A, 0)]


def test_one_after_the_other(desk: Desk) -> None:
    """Each key once, of whichever program; and the window keeps the keyboard meanwhile."""
    window = None
    for _ in range(3):
        typist = desk.typist()
        window = window or desk.window()
        typist.type(KEY_A)
        assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
        typist.kill()
    assert not window.keyboard.has("leave")


def test_a_second_one_at_once(desk: Desk) -> None:
    """A stream has one sender: who comes second is told so, and the first goes on."""
    with desk.typist(KEYBOARD) as typist:
        window = desk.window()
        with pytest.raises(AssertionError, match="input-peer ended"):
            desk.typist()
        typist.type(KEY_A)
        assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]


def test_the_keyboard_of_another_seat(desk: Desk) -> None:
    """Two users at once: neither has what the other one types, nor takes the keyboard from him."""
    with desk.typist() as here, Typist(desk.cockpit.env("open"), "input/side") as there:
        windows = {here: desk.window(), there: desk.window("side")}
        for typist, window in windows.items():  # a new window has got both keyboards
            typist.point(0.5, 0.5)
            window.wait_place(320, 180)
            typist.click()
            window.wait_button()
            window.wait_button()
            window.take_keys()
        for _ in range(10):
            here.type(KEY_A)
            there.type(KEY_Q)
        assert windows[here].wait_keys(20) == [(KEY_A, 1), (KEY_A, 0)] * 10
        assert windows[there].wait_keys(20) == [(KEY_Q, 1), (KEY_Q, 0)] * 10


def test_a_flood(desk: Desk) -> None:
    """No more is played than a second can have, and Weston is there for others."""
    with desk.typist() as typist:
        window = desk.window()
        typist.point(0.5, 0.5)
        window.wait_place(320, 180)
        begun = time.monotonic()
        for _ in range(100):
            typist.tell(*[f"event {AXIS} 0 0 256 0", "send"] * 200)
            window.display.roundtrip()
        typist.tell("release")
        window.display.roundtrip()
        passed = time.monotonic() - begun
        axes = sum(name == "axis" for name, _ in window.pointer.events)
        assert axes <= BURST + RATE * passed
        # a press has a place again
        wait_for(lambda: typist.type(KEY_Q) or window.take_keys(), "a key after the flood")


def test_what_is_no_input(cockpit: Cockpit, tmp_path: Path) -> None:
    """Pictures under the name of an input stream: nothing happens, and it is said."""
    desk = Desk(cockpit, tmp_path)
    peer = BUILD / "tests/lib/programs/stream-peer"
    liar = cockpit.run("cluster", [peer, "produce", "input/desk"])
    desk.weston.wait_log("input/desk of domain cluster is not there: its frames are no input")
    liar.kill()
    with desk.typist() as typist:
        wait_for(lambda: seat_devices(desk.weston, "input/desk") == 7, "the devices of who may")
        window = desk.window()
        typist.type(KEY_Q)
        assert window.wait_keys(2) == [(KEY_Q, 1), (KEY_Q, 0)]
    assert desk.weston.stop() == 0


@pytest.mark.parametrize(
    "line, words",
    [
        ("input=a/b", "input= must be the domain whose keys and pointer it takes"),
        ("input=cluster\nstream=" + "a" * 60, "stream= is too long for one with input="),
    ],
)
def test_mistakes(cockpit: Cockpit, tmp_path: Path, line: str, words: str) -> None:
    weston = Weston(tmp_path, cockpit.env("open"))
    stream = "" if "stream=" in line else "stream=desk\n"
    weston.configure(f"[gid-output]\nname=desk\n{stream}{line}\n")
    assert weston.launch().wait() != 0
    assert words in weston.read_log()


NOT_SHARED = configuration(
    {"open": "", "cluster": "local=*"}, {"open cluster": "*", "cluster open": "movie"}
)


@pytest.mark.cockpit(NOT_SHARED)
def test_input_that_is_not_shared(cockpit: Cockpit, tmp_path: Path) -> None:
    """Whose input it is says the configuration, as of any stream."""
    weston = Weston(tmp_path, cockpit.env("open"))
    weston.configure(DESK)
    weston.start()
    weston.wait_log("input/desk of domain cluster is not there: ")
    weston.stop()
