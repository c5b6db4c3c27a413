# SPDX-License-Identifier: MIT
"""Touch, pointer and keys on gid-cluster go back to whoever's picture is seen there.

A user in `driver` has the seat of a Weston in `cluster`, whose only window is gid-cluster. It shows
two desktops of `open`, which take what is done on them.
"""

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.display import Display, start_telltale
from lib.input_window import FIXED, InputWindow, seat_devices
from lib.program import wait_for
from lib.two_desks import CONFIG
from lib.typist import (
    AXIS,
    BUTTON,
    FULL,
    KEY,
    KEYBOARD,
    MOTION,
    TOUCH,
    TOUCH_DOWN,
    TOUCH_MOTION,
    TOUCH_UP,
    Typist,
)
from lib.weston import Weston

KEY_A, KEY_Q = 30, 16
BTN_LEFT = 0x110
SCREEN_SIZE, DESK_SIZE = (800, 360), (320, 180)
SCREEN = "[gid-output]\nname=screen\nstream=screen\nmode=800x360\ninput=driver\n"
DESKS = "".join(
    f"[gid-output]\nname={name}\nstream={name}\nmode=320x180\ninput=cluster\n"
    for name in ("back", "front")
)
SHOWN = "[display]\nworst-frame=0\nwidth=800\nheight=360\n"
# The desktop `back` is twice as large as its picture; `front` covers a quarter of it.
BACK = "[layer back]\ndomain=open\nwidth=640\nheight=360\n{}\n"
FRONT = "[layer front]\ndomain=open\nx=320\ny=180\nwidth=320\nheight=180\norder=1\n{}\n"
ROLE = "[role telltale]\ndomain=open\nwidth=320\nheight=80\ndeadline-ms=10000\n"
ALL = "input=all"


class Panel:
    """The desktops, the screen, and its user. Each test starts the display that it wants."""

    def __init__(self, folder: Path) -> None:
        self.cockpit = Cockpit(CONFIG)
        self.cockpit.start_all()
        self.desks = self._weston(folder / "desks", "open", DESKS, "desktop")
        # Its windows are as large as it is.
        self.screen = self._weston(folder / "screen", "cluster", SCREEN, "kiosk")
        self.typist = Typist(self.cockpit.env("driver"), "input/screen")

    def _weston(self, folder: Path, domain: str, config: str, kind: str) -> Weston:
        folder.mkdir()
        weston = Weston(folder, self.cockpit.env(domain), "pixman", kind, ["--no-outputs"])
        weston.configure(config)
        return weston.start()

    def close(self) -> None:
        self.typist.stop()
        for weston in (self.desks, self.screen):
            assert weston.stop() == 0, weston.read_log()
        self.cockpit.close()

    def show(self, layers: str) -> Display:
        inside = {"WAYLAND_DISPLAY": str(self.screen.socket), "WLR_BACKENDS": "wayland"}
        return Display(self.cockpit, layers, display=SHOWN, inside=inside)

    def window(self, name: str, display: Display) -> InputWindow:
        """On a desktop that is shown live, and has the devices of the display."""
        wait_for(lambda: seat_devices(self.desks, f"input/{name}") == 7, "the seat's devices")
        window = InputWindow(self.desks.socket, name, DESK_SIZE)
        wait_until_seen(display, name)
        return window

    def at(self, x: int, y: int) -> tuple[int, int]:
        """A place of the screen, in pixels, as an event says it."""
        width, height = SCREEN_SIZE
        return int((x + 0.5) / width * FULL), int((y + 0.5) / height * FULL)

    def touch(self, x: int, y: int, finger: int = 0) -> None:
        self.typist.do((TOUCH_DOWN, finger, 0, *self.at(x, y)))

    def move(self, x: int, y: int, finger: int = 0) -> None:
        self.typist.do((TOUCH_MOTION, finger, 0, *self.at(x, y)))

    def lift(self, finger: int = 0) -> None:
        self.typist.do((TOUCH_UP, finger, 0))

    def point(self, x: int, y: int) -> None:
        self.typist.do((MOTION, 0, 0, *self.at(x, y)))


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Panel]:
    made = Panel(tmp_path_factory.mktemp("panel"))
    yield made
    made.close()


def layer(display: Display, name: str) -> dict:
    return next(one for one in display.status()["layers"] if one["name"] == name)


def wait_until_seen(display: Display, name: str) -> None:
    """A picture is live before the screen has shown it: until then no finger can be on it."""
    wait_for(lambda: layer(display, name)["latency_count"] > 0, f"{name} to be seen")


