# SPDX-License-Identifier: MIT
"""The tutorial from its begin to its end, in a guest as well where there can be one."""

import os
import shutil
from pathlib import Path

import numpy
import pytest
from gid_vm.guest import why_not
from lib.document_reader import Picture, Reader
from lib.documents import read_document
from lib.program import TOP
from PIL import Image

pytestmark = pytest.mark.timeout(1200)


def picture(path: Path) -> numpy.ndarray:
    return numpy.asarray(Image.open(path).convert("RGB")).astype(int)


def is_red(area: numpy.ndarray) -> numpy.ndarray:
    return (area[..., 0] > 150) & (area[..., 1] < 80) & (area[..., 2] < 80)


def light_of(path: Path) -> numpy.ndarray:
    return picture(path)[20:100, 40:360]


def has_stripes(path: Path) -> bool:
    return is_red(light_of(path)).mean() > 0.3


def has_light(path: Path) -> bool:
    """Of the brake, and no stripes."""
    return 0.01 < is_red(light_of(path)).mean() < 0.2


def has_light_and_film(path: Path) -> bool:
    return has_light(path) and picture(path)[110:350, 300:620].max() > 200


PICTURES = [
    Picture(
        "light.png",
        "host",
        "gidctl --domain cluster snap screen -o light.png",
        lambda path: not has_stripes(path),
    ),
    Picture("dead.png", "host", "gidctl --domain cluster snap screen -o dead.png", has_stripes),
    Picture(
        "both.png",
        "host",
        "gid-cockpit --config cockpit.conf screenshot cluster both.png",
        has_light_and_film,
    ),
]


def test_tutorial(reader: Reader) -> None:
    """The light is on the display, then stripes; then the light and the film in a guest."""
    reader.follow(read_document(TOP / "docs/tutorial.md"), pictures=PICTURES)
    light, dead = (light_of(reader.folder / name) for name in ("light.png", "dead.png"))
    assert not numpy.array_equal(light, dead)
    assert "role telltale: live -> lost" in reader.terminal("cluster").text, "as the page says"
    assert has_stripes(reader.folder / "dead.png")
    assert is_red(light).mean() < 0.2, "no stripes"
    assert picture(next(reader.folder.glob("wayland-screenshot-*.png"))).max() > 200, "a ball"
    if why_not() is None:
        assert picture(reader.folder / "both.png").shape == (360, 640, 3)
        assert has_light_and_film(reader.folder / "both.png")
        if "GIDWAY_KEEP" in os.environ:  # for docs/pictures/tutorial.png
            shutil.copy(reader.folder / "both.png", os.environ["GIDWAY_KEEP"])
    assert reader.left_behind() == []
