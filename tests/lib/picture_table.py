# SPDX-License-Identifier: MIT
"""Small pictures of every format in all colours, and what the standards say of their numbers.

Cells of 4 x 4 pixels have one colour each: so big that nobody mixes them with their neighbours.
"""

from dataclasses import dataclass

import numpy
from lib.picture_formats import BITS, FORMATS, GREY, SAMPLES, WORDS

WIDTH, HEIGHT, CELL = 16, 8, 4
# H.273's MatrixCoefficients, and the parts of red and blue in luma: ITU-T H.273, table 4.
MATRICES = {6: (0.299, 0.114), 1: (0.2126, 0.0722), 9: (0.2627, 0.0593), 7: (0.212, 0.087)}
MATRICES |= {4: (0.30, 0.11)}
FULL, LIMITED = 1, 2


@dataclass
class Case:
    fourcc: str
    matrix: int
    range: int
    data: bytes
    rgb: numpy.ndarray  # rows of red, green and blue, 0 to 255, not rounded

    def __str__(self) -> str:
        return f"{self.fourcc} of matrix {self.matrix} and range {self.range}"


def bits_of(fourcc: str) -> dict[str, int]:
    if fourcc in SAMPLES:
        return dict.fromkeys("YUV", BITS.get(fourcc, 8))
    return {part[0]: 16 if part[1:] == "h" else int(part[1:]) for part in WORDS[fourcc].split()}


def is_yuv(fourcc: str) -> bool:
    return "Y" in bits_of(fourcc)


def equations(y: float, u: float, v: float, case: tuple[int, int]) -> list[float]:
    """BT.601-7, 2.5.4, of codes of 8 bits."""
    red, blue = MATRICES[case[0]]
    if case[1] == LIMITED:
        y, u, v = (y - 16) * 255 / 219, (u - 128) * 255 / 224, (v - 128) * 255 / 224
    else:
        u, v = u - 128, v - 128
    r, b = y + 2 * (1 - red) * v, y + 2 * (1 - blue) * u
    return [r, (y - red * r - blue * b) / (1 - red - blue), b]


def meant(fourcc: str, cell: dict[str, int], colours: tuple[int, int]) -> list[float]:
    bits = bits_of(fourcc)
    if is_yuv(fourcc):
        codes = [cell[name] / 2 ** (bits[name] - 8) for name in "YUV"]
        return equations(*codes, colours)
    if "h" in WORDS[fourcc]:
        return [float(numpy.uint16(cell[name]).view(numpy.float16)) * 255 for name in "RGB"]
    values = [cell[name] * 255 / (2 ** bits[name] - 1) if name in bits else 0 for name in "RGB"]
    return [values[0]] * 3 if fourcc in GREY else values


def random_cell(fourcc: str, rng: numpy.random.Generator) -> dict[str, int]:
    cell = {}
    for name, bits in bits_of(fourcc).items():
        if name != "x" and "h" in WORDS.get(fourcc, ""):
            value = 1.0 if name == "A" else rng.random()
            cell[name] = int(numpy.float16(value).view(numpy.uint16))
        else:
            cell[name] = 2**bits - 1 if name == "A" else int(rng.integers(2**bits))
    return cell


def word(fourcc: str, cell: dict[str, int]) -> bytes:
    value = size = 0
    for part in WORDS[fourcc].split():
        bits = 16 if part[1:] == "h" else int(part[1:])
        value = value << bits | (cell[part[0]] & (2**bits - 1))
        size += bits
    return value.to_bytes(size // 8, "little")


def sample(fourcc: str, cell: dict[str, int], name: str) -> bytes:
    bits = BITS.get(fourcc, 8)
    above = 0 if bits == 8 or fourcc[0] == "S" else 16 - bits
    return (cell[name] << above).to_bytes(1 if bits == 8 else 2, "little")


def pack(fourcc: str, cells: list[list[dict[str, int]]]) -> bytes:
    """Rows without padding, plane after plane."""
    if fourcc in WORDS:
        rows = [b"".join(word(fourcc, cell) * CELL for cell in row) * CELL for row in cells]
        return b"".join(rows)
    planes = []
    for plane in SAMPLES[fourcc].split():
        names, _, shared = plane.partition("/")
        across, down = map(int, (shared or "1x1").split("x"))
        for row in cells:
            line = b"".join(
                b"".join(sample(fourcc, cell, name) for name in names) * (CELL // across)
                for cell in row
            )
            planes.append(line * (CELL // down))
    return b"".join(planes)


def make(fourcc: str, matrix: int, value_range: int, seed: int) -> Case:
    rng = numpy.random.default_rng(seed)
    cells = [
        [random_cell(fourcc, rng) for _ in range(WIDTH // CELL)] for _ in range(HEIGHT // CELL)
    ]
    values = [[meant(fourcc, cell, (matrix, value_range)) for cell in row] for row in cells]
    rgb = numpy.clip(numpy.array(values), 0, 255).repeat(CELL, 0).repeat(CELL, 1)
    return Case(fourcc, matrix, value_range, pack(fourcc, cells), rgb)


def cases() -> list[Case]:
    """Every format in all colours; red, green and blue once, to which those of YUV are nothing."""
    found = []
    for fourcc in FORMATS:
        colours = [(matrix, said) for matrix in MATRICES for said in (FULL, LIMITED)]
        for matrix, said in colours if is_yuv(fourcc) else [(0, 0)]:
            found.append(make(fourcc, matrix, said, len(found)))
    return found
