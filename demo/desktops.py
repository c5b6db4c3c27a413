# SPDX-License-Identifier: MIT
"""Ordinary windows of open on two more displays of cluster: what Weston's own output shows, and the
windows of a compositor of wlroots."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy
from PIL import Image, ImageDraw

from demo import backdrop
from demo.backdrop import Tile
from demo.panel import draw_map
from lab.domains import desktop
from lab.domains.configuration import section
from lab.domains.desktop import Desktop, Window
from lab.domains.place import Place

# Of Weston, by [gid-output].
MIRROR = section("gid-output", "mirror=headless stream=desktop/centre")
# As large as weston-image makes its window, 436x336; and what fills that.
_WAY, _RADIO = Window("way.png", 160, 64), Window("radio.png", 684, 64)
_FLOWER = Window("Flower", 540, 448)
_PICTURE = (848, 606)
_LIVELY = 5  # the least spread of a picture's values that has windows in it


@dataclass(frozen=True)
class Display:
    """One more, of this size: the whole output of a compositor is its only layer."""

    name: str
    width: int
    height: int

    @property
    def stream(self) -> str:
        return f"desktop/{self.name}"

    @property
    def screen(self) -> str:
        """The stream of what it shows."""
        return f"screen/{self.name}"

    @property
    def configuration(self) -> str:
        area = f"width={self.width} height={self.height}"
        return section(f"output {self.name}", f"{area} refresh=60 stream={self.screen}") + section(
            f"layer {self.name}",
            f"output={self.name} domain=open stream={self.stream} {area}",
        )


CENTRE = Display("centre", *backdrop.OPEN)
PASSENGER = Display("passenger", *desktop.SIZE)
DISPLAYS = (CENTRE, PASSENGER)


def start(place: Place, folder: Path) -> str:
    """The passenger's windows. Returns whose they are."""
    kind = desktop.kinds()[0]
    made = Desktop(place, kind, PASSENGER.stream, [_WAY, _RADIO, _FLOWER])
    for window, draw in ((_WAY, _draw_way), (_RADIO, _draw_radio)):
        file = folder / window.title
        draw().save(file)
        place.start(window.title, ["weston-image", str(place.put(file))], **made.environment)
    place.start("weston-flower", ["weston-flower"], **made.environment)
    return kind


def _draw_way() -> Image.Image:
    """Where one is, on the panel's road."""
    width, height = _PICTURE
    image = draw_map(width, height)
    x, y = width // 3, height // 2
    arrow = (x, y - 26, x + 16, y + 14, x, y + 4, x - 16, y + 14)
    ImageDraw.Draw(image).polygon(arrow, (255, 200, 60))
    return image


def _draw_radio() -> Image.Image:
    width, height = _PICTURE
    image = backdrop.gradient(width, height)
    pen = ImageDraw.Draw(image)
    for ring in range(5):
        size = 40 + 44 * ring
        box = (width // 2 - size, 250 - size, width // 2 + size, 250 + size)
        pen.arc(box, 210, 330, (64, 196, 170), 10)
    pen.ellipse((width // 2 - 14, 236, width // 2 + 14, 264), (240, 176, 64))
    backdrop.write(pen, (width // 2, 400), "Radio Open", 60)
    backdrop.write(pen, (width // 2, 480), "98.7 MHz", 40)
    return image


def is_mirrored(shown: Path, sent: Path, windows: Iterable[Tile], telltale: Tile) -> bool:
    """`sent`: what Weston itself says that it shows, at about the same time. The `windows` move,
    and so does the telltale's picture, wherever Weston has put it."""
    differs = (_pixels(shown) != _pixels(sent)).any(axis=2)
    for tile in windows:
        left, top, right, bottom = tile.box
        differs[top:bottom, left:right] = False
    rows, columns = numpy.nonzero(differs)
    if rows.size == 0:
        return True
    return bool(numpy.ptp(rows) < telltale.height and numpy.ptp(columns) < telltale.width)


def is_shown(shown: Path, sent: Path) -> bool:
    """Whether the passenger's display shows the stream's own picture `sent`, with windows in it."""
    picture = _pixels(shown)
    return bool(picture.std() > _LIVELY) and numpy.array_equal(picture, _pixels(sent))


def _pixels(file: Path) -> numpy.ndarray:
    with Image.open(file) as image:
        return numpy.asarray(image.convert("RGB"), numpy.int16)
