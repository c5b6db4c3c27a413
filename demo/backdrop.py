# SPDX-License-Identifier: MIT
"""What lies behind the pictures on both displays: places, captions, and who is not there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

CLUSTER = (1920, 1200)  # the size of its display, in pixels
OPEN = (1280, 800)
_TOGETHER = (1920, 950)
_SHOWN = {
    "cluster": "film, meter, panel; camera and telltale are watched",
    "centre": "what Weston in the domain open shows",
    "passenger": "ordinary windows of another compositor there",
}
_FONTS = Path("/usr/share/fonts/truetype/dejavu")
_TOP, _BOTTOM = (24, 32, 44), (8, 10, 14)
_LIGHT, _DIM, _ACCENT = (232, 238, 245), (134, 148, 166), (64, 196, 170)
_SAFETY = (240, 176, 64)


@dataclass(frozen=True)
class Tile:
    name: str
    x: int
    y: int
    width: int
    height: int
    caption: str
    safety: bool = False

    def divided(self, divisor: int) -> "Tile":
        """All sides can be: they are even."""
        sides = (self.x, self.y, self.width, self.height)
        return Tile(self.name, *(side // divisor for side in sides), self.caption, self.safety)

    @property
    def place(self) -> str:
        """As gid-view --place wants it."""
        return f"{self.width}x{self.height}+{self.x}+{self.y}"

    @property
    def size(self) -> str:
        return f"{self.width}x{self.height}"

    @property
    def box(self) -> tuple[int, int, int, int]:
        return self.x, self.y, self.x + self.width, self.y + self.height


def size(display: tuple[int, int], divisor: int) -> tuple[int, int]:
    """Of a display in a scene that has all sizes divided."""
    return display[0] // divisor, display[1] // divisor


def cluster_tiles(clip: str, divisor: int) -> dict[str, Tile]:
    """By name. Those of safety surfaces have their surface's own size: nothing scales them."""
    tiles = [
        Tile("movie", 40, 116, 1280, 720, f"{clip}, decoded in the domain open"),
        Tile("meter", 40, 896, 1280, 264, "the cluster's own"),
        Tile("camera", 1360, 116, 520, 390, "safety surface of open's Weston", safety=True),
        Tile("telltale", 1360, 582, 320, 80, "safety surface of open's Weston", safety=True),
        Tile("panel", 1360, 896, 520, 264, "composed by the cluster's engine for open"),
    ]
    return {tile.name: tile.divided(divisor) for tile in tiles}


def open_tiles(clip: str, divisor: int) -> dict[str, Tile]:
    tiles = [
        Tile("movie", 40, 116, 800, 450, clip),
        Tile("camera", 880, 116, 360, 270, "the live source"),
    ]
    return {tile.name: tile.divided(divisor) for tile in tiles}


def draw_cluster(
    path: Path, tiles: dict[str, Tile], divisor: int, unavailable: dict[str, Path]
) -> None:
    """Drawn at full size, and made smaller as a whole. `unavailable`: by names of tiles, what is
    seen in the place of a picture that its producer hides, as an engine does when its client dies.
    """
    image = gradient(*CLUSTER)
    pen = ImageDraw.Draw(image)
    _title(pen, "the display of the domain cluster: gid-cluster")
    for tile in tiles.values():
        _frame(pen, tile, divisor)
    _legend(
        pen,
        1360,
        715,
        [
            ("Each frame crosses by its number.", _LIGHT, 22, False),
            ("What is framed like this is watched:", _SAFETY, 19, False),
            ("its deadline, order, content, and the", _SAFETY, 19, False),
            ("pixels that the display really shows.", _SAFETY, 19, False),
        ],
    )
    image = image.resize(size(CLUSTER, divisor))
    for name, file in unavailable.items():
        with Image.open(file) as picture:
            image.paste(picture, (tiles[name].x, tiles[name].y))
    image.save(path)


def draw_open(path: Path, tiles: dict[str, Tile], divisor: int) -> None:
    image = gradient(*OPEN)
    pen = ImageDraw.Draw(image)
    _title(pen, "the display of the domain open: Weston")
    for tile in tiles.values():
        _frame(pen, tile, divisor)
    image.resize(size(OPEN, divisor)).save(path)


def draw_displays(path: Path, shown: Sequence[tuple[str, Path]]) -> None:
    """All displays in one picture, by name and picture: the first large, the others beside it."""
    image = gradient(*_TOGETHER)
    pen = ImageDraw.Draw(image)
    _title(pen, "the displays of the domain cluster: one gid-cluster")
    x, y, width = 40, 116, 1200
    for name, file in shown:
        with Image.open(file) as display:
            height = width * display.height // display.width
            _frame(pen, Tile(name, x, y, width, height, _SHOWN[name]), 1)
            image.paste(display.convert("RGB").resize((width, height)), (x, y))
        if x != 40:
            y += height + 62
        x, width = 1280, 600
    image.save(path)


def draw_unavailable(path: Path, tile: Tile) -> None:
    """The configured fallback of a picture that does not come."""
    image = Image.new("RGB", (tile.width, tile.height), (38, 12, 12))
    pen = ImageDraw.Draw(image)
    font = _font("DejaVuSans-Bold", tile.width // 17)
    middle = (tile.width // 2, tile.height // 2)
    pen.rectangle((0, 0, tile.width - 1, tile.height - 1), outline=(200, 60, 50), width=6)
    pen.text(middle, f"NO {tile.name.upper()}", (240, 120, 100), font, anchor="mm")
    image.save(path)


def _font(name: str, size: int) -> ImageFont.ImageFont:
    try:
        return ImageFont.truetype(str(_FONTS / f"{name}.ttf"), size)
    except OSError:
        return ImageFont.load_default(size)


def gradient(width: int, height: int) -> Image.Image:
    column = Image.new("RGB", (1, height))
    for y in range(height):
        part = y / height
        mixed = (round(a + (b - a) * part) for a, b in zip(_TOP, _BOTTOM, strict=True))
        column.putpixel((0, y), tuple(mixed))
    return column.resize((width, height))


def write(pen: ImageDraw.ImageDraw, middle: tuple[int, int], text: str, size: int) -> None:
    pen.text(middle, text, _LIGHT, _font("DejaVuSans", size), anchor="mm")


def _title(pen: ImageDraw.ImageDraw, text: str) -> None:
    pen.text((40, 24), "gidway", _LIGHT, _font("DejaVuSans-Bold", 42))
    pen.text((236, 40), text, _DIM, _font("DejaVuSans", 24))
    pen.rectangle((40, 86, 40 + 152, 88), _ACCENT)


def _frame(pen: ImageDraw.ImageDraw, tile: Tile, divisor: int) -> None:
    x, y, right, bottom = (divisor * side for side in tile.box)
    color = _SAFETY if tile.safety else (58, 70, 86)
    pen.rounded_rectangle((x - 4, y - 4, right + 3, bottom + 3), 5, (0, 0, 0), color, 3)
    font = _font("DejaVuSansMono-Bold", 20)
    pen.text((x, bottom + 10), tile.name, _SAFETY if tile.safety else _ACCENT, font)
    left = x + pen.textlength(tile.name, font) + 16
    pen.text((left, bottom + 13), tile.caption, _DIM, _font("DejaVuSans", 17))


def _legend(
    pen: ImageDraw.ImageDraw, x: int, y: int, lines: list[tuple[str, tuple, int, bool]]
) -> None:
    for text, color, size, mono in lines:
        pen.text((x, y), text, color, _font("DejaVuSansMono" if mono else "DejaVuSans", size))
        y += size + 13
