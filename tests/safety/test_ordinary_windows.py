# SPDX-License-Identifier: MIT
"""Windows of ordinary compositors on gid-cluster's screens: of Weston by [gid-output], and of sway
and labwc by gid-capture."""

from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import ROLE, Display, start_telltale, telltale_picture
from lib.labwc import POINTER, Labwc, why_no_labwc
from lib.painter import Painter
from lib.program import BUILD, Program, wait_for
from lib.sway import Sway, why_no_sway
from lib.weston import HEIGHT, WIDTH, Weston

from lab.domains.desktop import SIZE

LEFT = f"\n[layer left]\ndomain=open\nwidth={WIDTH}\nheight={HEIGHT}\n"
RIGHT = f"\n[layer right]\ndomain=open\nx={WIDTH}\nwidth={WIDTH}\nheight={HEIGHT}\n"
OUTPUT = f"[gid-output]\nname={{0}}\nstream={{0}}\nmode={WIDTH}x{HEIGHT}\n"
VEIL, GREY = 0.35, 0.3 * 255  # what is left of a picture that is old, and what is added
DESKTOP = "\n[layer desktop]\ndomain=open\noutput={}\nwidth={}\nheight={}\n"
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


def start_weston(cockpit: Cockpit, folder: Path, renderer: str, stream: str) -> Weston:
    folder.mkdir()
    weston = Weston(folder, cockpit.env("open"), renderer, "kiosk", ["--no-outputs"])
    weston.configure(OUTPUT.format(stream))
    return weston.start()


@pytest.fixture(params=["pixman", "gl"])
def weston(request: pytest.FixtureRequest, cockpit: Cockpit, tmp_path: Path) -> Iterator[Weston]:
    weston = start_weston(cockpit, tmp_path / "weston", request.param, "left")
    yield weston
    if weston.is_running():
        assert weston.stop() == 0, weston.read_log()


@pytest.fixture
def sway(cockpit: Cockpit, tmp_path: Path) -> Iterator[Sway]:
    if why := why_no_sway():
        pytest.skip(why)
    sway = Sway(tmp_path, cockpit.env("open"))
    capture(cockpit, sway, "right")
    yield sway
    sway.stop()


@pytest.fixture
def labwc(cockpit: Cockpit, tmp_path: Path) -> Iterator[Labwc]:
    if why := why_no_labwc():
        pytest.skip(why)
    labwc = Labwc(tmp_path, cockpit.env("open"))
    capture(cockpit, labwc, "desktop")
    yield labwc
    labwc.stop()


def capture(cockpit: Cockpit, compositor: Sway | Labwc, stream: str) -> Program:
    words = [BUILD / "clients/gid-capture", f"--stream={stream}", "--no-cursor"]
    return cockpit.run("open", words, **compositor.environment)


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


def wait_shown(display: Display, output: str, expected: numpy.ndarray) -> None:
    """All pixels of an output that is published under its own name, in blue, green, red."""

    def is_right() -> bool:
        seen = display.screenshot(output)[..., ::-1].copy()
        if (seen.shape[1], seen.shape[0]) == SIZE:
            seen[POINTER] = expected[POINTER]
        return numpy.array_equal(seen, expected)

    wait_for(is_right, lambda: f"the picture of {output}; {display.status()['layers']}")


def test_windows_of_labwc(cockpit: Cockpit, labwc: Labwc) -> None:
    """Pixel by pixel, one after the other, and a part; when it dies, that is seen."""
    width, height = SIZE
    screen = f"[output {{0}}]\nwidth={width}\nheight={height}\nrefresh=60\nstream={{0}}\n"
    settings = "[display]\nworst-frame=0\n" + screen.format("only")
    display = Display(cockpit, DESKTOP.format("only", *SIZE), display=settings)
    painter = Painter(labwc.socket, labwc.output, SIZE)
    for seed in range(2):
        wait_shown(display, "only", painter.paint(seed))
    wait_shown(display, "only", painter.paint(7, (300, 50, 37, 21)))
    labwc.kill()
    wait_for(lambda: layer(display, "desktop")["state"] == "stale", "its layer to be old")
    assert layer(display, "desktop")["refused_frames"] == 0


@pytest.fixture(params=["labwc", "a second Weston"])
def passenger(
    request: pytest.FixtureRequest, cockpit: Cockpit, tmp_path: Path
) -> Iterator[tuple[Path, str, tuple[int, int]]]:
    """What sends the stream `desktop`: its socket, the output, and how large that is."""
    if request.param == "labwc":
        labwc = request.getfixturevalue("labwc")
        yield labwc.socket, labwc.output, SIZE
    else:
        weston = start_weston(cockpit, tmp_path / "other", "pixman", "desktop")
        yield weston.socket, "desktop", (WIDTH, HEIGHT)
        assert weston.stop() == 0, weston.read_log()


def test_three_displays(
    cockpit: Cockpit, passenger: tuple[Path, str, tuple[int, int]], weston: Weston, sway: Sway
) -> None:
    """The windows of another compositor on each, and a warning light above those of one. What one
    of them shows is on its own display alone, and its end changes nothing on the others."""
    socket, name, size = passenger
    sizes = {"centre": (WIDTH, HEIGHT), "cluster": (640, 240), "passenger": size}
    settings = "[display]\nworst-frame=0\n" + "".join(
        f"[output {name}]\nwidth={width}\nheight={height}\nrefresh=60\nstream={name}\n"
        for name, (width, height) in sizes.items()
    )
    layers = LEFT + "output=centre\n" + RIGHT + "output=cluster\n"
    layers += DESKTOP.format("passenger", *size) + ROLE + "output=cluster\n"
    display = Display(cockpit, layers, display=settings)
    start_telltale(cockpit, "--state", "5", "--cycle", "0")
    transitions = display.wait_role("live")["transitions"]
    whole = numpy.zeros((240, 640, 3), numpy.uint8)

    def in_cluster(picture: numpy.ndarray) -> numpy.ndarray:
        whole[:, WIDTH:] = picture
        whole[LAMP] = telltale_picture(cockpit.folder, 5)[..., ::-1]
        return whole

    painters = {
        "centre": Painter(weston.socket, "left", (WIDTH, HEIGHT)),
        "cluster": Painter(sway.socket, "HEADLESS-1", (WIDTH, HEIGHT)),
        "passenger": Painter(socket, name, size),
    }
    for seed in (1, 2):
        for output, painter in painters.items():
            picture = painter.paint(seed)
            wait_shown(display, output, in_cluster(picture) if output == "cluster" else picture)
    frames = {one["name"]: one["frames"] for one in display.status()["outputs"]}
    weston.kill()
    wait_for(lambda: layer(display, "left")["state"] == "stale", "Weston's layer to be old")
    for output in ("cluster", "passenger"):
        picture = painters[output].paint(3)
        wait_shown(display, output, in_cluster(picture) if output == "cluster" else picture)
    assert all(one["frames"] > frames[one["name"]] for one in display.status()["outputs"])
    assert display.role()["transitions"] == transitions, "the light is live all the time"
    assert {one["refused_frames"] for one in display.status()["layers"]} == {0}


def test_a_program_of_a_users_own(cockpit: Cockpit, weston: Weston) -> None:
    """Not one of ours: a terminal of Weston's, as anybody starts it."""
    display = Display(cockpit, LEFT)
    flower = weston.client(["weston-flower"])
    wait_for(lambda: display.screenshot()[:, :WIDTH].std() > 5, "the flower", pause=0.2)
    assert flower.is_running()
