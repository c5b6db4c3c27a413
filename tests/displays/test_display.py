# SPDX-License-Identifier: MIT
"""What every kind of display shows of streams, pixel by pixel, and what when they fail."""

import os
import signal
from pathlib import Path

import numpy
import pytest
from kinds import HEIGHT, KIND, WIDTH, prepare, start
from lib.cockpit import Cockpit
from lib.display import LIAR, drawn_words, liar_roles, start_telltale, telltale_picture
from lib.pictures import RAW_ROLE
from lib.program import BUILD, wait_for
from lib.vkms import checksum
from PIL import Image

Box = tuple[int, int, int, int]  # x, y, width, height
LAMP, OTHER, TURNED = (40, 20, 320, 80), (300, 300, 320, 80), (300, 150, 33, 57)


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    prepare()


def role(name: str, box: Box, fallback: str, more: str = "") -> str:
    x, y, width, height = box
    text = f"[role {name}]\ndomain=open\nx={x}\ny={y}\nwidth={width}\nheight={height}\n"
    return f"{text}deadline-ms=60000\nfallback={fallback}\n{more}"


def screen(*parts: tuple[Box, numpy.ndarray]) -> numpy.ndarray:
    """All of it: pictures, or colours, at their places on black."""
    picture = numpy.zeros((HEIGHT, WIDTH, 3), numpy.uint8)
    for (x, y, width, height), pixels in parts:
        picture[y : y + height, x : x + width] = pixels
    return picture


def own_picture(cockpit: Cockpit, name: str) -> numpy.ndarray:
    """One for a role to fall back to."""
    picture = telltale_picture(cockpit.folder, 9)
    Image.fromarray(picture).save(cockpit.folder / name)
    return picture


def test_live_pictures_and_fallbacks(cockpit: Cockpit) -> None:
    own = own_picture(cockpit, "own.png")
    sections = role("telltale", LAMP, "own.png") + role("other", OTHER, "blank")
    display = start(cockpit, sections)
    five, ten, three = (telltale_picture(cockpit.folder, state) for state in (5, 10, 3))
    display.wait_picture(screen((LAMP, own)), "what is shown until they come")
    lamp = start_telltale(cockpit, "--state=5", "--cycle=0")
    start_telltale(cockpit, "--stream=safety/other", "--state=3", "--cycle=0")
    display.wait_picture(screen((LAMP, five), (OTHER, three)), "both live")
    cockpit.restart("cluster")
    display.wait_picture(screen((LAMP, five), (OTHER, three)), "both, without their daemon")
    lamp.kill()
    display.wait_picture(screen((LAMP, own), (OTHER, three)), "one that fell back")
    assert display.role()["reason"] == "died"
    start_telltale(cockpit, "--state=10", "--cycle=0")
    display.wait_picture(screen((LAMP, ten), (OTHER, three)), "both live again")
    assert [one["state"] for one in display.status()["roles"]] == ["live", "live"]


def test_turned_and_kept(cockpit: Cockpit) -> None:
    """A picture of another format, whose last one stays when its producer is gone."""
    upright = numpy.random.default_rng(1).integers(0, 256, (TURNED[2], TURNED[3], 3), numpy.uint8)
    path = cockpit.folder / "turned"
    path.write_bytes(upright.tobytes())
    size = (TURNED[3], TURNED[2])
    words = [RAW_ROLE, "safety/turned", path, "BG24", *size, 0, 0, 0, 0, *size, 1]
    display = start(cockpit, role("turned", TURNED, "last", "formats=BG24\ntransform=90\n"))
    producer = cockpit.run("open", [str(word) for word in words])
    # A picture of transform 90 is shown clockwise.
    expected = screen((TURNED, numpy.rot90(upright, -1)))
    display.wait_picture(expected, "it turned")
    producer.kill()
    display.wait_role("lost", name="turned")
    display.wait_picture(expected, "the same when it is gone")


@pytest.mark.skipif(KIND == "gl", reason="what GL draws just now cannot be told from what it drew")
@pytest.mark.skipif(
    KIND in ("kms", "planes"),
    reason="vkms mixes a frame after the next is shown, of memory that may be drawn to again",
)
def test_what_changes_after_it_was_checked_is_not_shown(cockpit: Cockpit) -> None:
    """What is shown is a copy: of the right picture, or, if that changed too early, none."""
    left, right = (0, 0, 320, 80), (320, 100, 320, 80)
    own = own_picture(cockpit, "own.png")
    display = start(cockpit, liar_roles("fallback=own.png\n"))
    pictures = [drawn_words(number * 0x1F3B5, 320, 80) for number in range(8)]
    waiting = screen((left, own), (right, own))
    ones, others = [own, *pictures[:4]], [own, *pictures[4:]]
    allowed = {checksum(screen((left, one), (right, other))) for one in ones for other in others}
    display.wait_picture(waiting, "the fallbacks")
    liar = cockpit.run("open", [LIAR, "late-flip"])
    for name in ("left", "right"):
        display.wait_role("live", name=name)
    liar.signal(signal.SIGUSR1)
    seen: set[int] = set()

    def many() -> bool:
        seen.update(display.look(10))
        assert seen <= allowed, "another picture than they may show"
        return len(seen - {checksum(waiting)}) >= 3

    wait_for(many, "pictures that changed when they had been copied")
    reasons = {t["reason"] for one in display.status()["roles"] for t in one["transitions"]}
    assert reasons <= {"none", "hash-mismatch"}


@pytest.mark.skipif(not Path("/dev/udmabuf").exists(), reason="there is no /dev/udmabuf")
@pytest.mark.skipif(not os.access("/dev/udmabuf", os.W_OK), reason="it may not be used")
def test_pictures_in_dmabufs(cockpit: Cockpit) -> None:
    """Two of them, in turn."""
    box = (40, 20, 150, 70)
    display = start(cockpit, role("lamp", box, "blank"))
    display.wait_picture(screen(), "black")
    lamp = cockpit.run("open", [BUILD / "tests/vm/dmabuf-lamp", "150", "70"])
    for number in (0, 1, 0):
        picture = drawn_words(number * 0x4F3B5, 150, 70)
        display.wait_picture(screen((box, picture)), f"picture {number}")
    assert display.role("lamp")["converted_frames"] == 0
    lamp.kill()
    display.wait_picture(screen(), "black again")
