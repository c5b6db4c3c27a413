# SPDX-License-Identifier: MIT
"""Programs that lock or confine the pointer to a fullscreen window, as games do, wherever it is."""

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from lib.cockpit import Cockpit
from lib.input_window import FIXED, InputWindow, seat_devices
from lib.program import wait_for
from lib.typist import AXIS, BUTTON, MOTION, RELATIVE, Typist
from lib.weston import Weston, bind_output

from lab.domains.wayland import Display, Object

SIZE = (640, 360)
DESK = "[gid-output]\nname=desk\nstream=desk\nmode=640x360\ninput=cluster\n"
SIDE = "[gid-output]\nname=side\nstream=side\nmode=640x360\n"
SEAT = "input/desk"
BTN_LEFT = 0x110
GRANTED = {"lock_pointer": "locked", "confine_pointer": "confined"}

# In a kiosk nothing lies below the last window. On a desktop there is the background.
on_both = pytest.mark.parametrize("kind", ["kiosk", "desktop"])


@contextmanager
def at_once(display: Display) -> Iterator[None]:
    """What is requested meanwhile arrives together: the compositor draws nothing in between."""
    messages: list[bytes] = []

    def keep(number: int, opcode: int, payload: bytes, fds: Sequence[int] = ()) -> None:
        assert not fds
        messages.append(struct.pack("<IHH", number, opcode, 8 + len(payload)) + payload)

    with patch.object(display, "send_raw", keep):
        yield
    display.socket.sendall(b"".join(messages))


class Window(InputWindow):
    """A fullscreen one that hears the pointer of the desk's seat."""

    def __init__(self, weston: Weston, output: str) -> None:
        devices = ("keyboard", "pointer")
        super().__init__(weston.socket, output, SIZE, SEAT, devices, focused=False)

    def ask(self, way: str) -> Object:
        constraints = self.display.bind("zwp_pointer_constraints_v1")
        persistent = constraints.interface.enums["lifetime"]["persistent"]
        return constraints(way, self.painter.surface, self.pointer, None, persistent)

    def find(self, interface: str) -> Object:
        objects = self.display.objects.values()
        return next(one for one in objects if one.interface.name == interface)

    def go_to(self, name: str) -> None:
        """Another output."""
        surface, xdg_surface = self.painter.surface, self.find("xdg_surface")
        output = bind_output(self.display, name)
        surface.events.clear()
        xdg_surface.events.clear()
        for request in (("unset_fullscreen",), ("set_fullscreen", output)):
            self.find("xdg_toplevel")(*request)
            (serial,) = xdg_surface.wait("configure")
            xdg_surface("ack_configure", serial)
            self.painter.paint(2)
        self.display.wait_until(lambda: ("enter", (output,)) in surface.events, "that output")


class Game(Window):
    """One that wants the pointer as soon as it is a window, which was not drawn yet."""

    def __init__(self, weston: Weston, output: str, way: str = "lock_pointer") -> None:
        self.way = way
        super().__init__(weston, output)

    def prepare(self) -> None:
        manager = self.display.bind("zwp_relative_pointer_manager_v1")
        self.relative = manager("get_relative_pointer", self.pointer)
        surface = self.painter.surface
        with at_once(self.display):
            surface("attach", self.painter.buffers[0], 0, 0)
            surface("damage", 0, 0, *SIZE)
            surface("commit")
            self.wish = self.ask(self.way)


class Desk:
    """A Weston whose output `desk` is used from another domain; and one that nobody uses."""

    def __init__(self, cockpit: Cockpit, folder: Path, kind: str) -> None:
        self.weston = Weston(folder, cockpit.env("open"), kind=kind, options=["--no-outputs"])
        self.weston.configure(DESK, SIDE)
        self.weston.start()
        self.typist = Typist(cockpit.env("cluster"), SEAT)
        wait_for(lambda: seat_devices(self.weston, SEAT) == 7, "the seat's devices")


@pytest.fixture
def desk(make_cockpit: Callable[..., Cockpit], tmp_path: Path, kind: str) -> Iterator[Desk]:
    cockpit = make_cockpit()
    cockpit.start_all()
    made = Desk(cockpit, tmp_path, kind)
    yield made
    made.typist.stop()
    assert made.weston.stop() == 0, made.weston.read_log()


MIDDLE = (0, 0, 1 << 15, 1 << 15)
# What is done where the pointer is.
DONE = {
    "motion": (MOTION, *MIDDLE),
    "no motion": (RELATIVE, 0, 0, 0, 0, 0, 0),
    "a click": (BUTTON, BTN_LEFT, 1),
    "a wheel": (AXIS, 0, 1, 15 * FIXED, 120),
}
KEY_A = 30
PUSHED = (30 * FIXED, -20 * FIXED)


