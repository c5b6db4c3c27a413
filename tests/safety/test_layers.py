# SPDX-License-Identifier: MIT
"""Layers of gid-cluster: streams that are shown below the roles, of any size and format."""

import signal
from collections.abc import Callable

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.company import IS_LONG
from lib.display import LIAR, ROLE, Display, start_telltale, stays, telltale_picture
from lib.length import at_length_but
from lib.pictures import BT709, COLOURS, FORMATS, LIMITED, RAW_ROLE, Picture
from lib.program import Program, wait_for
from PIL import Image
from test_costly import DISPLAY as FULL_DISPLAY
from test_costly import HEIGHT as FULL_HEIGHT
from test_costly import WAYS, check_bound, fair_cost, wait_as_cheap
from test_costly import WIDTH as FULL_WIDTH
from test_costly import start as start_costly

LAYER = "\n[layer film]\ndomain=open\nx=20\ny=10\nwidth=400\nheight=200\n"
PLACE = (20, 10, 400, 200)


def show(cockpit: Cockpit, picture: Picture, stream: str = "film", turned: int = 0) -> Program:
    arguments = [FORMATS[picture.name], picture.width, picture.height, BT709, LIMITED]
    if turned:
        arguments += [0, 0, picture.width, picture.height, turned]
    return cockpit.run("open", [RAW_ROLE, stream, picture.path, *map(str, arguments)])


def a_picture(cockpit: Cockpit, name: str = "BGRx", width: int = 400, height: int = 200) -> Picture:
    return Picture(cockpit.folder, name, COLOURS["bt709 limited"], width, height)


def layer(display: Display, name: str = "film") -> dict:
    return next(layer for layer in display.status()["layers"] if layer["name"] == name)


def wait_layer(display: Display, state: str, name: str = "film") -> dict:
    wait_for(lambda: layer(display, name)["state"] == state, f"layer {name} to be {state}")
    return layer(display, name)


def at(display: Display, place: tuple[int, int, int, int] = PLACE) -> numpy.ndarray:
    x, y, width, height = place
    return display.screenshot()[y : y + height, x : x + width].astype(float)


def wait_picture(display: Display, right: Callable[[numpy.ndarray], bool], what: str) -> None:
    wait_for(lambda: right(at(display)), what)


@pytest.mark.parametrize(
    "name", at_length_but(["BGRx", "NV12", "YUY2", "P010_10LE"], "BGRx", "NV12")
)
def test_pixel_by_pixel(cockpit: Cockpit, name: str) -> None:
    display = Display(cockpit, LAYER)
    assert layer(display)["state"] == "waiting"
    assert not at(display).any(), "nothing is shown before the first picture"
    picture = a_picture(cockpit, name)
    show(cockpit, picture)
    wait_layer(display, "live")

    def is_right(seen: numpy.ndarray) -> bool:
        limit = 0 if name == "BGRx" else 1
        return numpy.abs(seen - picture.rgb)[picture.inside].max() <= limit

    wait_picture(display, is_right, "the picture")
    whole = display.screenshot().copy()
    whole[10:210, 20:420] = 0
    assert not whole.any(), "nothing is drawn beside it"
    counts = layer(display)
    assert counts["shown_frames"] > 0 and counts["refused_frames"] == 0
    assert counts["latency_count"] > 0


@pytest.mark.parametrize(
    ("fit", "size", "box"),
    [
        ("contain", (200, 50), (0, 50, 400, 100)),
        pytest.param("contain", (100, 100), (100, 0, 200, 200), marks=pytest.mark.at_length),
        ("cover", (200, 50), (-200, 0, 800, 200)),
        ("fill", (100, 100), (0, 0, 400, 200)),
        pytest.param("none", (200, 100), (100, 50, 200, 100), marks=pytest.mark.at_length),
        ("none", (600, 240), (-100, -20, 600, 240)),
    ],
)
def test_fit(
    cockpit: Cockpit, fit: str, size: tuple[int, int], box: tuple[int, int, int, int]
) -> None:
    """Against the same scaling of another library, but for edges, which each draws in its way."""
    picture = a_picture(cockpit, "BGRx", *size)
    x, y, width, height = box
    scaled = Image.fromarray(picture.rgb.astype(numpy.uint8)).resize(
        (width, height), Image.Resampling.BILINEAR
    )
    place = Image.new("RGB", (400, 200))
    place.paste(scaled, (x, y))
    expected = numpy.asarray(place).astype(float)
    display = Display(cockpit, LAYER + f"fit={fit}\n")
    show(cockpit, picture)
    wait_layer(display, "live")

    def is_right(seen: numpy.ndarray) -> bool:
        off = numpy.abs(seen - expected).max(axis=-1)
        return float((off > 24).mean()) < 0.03

    wait_picture(display, is_right, f"the picture, {fit}")
    outside = numpy.ones((200, 400), dtype=bool)
    outside[max(y, 0) : y + height, max(x, 0) : x + width] = False
    assert not at(display)[outside].any(), "black beside it"


def test_turned(cockpit: Cockpit) -> None:
    picture = a_picture(cockpit, "BGRx", 200, 400)
    display = Display(cockpit, LAYER)
    show(cockpit, picture, turned=1)
    wait_layer(display, "live")
    expected = numpy.rot90(picture.rgb, -1)
    wait_picture(display, lambda seen: numpy.array_equal(seen, expected), "it turned")


