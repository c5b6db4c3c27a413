# SPDX-License-Identifier: MIT
"""Roles in every kind of format: gid-cluster shows what the standards say of their samples."""

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import HEIGHT, ROLE, WIDTH, Display, start_telltale
from lib.length import at_length_but
from lib.pictures import BT601, BT709, COLOURS, FORMATS, FULL, LIMITED, RAW_ROLE, UNKNOWN, Picture
from lib.program import wait_for


def show(
    cockpit: Cockpit,
    picture: Picture,
    matrix: int,
    value_range: int,
    crop: tuple[int, int, int, int, int] | tuple[()] = (),
) -> Display:
    """A display whose role has the picture."""
    display = Display(cockpit, ROLE + "formats=any\ntransform=any\n")
    arguments = [FORMATS[picture.name], picture.width, picture.height, matrix, value_range, *crop]
    cockpit.run("open", [RAW_ROLE, "safety/telltale", picture.path, *map(str, arguments)])
    display.wait_role("live")
    return display


def difference(display: Display, rgb: numpy.ndarray, inside: numpy.ndarray) -> float:
    return numpy.abs(display.region() - rgb)[inside].max()


# Each way to read samples once. tests/displays has all formats, of roles and layers.
@pytest.mark.parametrize(
    "name", at_length_but(FORMATS, "NV12", "I420", "YUY2", "P010_10LE", "RGB16", "BGRx")
)
def test_formats(cockpit: Cockpit, name: str) -> None:
    picture = Picture(cockpit.folder, name, COLOURS["bt709 limited"], WIDTH, HEIGHT)
    display = show(cockpit, picture, BT709, LIMITED)
    assert difference(display, picture.rgb, picture.inside) <= 1
    role = display.role()
    assert [t["reason"] for t in role["transitions"]] == ["none"]
    if name == "BGRx":
        assert role["converted_frames"] == 0
    else:
        assert role["converted_frames"] == role["shown_frames"] > 0


@pytest.mark.parametrize("name", at_length_but(COLOURS, "bt601 full", "bt709 limited"))
def test_colours(cockpit: Cockpit, name: str) -> None:
    """The layout's matrix and range decide, and others would be told apart."""
    picture = Picture(cockpit.folder, "NV12", COLOURS[name], WIDTH, HEIGHT)
    display = show(cockpit, picture, *COLOURS[name][1:])
    assert difference(display, picture.rgb, picture.inside) <= 1
    for program in cockpit.programs:
        program.kill()
    other = COLOURS["bt709 full" if name != "bt709 full" else "bt601 limited"]
    assert difference(show(cockpit, picture, *other[1:]), picture.rgb, picture.inside) > 8


def test_of_which_nothing_is_said(cockpit: Cockpit) -> None:
    """As Weston 14 takes it."""
    picture = Picture(cockpit.folder, "I420", COLOURS["bt601 limited"], WIDTH, HEIGHT)
    assert difference(show(cockpit, picture, 0, UNKNOWN), picture.rgb, picture.inside) <= 1


@pytest.mark.parametrize(
    ("keys", "name", "transform", "reason", "detail"),
    [
        ("", "NV12", 0, "format", "NV12"),
        ("", "BGRx", 2, "transform", "180"),
        ("formats=NV12\n", "BGRx", 0, "format", "XR24"),
        pytest.param(
            "formats=any\n", "NV12", 4, "transform", "flipped", marks=pytest.mark.at_length
        ),
        ("transform=90\n", "BGRx", 0, "transform", "normal"),
    ],
)
def test_what_is_not_taken(
    cockpit: Cockpit, keys: str, name: str, transform: int, reason: str, detail: str
) -> None:
    """The fallback is shown, and why is told once; what is taken is live afterwards."""
    display = Display(cockpit, ROLE + keys)
    fallback = display.region()
    picture = Picture(cockpit.folder, name, COLOURS["bt709 limited"], WIDTH, HEIGHT)
    words = [FORMATS[name], WIDTH, HEIGHT, BT709, LIMITED, 0, 0, WIDTH, HEIGHT, transform]
    producer = cockpit.run("open", [RAW_ROLE, "safety/telltale", picture.path, *map(str, words)])
    assert display.wait_transition(reason)["to"] == "wrong"
    wait_for(lambda: display.role()["frames"] > 20, "more of them")
    role = display.role()
    assert (role["state"], role["detail"], role["shows"]) == ("wrong", detail, "fallback")
    assert role["refused_frames"] == role["frames"] > role["shown_frames"] == 0
    assert numpy.array_equal(display.region(), fallback)
    said = [line for line in display.program.stderr.splitlines() if "are not shown" in line]
    assert len(said) == 1 and detail in said[0] and f"unless {reason}" in said[0]
    producer.kill()
    if not keys:
        start_telltale(cockpit)
        display.wait_role("live")


def turned(picture: numpy.ndarray, transform: int) -> numpy.ndarray:
    """What is seen of a buffer with this transform: turned back, then mirrored."""
    picture = numpy.rot90(picture, -(transform % 4))
    return picture[:, ::-1] if transform >= 4 else picture


@pytest.mark.parametrize("transform", at_length_but(range(8), 2, 5))
def test_cropped_and_turned(cockpit: Cockpit, transform: int) -> None:
    """The crop begins between samples of colour."""
    across, down = (HEIGHT, WIDTH) if transform % 2 else (WIDTH, HEIGHT)
    picture = Picture(cockpit.folder, "NV12", COLOURS["bt601 full"], across + 48, down + 40)
    display = show(cockpit, picture, BT601, FULL, (7, 5, across, down, transform))
    cut = [part[5 : 5 + down, 7 : 7 + across] for part in (picture.rgb, picture.inside)]
    seen = (turned(part, transform) for part in cut)
    assert difference(display, *seen) <= 1