def touched_front(panel: Panel, display: Display) -> InputWindow:
    """On the desktop `front`, which the display gives touch alone."""
    # Those of a display before go a second later, and nobody says how late a window is opened.
    wait_for(lambda: seat_devices(panel.desks, "input/front") == TOUCH, "what takes touch alone")
    wait_for(lambda: layer(display, "front")["input_readers"] == 1, "who takes it")
    window = InputWindow(panel.desks.socket, "front", DESK_SIZE, devices=("touch",), focused=False)
    wait_until_seen(display, "front")
    return window


def place_of(down: tuple) -> list[int]:
    return [round(at / FIXED) for at in down[-2:]]


def test_under_the_finger(panel: Panel) -> None:
    """Each picture gets what is done where it is seen, and no other one does."""
    display = panel.show(BACK.format(ALL) + FRONT.format(ALL) + ROLE)
    telltale = start_telltale(panel.cockpit)
    display.wait_role("live")
    back, front = panel.window("back", display), panel.window("front", display)
    panel.touch(500, 100)
    assert place_of(back.touch.wait("down")) == [250, 50]
    panel.touch(400, 300, finger=1)
    assert place_of(front.touch.wait("down")) == [80, 120]
    panel.move(420, 300, finger=1)
    assert place_of(front.touch.wait("motion")) == [100, 120]
    panel.lift()
    back.touch.wait("up")
    panel.lift(finger=1)
    front.touch.wait("up")
    before = layer(display, "back")["input_events"]
    panel.touch(100, 40)  # the role, which takes nothing, is above
    panel.lift()
    panel.touch(700, 100)  # nothing is there
    panel.lift()
    panel.touch(500, 100)
    back.touch.wait("down")
    panel.lift()
    back.touch.wait("up")
    assert layer(display, "back")["input_events"] == before + 2
    assert layer(display, "back")["input_readers"] == 1
    assert layer(display, "back")["input_left_out"] == 0
    telltale.kill()
    assert display.program.stop() == 0, display.program.stderr


def test_a_finger_that_leaves(panel: Panel) -> None:
    """It counts as lifted, and as nothing where it goes."""
    display = panel.show(BACK.format(ALL) + FRONT.format(ALL))
    back, front = panel.window("back", display), panel.window("front", display)
    panel.touch(500, 100)
    back.touch.wait("down")
    panel.move(500, 200)
    back.touch.wait("up")
    panel.move(500, 100)
    panel.lift()
    panel.touch(500, 200)
    front.touch.wait("down")
    panel.lift()
    front.touch.wait("up")
    assert not back.touch.has("down") and not front.touch.has("down")
    assert display.program.stop() == 0, display.program.stderr


def test_pointer_and_keys(panel: Panel) -> None:
    display = panel.show(BACK.format(ALL) + FRONT.format(ALL))
    back, front = panel.window("back", display), panel.window("front", display)
    for window, at, place in ((back, (500, 100), (250, 50)), (front, (400, 300), (80, 120))):
        panel.point(*at)
        window.wait_place(*place)
        panel.typist.click()
        assert window.wait_button() == (BTN_LEFT, 1)
        assert window.wait_button() == (BTN_LEFT, 0)
        panel.typist.type(KEY_A)  # to who was clicked last
        assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
    assert back.take_keys() == []
    assert display.program.stop() == 0, display.program.stderr


def test_the_wheel(panel: Panel) -> None:
    """Steps and distances come as they were, whatever size the picture is shown in."""
    display = panel.show(BACK.format(ALL))
    window = panel.window("back", display)
    # The pointer may have rested there before: who is new then hears nothing of it until it moves.
    for at, place in ((100, 50), (500, 250)):
        panel.point(at, 100)
        window.wait_place(place, 50)
    panel.typist.do((AXIS, 0, 1, 15 * FIXED, 120))
    assert window.pointer.wait("axis_source") == (0,)
    assert window.pointer.wait("axis_discrete") == (0, 1)
    assert window.pointer.wait("axis")[1:] == (0, 15 * FIXED)
    panel.typist.do((AXIS, 1, 1, -15 * FIXED, -120))
    assert window.pointer.wait("axis_discrete") == (1, -1)
    assert window.pointer.wait("axis")[1:] == (1, -15 * FIXED)
    assert display.program.stop() == 0, display.program.stderr


def test_only_what_is_allowed(panel: Panel) -> None:
    """A picture takes what the configuration says, and the others have no stream at all."""
    display = panel.show(BACK.format("") + FRONT.format("input=touch"))
    window = touched_front(panel, display)
    panel.point(400, 300)
    panel.typist.click()
    panel.typist.type(KEY_Q)
    panel.touch(100, 100, finger=1)  # of `back`
    panel.touch(400, 300)
    window.touch.wait("down")
    panel.lift()
    panel.lift(finger=1)
    window.touch.wait("up")
    assert layer(display, "front")["input_events"] == 2
    assert layer(display, "back")["input_readers"] == 0
    assert seat_devices(panel.desks, "input/front") == TOUCH
    flows = panel.cockpit.status("cluster")["streams"]
    assert "input/back" not in {flow["name"] for flow in flows}
    assert display.program.stop() == 0, display.program.stderr


