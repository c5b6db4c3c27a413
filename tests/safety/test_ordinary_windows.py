# SPDX-License-Identifier: MIT
"""Windows of ordinary compositors on gid-cluster's screen: of Weston by [gid-output], and of sway
by gid-capture."""

from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from cockpit import Cockpit
from display import ROLE, Display, start_telltale, telltale_picture
from painter import Painter
from program import BUILD, wait_for
from sway import Sway, why_no_sway
from weston import HEIGHT, WIDTH, Weston

LEFT = f"\n[layer left]\ndomain=open\nwidth={WIDTH}\nheight={HEIGHT}\n"
RIGHT = f"\n[layer right]\ndomain=open\nx={WIDTH}\nwidth={WIDTH}\nheight={HEIGHT}\n"
OUTPUT = f"[gid-output]\nname=left\nstream=left\nmode={WIDTH}x{HEIGHT}\n"
VEIL, GREY = 0.35, 0.3 * 255  # what is left of a picture that is old, and what is added
LAMP = (slice(20, 100), slice(40, 360))  # of ROLE


def wait_seen(display: Display, left: numpy.ndarray | None, right: numpy.ndarray | None) -> None:
    """Until the halves of the screen show exactly these (blue, green, red); None: anything."""

    def is_right() -> bool:
        seen = display.screenshot()[..., ::-1]
        halves = seen[:, :WIDTH], seen[:, WIDTH:]
        return all(
            expected is None or numpy.array_equal(half, expected)
            for half, expected in zip(halves, (left, right), strict=True)
        )

    wait_for(is_right, lambda: f"the windows on the screen; {display.status()['layers']}")


@pytest.fixture(params=["pixman", "gl"])
def weston(request: pytest.FixtureRequest, cockpit: Cockpit, tmp_path: Path) -> Iterator[Weston]:
    folder = tmp_path / "weston"
    folder.mkdir()
    weston = Weston(folder, cockpit.env("open"), request.param)
    weston.command[weston.command.index("--shell=desktop-shell.so")] = "--shell=kiosk-shell.so"
    weston.command.append("--no-outputs")
    weston.configure(OUTPUT)
    yield weston.start()
    if weston.is_running():
        assert weston.stop() == 0, weston.read_log()


@pytest.fixture
def sway(cockpit: Cockpit, tmp_path: Path) -> Iterator[Sway]:
    if why := why_no_sway():
        pytest.skip(why)
    folder = tmp_path / "sway"
    folder.mkdir()
    sway = Sway(folder, cockpit.env("open"))
    environment = {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": sway.socket.name}
    capture = ["env", *(f"{name}={value}" for name, value in environment.items())]
    capture += [str(BUILD / "clients/gid-capture"), "--stream=right", "--no-cursor"]
    cockpit.run("open", capture)
    yield sway
    sway.stop()


def layer(display: Display, name: str) -> dict:
    return next(one for one in display.status()["layers"] if one["name"] == name)


def test_pixel_by_pixel(cockpit: Cockpit, weston: Weston) -> None:
    """What the window shows is on the screen, one picture after the other."""
    display = Display(cockpit, LEFT)
    painter = Painter(weston.socket, "left", (WIDTH, HEIGHT))
    for seed in range(3):
        wait_seen(display, painter.paint(seed), None)
    part = painter.paint(7, (100, 50, 37, 21))
    wait_seen(display, part, None)
    assert layer(display, "left")["refused_frames"] == 0


def test_two_compositors_and_a_role(cockpit: Cockpit, weston: Weston, sway: Sway) -> None:
    """Beside each other, with a warning light above; one dies, and the others go on."""
    display = Display(cockpit, LEFT + RIGHT + ROLE)
    start_telltale(cockpit, "--state", "5", "--cycle", "0")
    transitions = display.wait_role("live")["transitions"]
    lamp = telltale_picture(cockpit.folder, 5)[..., ::-1]
    whole = numpy.zeros((HEIGHT, 2 * WIDTH, 3), numpy.uint8)

    def expect(left: numpy.ndarray, right: numpy.ndarray) -> None:
        whole[:, :WIDTH], whole[:, WIDTH:] = left, right
        whole[LAMP] = lamp
        wait_seen(display, whole[:, :WIDTH], whole[:, WIDTH:])

    in_weston = Painter(weston.socket, "left", (WIDTH, HEIGHT))
    in_sway = Painter(sway.socket, "HEADLESS-1", (WIDTH, HEIGHT))
    last = in_weston.paint(1)
    expect(last, in_sway.paint(2))
    weston.kill()
    wait_for(lambda: layer(display, "left")["state"] == "stale", "Weston's layer to be old")
    picture = in_sway.paint(3)

    def is_marked() -> bool:
        seen = display.screenshot()[..., ::-1].astype(float)
        off = numpy.abs(seen[120:, :WIDTH] - (last[120:] * VEIL + GREY))
        return off.max() <= 3 and numpy.array_equal(seen[120:, WIDTH:], picture[120:])

    wait_for(is_marked, "a veil over Weston's picture, and sway's next one beside it")
    weston.start()
    again = Painter(weston.socket, "left", (WIDTH, HEIGHT))
    expect(again.paint(4), in_sway.paint(5))
    assert display.role()["transitions"] == transitions, "the light is live all the time"
    assert layer(display, "right")["refused_frames"] == 0
