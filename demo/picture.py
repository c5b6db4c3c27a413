# SPDX-License-Identifier: MIT
"""Is the picture right? Compares a screenshot of the cluster's display with what was sent."""

from collections.abc import Iterable
from pathlib import Path

import numpy
from PIL import Image

from demo.backdrop import Tile
from lab.domains.program import LabError
from lab.film import film
from lab.film.film import Frame

_SMALL = (64, 36)
# Mean difference of small pictures, in steps of 255, that a smooth scaler makes at most; two
# different frames of one film differ by more than that unless they look alike.
_TOLERANCE = 6.0


def find(screenshot: Path, tile: Tile, sent: Iterable[Frame], fills: bool = False) -> str:
    """Finds the tile's picture among the frames `sent` (BGRx). Returns what was found, in words.
    `fills`: it fills the tile, whatever its shape.

    Raises LabError where it is none of them.
    """
    with Image.open(screenshot) as image:
        shown = image.convert("RGB").crop(tile.box)
    best, closest, scaled = 256.0, -1, False
    for number, frame in enumerate(sent):
        original = _image(frame)
        area = (0, 0, *shown.size) if fills else _fit(original.size, shown.size)
        part = shown.crop(area)
        scaled = part.size != original.size
        if not scaled and part.tobytes() == original.tobytes():
            return f"frame {number + 1}, bit-exact"
        difference = _difference(part, _sampled(original, part.size) if fills else original)
        if difference < best:
            best, closest = difference, number
    if best > _TOLERANCE:
        raise LabError(
            f"the display does not show {tile.name}: nothing that was sent looks like it (the "
            f"nearest frame differs by {best:.1f} of 255 on average); see {screenshot}"
        )
    return f"frame {closest + 1}, {'scaled' if scaled else 'but for its noise'}"


def is_same(screenshot: Path, tile: Tile, other: Path) -> bool:
    """Whether the tile shows the picture in the file `other`, bit by bit."""
    with Image.open(screenshot) as image, Image.open(other) as wanted:
        shown, wanted = image.convert("RGB").crop(tile.box), wanted.convert("RGB")
    return shown.size == wanted.size and shown.tobytes() == wanted.tobytes()


def _image(frame: Frame) -> Image.Image:
    readable, mapped = frame.buffer.map(film.Gst.MapFlags.READ)
    if not readable:
        raise MemoryError("the frame cannot be mapped")
    try:
        data = numpy.frombuffer(mapped.data, numpy.uint8)
    finally:
        frame.buffer.unmap(mapped)
    height, width, stride = frame.info.height, frame.info.width, frame.info.stride[0]
    rows = data[: height * stride].reshape(height, stride)[:, : width * 4]
    return Image.fromarray(rows.reshape(height, width, 4)[:, :, 2::-1].copy(), "RGB")


def _fit(size: tuple[int, int], area: tuple[int, int]) -> tuple[int, int, int, int]:
    """Where gid-view puts a picture in its place: as large as can be, in the middle."""
    scale = min(area[0] / size[0], area[1] / size[1])
    width, height = round(size[0] * scale), round(size[1] * scale)
    x, y = (area[0] - width) // 2, (area[1] - height) // 2
    return x, y, x + width, y + height


def _sampled(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """As an engine scales: from the four pixels next to each point, also where many go into one."""
    steps = image.width / size[0], image.height / size[1]
    matrix = (steps[0], 0, 0, 0, steps[1], 0)
    return image.transform(size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR)


def _difference(one: Image.Image, other: Image.Image) -> float:
    small = [
        numpy.asarray(image.resize(_SMALL, Image.Resampling.BOX), numpy.int16)
        for image in (one, other)
    ]
    return float(numpy.abs(small[0] - small[1]).mean())
