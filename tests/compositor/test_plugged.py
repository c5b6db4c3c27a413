# SPDX-License-Identifier: MIT
"""Outputs that are unplugged, plugged in, turned, or asleep, while another domain uses them."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.input_window import FIXED, InputWindow, seat_devices
from lib.pen_window import PEN, TIP, PenWindow
from lib.plugged import PluggedWeston
from lib.program import BUILD, wait_for
from lib.stream_reader import StreamReader
from lib.two_desks import CONFIG, DESK_SIZE, TwoDesks
from lib.typist import (
    BUTTON,
    FULL,
    KEY,
    PEN_BUTTON,
    PEN_MOTION,
    PEN_NEAR,
    TOUCH_DOWN,
    TOUCH_UP,
    Typist,
)
from lib.valgrind import VALGRIND, complaints
from lib.weston import HEIGHT, WIDTH

LIBGID = BUILD / "libgid/libgid.so"
MIRROR = "[gid-output]\nmirror=headless\nstream=desk\ninput=cluster\n"
SCREEN = "headless"  # Weston's own, which has a cable
KEY_A, KEY_Q, BTN_LEFT = 30, 16, 0x110
LEFT = 80  # of the picture on the other screen
BELOW_CURSOR = 200  # which is nearer to the top
ASLEEP_S = 0.5


class Plugged(TwoDesks):
    def _weston(
        self, folder: Path, domain: str, config: str, kind: str = "desktop"
    ) -> PluggedWeston:
        folder.mkdir()
        weston = PluggedWeston(folder, self.cockpit.env(domain), kind=kind)
        weston.configure(config)
        return weston.start()


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[Plugged]:
    cockpit = Cockpit(CONFIG)
    cockpit.start_all()
    made = Plugged(cockpit, tmp_path)
    yield made
    made.finish()
    cockpit.close()


def test_the_screen_of_a_view(desks: Plugged) -> None:
    """It is shown, and used, on the one that is left; and goes back when its own one does."""
    view = desks.taken(desks.start("--desktop=open", "--stream=desk", f"--output={SCREEN}"))
    window = desks.window()
    picture = window.painter.paint(2)

    def is_seen() -> bool:
        screen = desks.screen.screenshot("screen")[:, LEFT : LEFT + DESK_SIZE[0]]
        return numpy.array_equal(screen[BELOW_CURSOR:], picture[BELOW_CURSOR:])

    for key in (KEY_A, KEY_Q):
        wait_for(lambda: desks.screen.screenshot(SCREEN).max() > 100, "the picture")
        desks.screen.order("unplug", SCREEN)
        wait_for(is_seen, "the picture on the other screen")
        desks.settle(window)
        desks.typist.type(key)
        assert window.wait_keys(2) == [(key, 1), (key, 0)]
        desks.screen.order("plug", SCREEN)
        wait_for(lambda: not is_seen(), "its way back")
    assert view.stop() == 0


@pytest.fixture
def mirrored(cockpit: Cockpit, tmp_path: Path) -> Iterator[PluggedWeston]:
    weston = PluggedWeston(tmp_path, cockpit.env("open"))
    weston.configure(MIRROR)
    yield weston.start()
    assert weston.stop() == 0, weston.read_log()


def wait_corner(reader: StreamReader, picture: numpy.ndarray) -> None:
    """That the stream shows the picture, apart from where its cursor is."""
    corner = slice(HEIGHT * 3 // 4, None), slice(0, WIDTH // 4)
    wait_for(
        lambda: numpy.array_equal(reader.next().pixels[corner], picture[corner]), "the picture"
    )


def test_a_screen_that_is_used(cockpit: Cockpit, mirrored: PluggedWeston) -> None:
    """Its stream and its seat go with it. What was held meanwhile is not, when they are back."""
    place = (LIBGID, cockpit.socket("cluster"), "desk", "open")
    with Typist(cockpit.env("cluster"), "input/desk") as typist, StreamReader(*place) as reader:
        for seed in (1, 2, 3):
            wait_for(lambda: seat_devices(mirrored, "input/desk") == 7, "the seat's devices")
            window = InputWindow(mirrored.socket, SCREEN, (WIDTH, HEIGHT), "input/desk")
            picture = window.painter.paint(seed)
            wait_corner(reader, picture)
            typist.point(0.5, 0.5)
            window.wait_place(WIDTH / 2, HEIGHT / 2)
            typist.type(KEY_Q)
            assert window.wait_keys(2) == [(KEY_Q, 1), (KEY_Q, 0)]
            typist.do((KEY, KEY_A, 1), (BUTTON, BTN_LEFT, 1), (TOUCH_DOWN, 0, 0, 9, 9))
            assert window.wait_keys(1) == [(KEY_A, 1)]
            assert window.wait_button() == (BTN_LEFT, 1)
            window.touch.wait("down")
            window.display.close()
            mirrored.order("unplug", SCREEN)
            mirrored.order("plug", SCREEN)
            wait_for(lambda: seat_devices(mirrored, "input/desk") == 7, "the seat's devices")
            window = InputWindow(mirrored.socket, SCREEN, (WIDTH, HEIGHT), "input/desk")
            typist.type(KEY_Q)
            assert window.wait_keys(2) == [(KEY_Q, 1), (KEY_Q, 0)]
            assert not window.pointer.has("button") and not window.touch.has("down")
            typist.tell("release")
            window.display.close()


def test_a_screen_that_is_drawn_on(cockpit: Cockpit, mirrored: PluggedWeston) -> None:
    """Its tablet goes with it, and a program that had it does no harm, whatever it still asks."""
    near = (PEN_NEAR, PEN, 1), (PEN_MOTION, 0, 9, FULL // 2, FULL // 2), (PEN_BUTTON, TIP, 1)
    with Typist(cockpit.env("cluster"), "input/desk", 15) as typist:
        for _ in range(2):
            wait_for(lambda: seat_devices(mirrored, "input/desk") == 7, "the seat's devices")
            wait_for(lambda: mirrored.has_global("zwp_tablet_manager_v2"), "tablets")
            window = PenWindow(mirrored.socket, SCREEN, (WIDTH, HEIGHT), "input/desk")
            typist.do(*near)
            tool = window.tool(PEN)
            window.wait_pen(tool, ("down",), ("frame",))
            mirrored.order("unplug", SCREEN)
            window.wait_pen(tool, ("up",), ("proximity_out",), ("removed",))
            manager = window.display.bind("zwp_tablet_manager_v2")
            manager("get_tablet_seat", window.seat)
            tool("destroy")
            window.tablets("destroy")
            window.display.roundtrip()
            mirrored.order("plug", SCREEN)
            typist.do((PEN_NEAR, PEN, 0))
            window.display.close()


def test_memory_of_a_seat(cockpit: Cockpit, tmp_path: Path) -> None:
    """The shell, which listens to the pointer of each seat, writes to none that is freed."""
    report = tmp_path / "valgrind.xml"
    weston = PluggedWeston(tmp_path, cockpit.env("open"))
    weston.configure(MIRROR)
    weston.start(under=[*VALGRIND, f"--xml-file={report}"])
    with Typist(cockpit.env("cluster"), "input/desk"):
        for _ in range(2):
            wait_for(lambda: seat_devices(weston, "input/desk") == 7, "the seat's devices")
            weston.order("unplug", SCREEN)
            weston.order("plug", SCREEN)
    assert weston.stop() == 0, weston.read_log()
    assert [complaint for complaint in complaints(report) if "Invalid" in complaint] == []


def test_screens_beside_it(cockpit: Cockpit, tmp_path: Path) -> None:
    """What captures a screen forgets each other one that is unplugged."""
    environment = cockpit.env("open") | {"WAYLAND_DEBUG": "client"}
    weston = PluggedWeston(tmp_path, environment, kind="kiosk")  # whose shell is no client
    weston.configure(MIRROR)
    weston.start()

    def count(request: str) -> int:
        return len(re.findall(request, weston.program.stderr))

    for times in (1, 2, 3):
        weston.order("plug", "beside")
        wait_for(lambda times=times: count(r'bind\(.*"wl_output"') == times + 1, "the screen")
        weston.order("unplug", "beside")
        wait_for(lambda times=times: count(r"-> wl_output.*release\(") == times, "its end")
    assert weston.stop() == 0, weston.read_log()


@pytest.mark.parametrize("scale", [1, 2])
def test_corners(cockpit: Cockpit, mirrored: PluggedWeston, scale: int) -> None:
    """However the screen is turned, a finger is where its user sees the pixel that it touches."""
    with Typist(cockpit.env("cluster"), "input/desk") as typist:
        wait_for(lambda: seat_devices(mirrored, "input/desk") == 7, "the seat's devices")
        mirrored.order("scale", SCREEN, scale)
        for turn in range(8):
            mirrored.order("transform", SCREEN, turn)
            pixels = (HEIGHT, WIDTH) if turn & 1 else (WIDTH, HEIGHT)
            size = pixels[0] // scale, pixels[1] // scale
            window = InputWindow(mirrored.socket, SCREEN, size, "input/desk")
            for x, y in ((0, 0), (size[0] - 1, 0), (0, size[1] - 1), (size[0] - 1, size[1] - 1)):
                at = (int((x + 0.5) / size[0] * FULL), int((y + 0.5) / size[1] * FULL))
                typist.do((TOUCH_DOWN, 0, 0, *at))
                typist.do((TOUCH_UP, 0, 0))
                touched = window.touch.wait("down")[4:]
                assert tuple(part // FIXED for part in touched) == (x, y), turn
            window.display.close()


def test_a_desktop_that_sleeps(cockpit: Cockpit, mirrored: PluggedWeston) -> None:
    """It wakes when its user presses a key, which it gets, and draws what has changed meanwhile."""
    place = (LIBGID, cockpit.socket("cluster"), "desk", "open")
    with Typist(cockpit.env("cluster"), "input/desk") as typist, StreamReader(*place) as reader:
        wait_for(lambda: seat_devices(mirrored, "input/desk") == 7, "the seat's devices")
        window = InputWindow(mirrored.socket, SCREEN, (WIDTH, HEIGHT), "input/desk")
        for seed in (2, 3):
            mirrored.order("sleep")
            surface, number = window.painter.surface, seed % 2
            frame = surface("frame")
            surface("attach", window.painter.buffers[number], 0, 0)
            surface("damage", 0, 0, WIDTH, HEIGHT)
            surface("commit")
            with pytest.raises(TimeoutError):
                window.display.wait_until(
                    lambda frame=frame: frame.has("done"), "a repaint", ASLEEP_S
                )
            typist.type(KEY_A)
            frame.wait("done")
            assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
            picture = window.painter.paint(seed)
            wait_corner(reader, picture)
