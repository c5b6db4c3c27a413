# SPDX-License-Identifier: MIT
"""What lies behind the views on the cluster's display: a place and a caption for each stream."""

from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 1920, 1080
_FONTS = Path("/usr/share/fonts/truetype/dejavu")
_TOP, _BOTTOM = (24, 32, 44), (8, 10, 14)
_LIGHT, _DIM, _ACCENT = (232, 238, 245), (134, 148, 166), (64, 196, 170)


@dataclass(frozen=True)
class Tile:
    stream: str
    x: int
    y: int
    width: int
    height: int
    caption: str

    @property
    def place(self) -> str:
        """As gid-view --place wants it."""
        return f"{self.width}x{self.height}+{self.x}+{self.y}"

    @property
    def box(self) -> tuple[int, int, int, int]:
        return self.x, self.y, self.x + self.width, self.y + self.height


def tiles(clip: str) -> list[Tile]:
    return [
        Tile("movie", 40, 176, 1280, 720, f"{clip}, decoded in the domain open"),
        Tile("camera", 1360, 176, 520, 390, "a live source in the domain open"),
    ]


def draw(path: Path, parts: list[Tile]) -> None:
    image = _gradient()
    pen = ImageDraw.Draw(image)
    _title(pen)
    for tile in parts:
        _frame(pen, tile)
    _legend(pen, 1360, 702)
    image.save(path)


def _font(name: str, size: int) -> ImageFont.ImageFont:
    try:
        return ImageFont.truetype(str(_FONTS / f"{name}.ttf"), size)
    except OSError:
        return ImageFont.load_default(size)


def _gradient() -> Image.Image:
    column = Image.new("RGB", (1, HEIGHT))
    for y in range(HEIGHT):
        part = y / HEIGHT
        mixed = (round(a + (b - a) * part) for a, b in zip(_TOP, _BOTTOM, strict=True))
        column.putpixel((0, y), tuple(mixed))
    return column.resize((WIDTH, HEIGHT))


def _title(pen: ImageDraw.ImageDraw) -> None:
    pen.text((40, 44), "gidway", _LIGHT, _font("DejaVuSans-Bold", 46))
    pen.text((246, 62), "the display of the domain cluster", _DIM, _font("DejaVuSans", 26))
    pen.rectangle((40, 116, 40 + 152, 119), _ACCENT)


def _frame(pen: ImageDraw.ImageDraw, tile: Tile) -> None:
    x, y, right, bottom = tile.box
    pen.rounded_rectangle((x - 3, y - 3, right + 2, bottom + 2), 4, (0, 0, 0), (58, 70, 86), 2)
    pen.text((x, bottom + 18), tile.stream, _ACCENT, _font("DejaVuSansMono-Bold", 24))
    pen.text((x, bottom + 52), tile.caption, _DIM, _font("DejaVuSans", 19))


def _legend(pen: ImageDraw.ImageDraw, x: int, y: int) -> None:
    plain, mono = _font("DejaVuSans", 17), _font("DejaVuSansMono", 19)
    lines = [
        (0, "Each frame crosses by its number.", _LIGHT, _font("DejaVuSans", 22)),
        (48, "open", _DIM, plain),
        (72, "gst-launch-1.0 … ! gidsink stream=movie", _ACCENT, mono),
        (114, "cluster", _DIM, plain),
        (138, "weston --modules=gid-buffer.so", _ACCENT, mono),
        (168, "gid-view --domain open --stream movie", _ACCENT, mono),
    ]
    for down, text, color, font in lines:
        pen.text((x, y + down), text, color, font)