@pytest.mark.parametrize("end", ["killed", "ended", "stopped", "stale"])
def test_nothing_stays_pressed(panel: Panel, end: str) -> None:
    """The display died, was ended, stands still, or shows an old picture."""
    late = "\ndeadline-ms=5000" if end == "stale" else ""
    display = panel.show(BACK.format(ALL + late) + FRONT.format("input=touch"))
    front = touched_front(panel, display)
    window = panel.window("back", display)
    panel.point(300, 100)  # it may have been at the other place before
    window.wait_place(150, 50)
    panel.point(500, 100)
    window.wait_place(250, 50)
    window.painter.paint(1)
    panel.typist.do((KEY, KEY_A, 1), (BUTTON, BTN_LEFT, 1), (TOUCH_DOWN, 0, 0, *panel.at(500, 100)))
    assert window.wait_button() == (BTN_LEFT, 1)
    assert window.wait_keys(1) == [(KEY_A, 1)]
    window.touch.wait("down")
    if end == "killed":
        display.program.kill()
    elif end == "ended":
        assert display.program.stop() == 0
    elif end == "stopped":
        display.program.signal(signal.SIGSTOP)
    assert window.wait_keys(1) == [(KEY_A, 0)]
    assert window.wait_button() == (BTN_LEFT, 0)
    window.touch.wait("up")
    if end == "stopped":
        display.program.signal(signal.SIGCONT)
    panel.typist.tell("release")
    if end == "stale":
        assert layer(display, "back")["state"] == "stale"
        panel.touch(500, 100)
        panel.lift()
        # Once `front` has heard of a later one, the display has seen this.
        panel.touch(400, 300)
        front.touch.wait("down")
        panel.lift()
        front.touch.wait("up")
        window.painter.paint(2)
        wait_for(lambda: layer(display, "back")["state"] == "live", "a new picture")
        panel.touch(500, 100)
        window.touch.wait("down")
        panel.lift()
        window.touch.wait("up")
        assert not window.touch.has("down"), "what was done on the old picture"
    display.program.kill()


def is_touched(panel: Panel, window: InputWindow) -> bool:
    """One that finds no room is left out, as long as what came before was not taken."""
    panel.touch(500, 100)
    panel.lift()
    with contextlib.suppress(TimeoutError):
        window.touch.wait("down", 1)
        window.touch.wait("up")
        return True
    return False


def test_a_flood(panel: Panel) -> None:
    """The display goes on, its ring leaves out what it has no room for, and nothing is stuck."""
    display = panel.show(BACK.format(ALL))
    window = panel.window("back", display)
    begun = display.status()["frames"]
    for i in range(100):
        x, y = panel.at(500 + i % 100, 100)
        panel.typist.tell(*[f"event {MOTION} 0 0 {x} {y}", f"event {KEY} {KEY_A} 1", "send"] * 40)
        panel.typist.tell(f"event {KEY} {KEY_A} 0", "send")
    panel.typist.tell("release")
    window.painter.paint(3)
    wait_for(lambda: display.status()["frames"] > begun, "the display to go on")
    wait_for(lambda: is_touched(panel, window), "a touch that found room")
    keys = window.take_keys()
    assert sum(state for _, state in keys) * 2 == len(keys)
    assert display.program.stop() == 0, display.program.stderr


def test_who_else_sends_it(panel: Panel) -> None:
    """A program that was first has the stream; the display says so, and gets it afterwards."""
    first = Typist(panel.cockpit.env("cluster"), "input/back", KEYBOARD)
    display = panel.show(BACK.format(ALL))
    said = "stream input/back: another program of this domain sends it"
    display.program.wait_output(said)
    asked = "stream input/back refused"
    begun, before = time.monotonic(), panel.cockpit.log("cluster").count(asked)
    wait_for(lambda: panel.cockpit.log("cluster").count(asked) > before, "another attempt")
    time.sleep(2)
    more = panel.cockpit.log("cluster").count(asked) - before
    assert more < time.monotonic() - begun + 4  # it tries once a second
    assert display.program.stderr.count(said) == 1
    first.stop()
    display.program.wait_output("stream input/back is taken")
    window = panel.window("back", display)
    panel.touch(500, 100)
    window.touch.wait("down")
    panel.lift()
    window.touch.wait("up")
    assert display.program.stop() == 0, display.program.stderr
