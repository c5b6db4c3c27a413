# SPDX-License-Identifier: MIT
"""A gid-cluster with planes=on, its roles, and what must then be on the screen."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy
from domains import Domains, OwnKernel
from scanout import (
    HEIGHT,
    WIDTH,
    background_picture,
    domains_with_a_display,
    lamp_picture,
    png,
    write,
)

from lab.domains.configuration import section

OVERLAYS = 8
DISPLAY = section(
    "display",
    f"worst-frame=0 output=Virtual-1 width={WIDTH} height={HEIGHT} pacing=on planes=on "
    "background=background.png stream=screen",
)
LAMP = (40, 20, 150, 70)  # x, y, width, height
TURNED = (300, 100, 33, 57)
SMALL = (40, 30)  # width, height
PLAIN = {"blue": (1, 2, 3), "red": (200, 30, 5), "green": (9, 150, 60)}


@contextmanager
def domains_with_planes(*how: OwnKernel) -> Iterator[Domains]:
    """In a guest, which is made by `how`; with the pictures that roles fall back to."""
    with domains_with_a_display(["vkms enable_overlay=1"], *how) as domains:
        write(domains, "background.png", png(background_picture()))
        for name, colour in PLAIN.items():
            for width, height in {LAMP[2:], SMALL}:
                picture = numpy.full((height, width, 3), colour, numpy.uint8)
                write(domains, f"{name}-{width}x{height}.png", png(picture))
        yield domains


def role(name: str, box: tuple[int, int, int, int], fallback: str, more: str = "") -> str:
    x, y, width, height = box
    if fallback in PLAIN:
        fallback = f"{fallback}-{width}x{height}.png"
    place = f"x={x} y={y} width={width} height={height}"
    return section(
        f"role {name}", f"domain=open {place} deadline-ms=10000 fallback={fallback} {more}"
    )


def plain(name: str) -> numpy.ndarray:
    return numpy.array(PLAIN[name], numpy.uint8)


def screen(*parts: tuple[tuple[int, int, int, int], numpy.ndarray]) -> numpy.ndarray:
    picture = background_picture()
    for (x, y, width, height), pixels in parts:
        there = picture[y : y + height, x : x + width]
        there[...] = pixels[: len(there), : len(there[0])] if pixels.ndim == 3 else pixels
    return picture


def lamp(number: int) -> numpy.ndarray:
    return lamp_picture(number, *LAMP[2:])
