# SPDX-License-Identifier: MIT
"""The panel: a map, the film and symbols, put on one canvas for open by the engine of cluster."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy
from PIL import Image, ImageDraw

from demo import picture
from demo.backdrop import Tile
from lab.domains.configuration import section
from lab.domains.program import LabError
from lab.film import clip
from lab.film.film import Frame

CANVAS = "panel"
ENGINE = section(f"canvas {CANVAS}", "domain=open slots=6")
_LAYOUT = (
    section("canvas", "engine=cluster name={canvas} width={tile.width} height={tile.height}")
    + section("layer map", "stream=map")
    + section(
        "layer film",
        "stream=movie x={film.x} y={film.y} width={film.width} height={film.height} z=1",
    )
    + section("layer symbols", "stream=symbols z=2")
)
_RATE = 5  # of map and symbols, pictures a second: they do not change
_TOLERANCE = 1  # of 255, where a symbol is half seen


def draw_map(width: int, height: int) -> Image.Image:
    image = Image.new("RGB", (width, height), (30, 44, 40))
    pen = ImageDraw.Draw(image)
    for i in range(1, 8):
        pen.line((0, height * i // 8, width, height * (i - 1) // 8), (58, 78, 70), 3)
        pen.line((width * i // 8, 0, width * (i - 1) // 8, height), (58, 78, 70), 3)
    pen.line((0, height, width // 3, height // 2, width, height // 3), (92, 150, 220), 6)
    return image


@dataclass(frozen=True)
class Panel:
    """`tile`: where it is on the cluster's display."""

    tile: Tile

    @property
    def film(self) -> Tile:
        """Where the film is on it: in its upper right part."""
        width = self.tile.width * 2 // 5
        height = width * 9 // 16
        x = self.tile.width - width - self.tile.width // 20
        return Tile("the film on the panel", x, self.tile.height // 12, width, height, "")

    @property
    def layout(self) -> str:
        return _LAYOUT.format(canvas=CANVAS, tile=self.tile, film=self.film)

    def draw(self, folder: Path) -> dict[str, Path]:
        """Map and symbols, as files."""
        drawn = {"map": draw_map(self.tile.width, self.tile.height), "symbols": self._symbols()}
        paths = {name: folder / f"{name}.png" for name in drawn}
        for name, image in drawn.items():
            image.save(paths[name])
        return paths

    @staticmethod
    def pipeline(stream: str, file: Path) -> str:
        form = {"map": "BGRx", "symbols": "BGRA"}[stream]
        return (
            f"filesrc {clip.location(file)} ! pngdec ! imagefreeze is-live=true ! videoconvert "
            f"! video/x-raw,format={form},framerate={_RATE}/1"
        )

    def compare(self, screenshot: Path, sent: Iterable[Frame]) -> str:
        """What the display shows, in words. `sent`: frames of the film. Raises LabError."""
        film = self.film
        with Image.open(screenshot) as image:
            shown = numpy.asarray(image.convert("RGB").crop(self.tile.box), numpy.int16)
        wanted = Image.alpha_composite(
            draw_map(self.tile.width, self.tile.height).convert("RGBA"), self._symbols()
        )
        wrong = numpy.abs(shown - numpy.asarray(wanted.convert("RGB"), numpy.int16))
        wrong[film.y : film.y + film.height, film.x : film.x + film.width] = 0
        if wrong.max() > _TOLERANCE:
            raise LabError(
                f"map and symbols of the panel differ by {wrong.max()} of 255; see {screenshot}"
            )
        at = self.tile.x + film.x, self.tile.y + film.y
        place = Tile(film.name, *at, film.width, film.height, "")
        found = picture.find(screenshot, place, sent, fills=True)
        return f"map and symbols within {wrong.max()} of 255; film: {found}"

    def _symbols(self) -> Image.Image:
        """An arrow and a sign, on nothing; the sign can be seen through."""
        image = Image.new("RGBA", (self.tile.width, self.tile.height), (0, 0, 0, 0))
        pen = ImageDraw.Draw(image)
        unit, bottom = self.tile.height // 8, self.tile.height
        x = self.tile.width // 6
        pen.polygon(
            (x, bottom - 6 * unit, x + unit, bottom - 3 * unit, x - unit, bottom - 3 * unit),
            (255, 200, 60, 255),
        )
        x = self.tile.width // 2
        pen.ellipse((x, bottom - 2 * unit, x + unit, bottom - unit), (230, 60, 60, 128))
        return image
