# SPDX-License-Identifier: MIT
"""A client of any compositor with one fullscreen window of shared memory, as ordinary ones have."""

import itertools
import mmap
import os
from pathlib import Path

import numpy
from lib.weston import SHM_FORMATS, XRGB8888, Client, bind_output

from lab.domains.wayland import Display, protocol_files


class Painter:
    """Of the whole output."""

    def __init__(self, socket: Path, output: str, size: tuple[int, int]) -> None:
        self.client = Client(Display(socket, protocol_files()))
        self.width, self.height = size
        display = self.client.display
        self.surface = self.client.open_window(bind_output(display, output))
        self.memory = os.memfd_create("painter")
        self.size = self.width * self.height * 4
        os.ftruncate(self.memory, self.size * 2)
        self.data = mmap.mmap(self.memory, self.size * 2)
        pool = display.bind("wl_shm")("create_pool", self.memory, self.size * 2)
        self.buffers = [
            pool("create_buffer", n * self.size, *size, self.width * 4, SHM_FORMATS[XRGB8888])
            for n in (0, 1)
        ]
        self.pixels = numpy.zeros((self.height, self.width, 4), numpy.uint8)
        self.turn = itertools.cycle((0, 1))

    def paint(self, seed: int, box: tuple[int, int, int, int] | None = None) -> numpy.ndarray:
        """Noise there, or everywhere. Returns the whole picture, when it was drawn."""
        x, y, width, height = box or (0, 0, self.width, self.height)
        noise = numpy.random.default_rng(seed).integers(0, 256, (height, width, 4), numpy.uint8)
        self.pixels[y : y + height, x : x + width] = noise
        number = next(self.turn)
        self.data[number * self.size : (number + 1) * self.size] = self.pixels.tobytes()
        self.surface("attach", self.buffers[number], 0, 0)
        self.surface("damage", x, y, width, height)
        self.client.commit()
        return self.pixels[..., :3].copy()
