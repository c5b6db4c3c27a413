# SPDX-License-Identifier: MIT
"""gid-view shows the same film with the same pixels, whatever the compositor can show of YUV."""

import json
from collections.abc import Callable, Iterator

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import HEIGHT, WIDTH
from lib.length import at_length_but
from lib.pictures import COLOURS, FORMATS, RAW_ROLE, Picture
from lib.program import BUILD, Program, wait_for
from lib.weston import Weston
from lib.wlroots_screen import WlrootsScreen

from lab.domains.wayland import weston_major

CASES = [
    ("NV12", "bt601 limited"),
    ("NV12", "bt709 limited"),
    ("I420", "bt2020 limited"),
    ("YUY2", "bt601 limited"),
    ("YUY2", "bt709 full"),
    ("BGRx", "bt601 full"),
]


def shown_by_gl(name: str, colours: str) -> bool:
    """Weston's GL takes YUV of one plane from memory, and for BT.601 where nobody can tell it."""
    return name == "YUY2" and (colours == "bt601 limited" or weston_major() > 14)


class Screen:
    """A compositor in `cluster`: `look` gives its upper left corner as red, green and blue."""

    def __init__(self, name: str, socket: str, look: Callable[[], numpy.ndarray]) -> None:
        self.name, self.socket, self.look = name, socket, look


@pytest.fixture(params=["weston-pixman", "weston-gl", "wlroots"])
def screen(cockpit: Cockpit, request: pytest.FixtureRequest) -> Iterator[Screen]:
    name = request.param
    if name == "wlroots":
        on_wlroots = WlrootsScreen(cockpit, cockpit.folder)
        on_wlroots.wait_ready()
        socket, look = on_wlroots.socket, on_wlroots.screenshot
    else:
        weston = Weston(cockpit.folder, cockpit.env("cluster"), name.removeprefix("weston-"))
        weston.start()
        socket, look = weston.socket, weston.screenshot
    yield Screen(name, str(socket), lambda: look()[:HEIGHT, :WIDTH, ::-1].astype(float))


def start(
    cockpit: Cockpit,
    screen: Screen,
    picture: Picture,
    colours: str,
    *more: str,
    stride: int | None = None,
) -> Program:
    sent = [FORMATS[picture.name], WIDTH, HEIGHT, *COLOURS[colours][1:]]
    sent += [stride] if stride is not None else []
    cockpit.run("open", [RAW_ROLE, "movie", picture.path, *map(str, sent)])
    words = [BUILD / "clients" / "gid-view", "-d", "open", "-s", "movie", "-f"]
    words += [f"--place={WIDTH}x{HEIGHT}+0+0", *more]
    view = cockpit.run("cluster", words, WAYLAND_DISPLAY=screen.socket)
    return view


# Of each kind of samples one; all formats in all colours are tests/pictures' and tests/displays'.
USUAL = [("NV12", "bt709 limited"), ("YUY2", "bt601 limited"), ("BGRx", "bt601 full")]


@pytest.mark.parametrize(("name", "colours"), at_length_but(CASES, *USUAL))
def test_the_pixels_are_those_of_the_standard(
    cockpit: Cockpit, screen: Screen, name: str, colours: str
) -> None:
    picture = Picture(cockpit.folder, name, COLOURS[colours], WIDTH, HEIGHT)
    stats = cockpit.folder / "stats.json"
    view = start(cockpit, screen, picture, colours, "--convert", f"--stats={stats}")

    def difference() -> float:
        assert view.is_running(), view.stderr
        return numpy.abs(screen.look() - picture.rgb)[picture.inside].max()

    wait_for(lambda: difference() <= 1, f"{name} of {colours} on {screen.name}")
    assert view.stop() == 0
    counts = json.loads(stats.read_text())
    as_it_is = name == "BGRx" or (screen.name == "weston-gl" and shown_by_gl(name, colours))
    assert counts["received"] > 0
    if as_it_is:
        assert counts["converted_frames"] == counts["converted_bytes"] == 0
    else:
        assert 0 < counts["converted_frames"] <= counts["received"]
        assert counts["converted_bytes"] == counts["converted_frames"] * WIDTH * HEIGHT * 4


@pytest.mark.parametrize("screen", ["weston-pixman"], indirect=True)
def test_nothing_is_copied_without_being_asked_for(cockpit: Cockpit, screen: Screen) -> None:
    picture = Picture(cockpit.folder, "NV12", COLOURS["bt601 limited"], WIDTH, HEIGHT)
    view = start(cockpit, screen, picture, "bt601 limited")
    assert view.wait() == 1
    assert "cannot show the stream's format NV12" in view.stderr and "--convert" in view.stderr


@pytest.mark.parametrize("stride", at_length_but([WIDTH * 4 + 3, WIDTH * 4 + 6], WIDTH * 4 + 3))
def test_rows_that_no_compositor_reads_are_converted(
    cockpit: Cockpit, screen: Screen, stride: int
) -> None:
    """As a camera's or another program's memory may have them: no multiple of four bytes."""
    picture = Picture(cockpit.folder, "BGRx", COLOURS["bt601 full"], WIDTH, HEIGHT)
    view = start(cockpit, screen, picture, "bt601 full", "--convert", stride=stride)

    def difference() -> float:
        assert view.is_running(), view.stderr
        return numpy.abs(screen.look() - picture.rgb)[picture.inside].max()

    wait_for(lambda: difference() <= 1, f"rows of {stride} bytes on {screen.name}")
    assert view.stop() == 0
    assert "the compositor cannot" not in view.stderr


@pytest.mark.parametrize("screen", ["weston-pixman"], indirect=True)
def test_or_the_reason_is_told(cockpit: Cockpit, screen: Screen) -> None:
    picture = Picture(cockpit.folder, "BGRx", COLOURS["bt601 full"], WIDTH, HEIGHT)
    stride = WIDTH * 4 + 3
    view = start(cockpit, screen, picture, "bt601 full", stride=stride)
    reason = f"rows do not lie at multiples of four bytes; here they are {stride} bytes apart"
    assert view.wait() == 1
    assert reason in view.stderr and "--convert" in view.stderr
    assert "may that domain read the stream" not in view.stderr
