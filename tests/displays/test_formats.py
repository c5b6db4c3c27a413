# SPDX-License-Identifier: MIT
"""Roles and layers in every format of libgid's table, turned, and layers scaled as well.

A format that is new there is in picture_formats (tests/pictures compares the two), and so here: its
pictures are right, or it is one of those that are refused by name.
"""

from dataclasses import dataclass

import numpy
import pytest
from kinds import start
from lib.cockpit import Cockpit
from lib.picture_formats import FORMATS, GREY, WORDS, Colour, colour, expected, pack, tolerance
from lib.pictures import BT601, LIMITED, RAW_ROLE
from lib.program import Program, wait_for

# What would take a worker ten times as long as others (gid-cluster(1)).
SLOW = {"RX30", "RA30", "BX30", "BA30", "GR88", "AYUV", "Y410", "Y412", "Y416"} | GREY
REFUSED = SLOW | {name for name, parts in WORDS.items() if "16" in parts or "h" in parts}

AT_ONCE = 8
COLUMN = 80
ROLE, LAYER = (64, 48), (80, 60)
LAYER_Y = 60
SCALED = (64, 96)  # of a layer's pictures; some have more rows than are converted at once
QUARTERS = [colour(230, 20, 30), colour(40, 200, 60), colour(20, 60, 220), colour(250, 240, 40)]


def config() -> str:
    text = ""
    for i in range(AT_ONCE):
        place = f"domain=open\nx={i * COLUMN}\nformats=any\ntransform=any\n"
        text += f"[role role{i}]\n{place}stream=role{i}\ny=0\nwidth={ROLE[0]}\nheight={ROLE[1]}\n"
        text += f"deadline-ms=60000\n[layer layer{i}]\n{place}y={LAYER_Y}\n"
        text += f"width={LAYER[0]}\nheight={LAYER[1]}\nfit=fill\n"
    return text


def colour_at(x: int, y: int, size: tuple[int, int]) -> Colour:
    return QUARTERS[(x >= size[0] // 2) + 2 * (y >= size[1] // 2)]


@dataclass
class Shown:
    """One format in one place of the display."""

    fourcc: str
    kind: str
    number: int
    transform: int

    @property
    def name(self) -> str:
        return f"{self.kind}{self.number}"

    def start(self, cockpit: Cockpit) -> Program:
        across, down = ROLE if self.kind == "role" else SCALED
        size = (down, across) if self.transform % 2 else (across, down)
        path = cockpit.folder / f"{self.name}.picture"
        path.write_bytes(packed(self.fourcc, size))
        words = [self.fourcc, *size, BT601, LIMITED, 0, 0, *size, self.transform]
        return cockpit.run("open", [RAW_ROLE, self.name, path, *map(str, words)])

    def is_right(self, screen: numpy.ndarray) -> bool:
        """In the middle of each quarter, for scaling mixes the colours at the edges."""
        width, height = ROLE if self.kind == "role" else LAYER
        y = 0 if self.kind == "role" else LAYER_Y
        x = self.number * COLUMN
        seen = screen[y : y + height, x : x + width].astype(int)
        quarters = numpy.array([expected(self.fourcc, one) for one in QUARTERS]).reshape(2, 2, 3)
        quarters = numpy.rot90(quarters, -(self.transform % 4))
        quarters = quarters[:, ::-1] if self.transform >= 4 else quarters
        for row in (0, 1):
            for column in (0, 1):
                top, left = row * height // 2 + height // 8, column * width // 2 + width // 8
                part = seen[top : top + height // 4, left : left + width // 4]
                if numpy.abs(part - quarters[row, column]).max() > tolerance(self.fourcc):
                    return False
        return True

    def is_settled(self, status: dict) -> bool:
        """Shown, or refused."""
        found = self.found(status)
        refused = found["refused"] if self.kind == "layer" else found["reason"]
        return found["shown_frames"] > 0 if self.fourcc not in REFUSED else refused == "format"

    def found(self, status: dict) -> dict:
        return next(one for one in status[f"{self.kind}s"] if one["name"] == self.name)


def packed(fourcc: str, size: tuple[int, int]) -> bytes:
    return pack(fourcc, *size, lambda x, y: colour_at(x, y, size))


def wrong(shown: list[Shown], screen: numpy.ndarray) -> list[str]:
    return [f"{one.fourcc} {one.name}" for one in shown if not one.is_right(screen)]


@pytest.mark.parametrize("begin", range(0, len(FORMATS), AT_ONCE))
def test_all_formats(cockpit: Cockpit, begin: int) -> None:
    display = start(cockpit, config())
    shown = [
        Shown(fourcc, kind, number, 1 + (begin + number + offset) % 7)
        for number, fourcc in enumerate(FORMATS[begin : begin + AT_ONCE])
        for kind, offset in (("role", 0), ("layer", 3))
    ]
    for one in shown:
        one.start(cockpit)

    def settled() -> bool:
        status = display.status()
        return all(one.is_settled(status) for one in shown)

    def unsettled() -> str:
        status = display.status()
        left = [one for one in shown if not one.is_settled(status)]
        return "; ".join(f"{one.fourcc}: {one.found(status)}" for one in left)

    wait_for(settled, unsettled)
    taken = [one for one in shown if one.fourcc not in REFUSED]
    seen: list[str] = []

    def are_right(screen: numpy.ndarray) -> bool:
        seen[:] = wrong(taken, screen)
        return not seen

    display.wait_right(are_right, lambda: f"pictures of {seen}")
    status = display.status()
    for one in shown:
        found = one.found(status)
        if one.fourcc in REFUSED:
            assert (found["shown_frames"], found["detail"]) == (0, one.fourcc)
        else:
            assert found["state"] == "live"