def push(desk: Desk) -> None:
    desk.typist.do((RELATIVE, 0, 0, *PUSHED, *PUSHED))


@on_both
def test_a_lock_of_a_new_window(desk: Desk) -> None:
    """Weston goes on, and the window has the pointer as soon as that comes."""
    game = Game(desk.weston, "desk")
    desk.typist.point(0.5, 0.5)
    game.wish.wait("locked")
    push(desk)
    while game.relative.wait("relative_motion")[2:4] != PUSHED:
        pass  # desktop-shell may have given it the pointer before that came
    game.wish("destroy")
    game.display.roundtrip()  # while a pointer is locked, no place of it counts
    desk.typist.point(0.25, 0.5)
    game.wait_place(160, 180)


@on_both
@pytest.mark.parametrize("done", DONE.values(), ids=DONE)
def test_where_the_pointer_is_after_a_lock(desk: Desk, done: tuple[int, ...]) -> None:
    """Its program is told before anything else, though that is where it was: Chromium counts the
    motion to a place of its own, and would take the next click for one that is there."""
    window = Window(desk.weston, "desk")
    desk.typist.do((MOTION, *MIDDLE))
    window.wait_place(320, 180)
    desk.typist.click()  # by which it has the keyboard, too
    wish = window.ask("lock_pointer")
    wish.wait("locked")
    push(desk)
    desk.typist.type(KEY_A)
    window.wait_keys(2)
    wish("destroy")
    window.display.roundtrip()
    window.pointer.events.clear()
    desk.typist.do(done)
    desk.typist.type(KEY_A)
    window.wait_keys(2)
    name, args = window.pointer.events[0]
    assert name == "motion"
    assert [round(at / FIXED) for at in args[1:]] == [320, 180]


@on_both
def test_a_confinement_of_a_new_window(desk: Desk) -> None:
    game = Game(desk.weston, "desk", "confine_pointer")
    push(desk)
    game.wish.wait("confined")
    desk.typist.point(0.75, 0.5)
    game.wait_place(480, 180)


@pytest.mark.parametrize(("way", "kind"), [(way, "kiosk") for way in GRANTED])
def test_a_window_elsewhere(desk: Desk, way: str) -> None:
    """The pointer of this output is for its windows. desktop-shell gives a new one all seats."""
    game = Game(desk.weston, "side", way)
    desk.typist.point(0.5, 0.5)
    window = Window(desk.weston, "desk")
    desk.typist.point(0.25, 0.5)
    window.wait_place(160, 180)
    game.display.roundtrip()
    assert not game.wish.has(GRANTED[way])


@on_both
def test_a_window_that_is_covered(desk: Desk) -> None:
    """It gets the pointer when it is not covered any more."""
    below = Window(desk.weston, "desk")
    above = Window(desk.weston, "desk")
    desk.typist.point(0.5, 0.5)
    above.wait_place(320, 180)
    desk.typist.click()
    wish = below.ask("lock_pointer")
    below.display.roundtrip()
    desk.typist.point(0.25, 0.5)
    above.wait_place(160, 180)
    below.display.roundtrip()
    assert not wish.has("locked")
    above.display.close()

    def is_locked() -> bool:
        desk.typist.point(0.5, 0.5)
        desk.typist.point(0.25, 0.25)
        below.display.roundtrip()
        return wish.has("locked")

    wait_for(is_locked, "the pointer to be locked to the window that was below")


@pytest.mark.parametrize(("way", "kind"), [(way, "desktop") for way in GRANTED])
def test_a_window_that_goes_elsewhere(desk: Desk, way: str) -> None:
    """With the pointer that it had: what is left here gets that as it moves next."""
    below = Window(desk.weston, "desk")
    game = Game(desk.weston, "desk", way)
    push(desk)
    game.wish.wait(GRANTED[way])
    game.go_to("side")
    desk.typist.point(0.25, 0.5)
    below.wait_place(160, 180)
    desk.typist.click()
    assert below.wait_button() == (BTN_LEFT, 1)


@on_both
def test_a_program_that_has_no_seat_any_more(desk: Desk) -> None:
    """Its pointer is one of a device that has gone."""
    window = Window(desk.weston, "desk")
    desk.typist.tell("devices 1", "send")
    wait_for(lambda: seat_devices(desk.weston, SEAT) == 2, "the pointer's end")
    wish = window.ask("lock_pointer")
    window.display.roundtrip()
    assert not wish.has("locked")