def test_what_is_not_taken(cockpit: Cockpit) -> None:
    """Of the layer nothing is shown, and the role above it lives."""
    display = Display(cockpit, LAYER + "formats=XR24\n" + ROLE)
    start_telltale(cockpit)
    show(cockpit, a_picture(cockpit, "NV12"))
    wait_for(lambda: layer(display)["refused_frames"] > 0, "a frame that is refused")
    seen = layer(display)
    assert (seen["refused"], seen["detail"], seen["shown_frames"]) == ("format", "NV12", 0)
    display.wait_said("layer film: frames of NV12 are not shown")
    assert seen["state"] == "waiting"
    display.wait_role("live")


def test_order_and_roles_above(cockpit: Cockpit) -> None:
    """The later section is below, by its number; the role is above both."""
    over = "\n[layer above]\ndomain=open\nstream=film\nx=20\ny=10\nwidth=400\nheight=200\norder=2\n"
    below = "\n[layer below]\ndomain=open\nx=0\ny=0\nwidth=640\nheight=240\norder=1\n"
    display = Display(cockpit, over + below + ROLE)
    front = a_picture(cockpit)
    show(cockpit, front)
    wait_layer(display, "live", "above")
    back = a_picture(cockpit, "NV12", 640, 240)
    show(cockpit, back, "below")
    start_telltale(cockpit, "--state", "5")
    display.wait_role("live")
    lamp = telltale_picture(cockpit.folder, 5)

    def is_right() -> bool:
        seen = display.screenshot().astype(float)
        is_lamp = numpy.array_equal(seen[20:100, 40:360], lamp)
        expected = front.rgb.copy()
        expected[10:90, 20:340] = lamp
        return (
            is_lamp
            and numpy.array_equal(seen[10:210, 20:420], expected)
            and numpy.abs(seen - back.rgb)[220:][back.inside[220:]].max() <= 1
        )

    wait_for(is_right, "the lamp above the picture above the other one")


def test_old_pictures_are_greyed(cockpit: Cockpit) -> None:
    """When their producer dies, at once; and when it comes back they are as they were."""
    picture = a_picture(cockpit)
    display = Display(cockpit, LAYER)
    producer = show(cockpit, picture)
    wait_picture(display, lambda seen: numpy.array_equal(seen, picture.rgb), "the picture")
    producer.kill()
    old = wait_layer(display, "stale")
    assert old["reason"] == "died"
    # A veil of 0.65 over it: what is left of each colour, and a bit of grey.
    expected = picture.rgb * 0.35 + 0.3 * 255
    wait_picture(display, lambda seen: numpy.abs(seen - expected).max() <= 3, "it greyed")
    show(cockpit, picture)
    wait_layer(display, "live")
    wait_picture(display, lambda seen: numpy.array_equal(seen, picture.rgb), "the picture again")


def test_silence_is_found(cockpit: Cockpit) -> None:
    display = Display(cockpit, LAYER + "deadline-ms=300\nfallback=blank\n")
    assert not at(display).any()
    picture = a_picture(cockpit)
    producer = show(cockpit, picture)
    wait_picture(display, lambda seen: numpy.array_equal(seen, picture.rgb), "the picture")
    producer.signal(signal.SIGSTOP)
    assert wait_layer(display, "stale")["reason"] == "deadline"
    wait_picture(display, lambda seen: not seen.any(), "black")
    producer.signal(signal.SIGCONT)
    wait_layer(display, "live")
    wait_picture(display, lambda seen: numpy.array_equal(seen, picture.rgb), "the picture again")


def test_a_still_picture_may_stand(cockpit: Cockpit) -> None:
    """Without a deadline only the end of its producer makes a picture old."""
    display = Display(cockpit, LAYER + "fallback=last\n")
    picture = a_picture(cockpit)
    producer = show(cockpit, picture)
    wait_layer(display, "live")
    producer.signal(signal.SIGSTOP)
    assert stays(lambda: layer(display)["state"] == "live", 1.5)
    producer.signal(signal.SIGCONT)
    producer.kill()
    wait_layer(display, "stale")
    assert numpy.array_equal(at(display), picture.rgb), "which fallback=last does not mark"


def test_what_is_hidden_is_not_seen(cockpit: Cockpit) -> None:
    """Nor is what was there before; once there is a picture again, that is."""
    display = Display(cockpit, LAYER + "stream=safety/left\n")
    producer = cockpit.run("open", [LIAR, "notes"])
    wait_layer(display, "live")
    producer.signal(signal.SIGUSR1)
    assert wait_layer(display, "hidden")["reason"] == "hidden"
    wait_picture(display, lambda seen: not seen.any(), "nothing")
    producer.signal(signal.SIGUSR1)
    wait_layer(display, "live")
    wait_picture(display, lambda seen: bool(seen.any()), "the picture again")


def test_the_display_does_not_pay(cockpit: Cockpit) -> None:
    """A film of another size, in a dear format: film_costly of the audit. Each way to read pictures
    is asked of a role, by test_costly.py; here of the dearest, and at length of three."""
    place = f"width={FULL_WIDTH}\nheight={FULL_HEIGHT}\n"
    text = f"\n[layer dear]\ndomain=open\nstream=safety/dear\nfit=fill\n{place}"
    display = Display(cockpit, text, display=FULL_DISPLAY)
    honest = start_costly(cockpit, "XR24", 0)
    wait_layer(display, "live", "dear")
    fair = fair_cost(display)
    honest.kill()
    for kind, transform in WAYS[:3] if IS_LONG else WAYS[1:2]:
        wait_layer(display, "stale", "dear")
        dear = start_costly(cockpit, kind, transform)
        wait_layer(display, "live", "dear")
        before = layer(display, "dear")["shown_frames"]
        wait_as_cheap(display, fair, f"{kind} {transform}", lambda: layer(display, "dear"))
        wait_for(lambda old=before: layer(display, "dear")["shown_frames"] > old, "pictures")
        dear.kill()
    check_bound(display)
