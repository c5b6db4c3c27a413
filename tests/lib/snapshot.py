# SPDX-License-Identifier: MIT
"""A picture of a stream. A module of its own: most tests need no pictures, nor what they take."""

import time

import numpy
from lib.cockpit import GIDCTL, Cockpit
from lib.program import PATIENCE
from PIL import Image


def snap(cockpit: Cockpit, domain: str, *words: str) -> numpy.ndarray:
    """What a program of the domain gets of a stream now, as rows of RGB."""
    path = cockpit.folder / f"snap-{time.monotonic_ns()}.png"
    words = ("snap", *words, f"--wait={PATIENCE / 2}", "-o", path)
    program = cockpit.run(domain, [GIDCTL, *words], "snap")
    assert program.wait() == 0, program.stderr
    with Image.open(path) as image:
        return numpy.asarray(image.convert("RGB"))
