# SPDX-License-Identifier: MIT
"""The tutorial from its begin to its end, in a guest as well where there can be one."""

import os
import shutil
from pathlib import Path

import numpy
import pytest
from documents import read_document
from gid_vm.guest import why_not
from PIL import Image
from program import TOP
from reader import Reader

pytestmark = pytest.mark.timeout(1200)


def picture(path: Path) -> numpy.ndarray:
    return numpy.asarray(Image.open(path).convert("RGB")).astype(int)


def is_red(area: numpy.ndarray) -> numpy.ndarray:
    return (area[..., 0] > 150) & (area[..., 1] < 80) & (area[..., 2] < 80)


def test_tutorial(reader: Reader) -> None:
    """The light is on the display, then stripes; then the light and the film in a guest."""
    reader.follow(read_document(TOP / "docs/tutorial.md"))
    light, dead = (
        picture(reader.folder / name)[20:100, 40:360] for name in ("light.png", "dead.png")
    )
    assert not numpy.array_equal(light, dead)
    assert is_red(dead).mean() > 0.3, "the stripes"
    assert is_red(light).mean() < 0.2, "no stripes"
    assert picture(next(reader.folder.glob("wayland-screenshot-*.png"))).max() > 200, "a ball"
    if why_not() is None:
        both = picture(reader.folder / "both.png")
        assert both.shape == (360, 640, 3)
        lights, film = both[20:100, 40:360], both[110:350, 300:620]
        assert 0.01 < is_red(lights).mean() < 0.2, "the brake's light, and no stripes"
        assert film.max() > 200, "a ball"
        if "GIDWAY_KEEP" in os.environ:  # for docs/pictures/tutorial.png
            shutil.copy(reader.folder / "both.png", os.environ["GIDWAY_KEEP"])
    assert reader.left_behind() == []
