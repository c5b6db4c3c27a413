# SPDX-License-Identifier: MIT
"""A Wayland program that draws every pixel of its window anew for each frame, in a wl_shm buffer.

redraw.py DISPLAY WIDTH HEIGHT FRAMES   Goes on when the compositor asks for the next frame.
"""

import mmap
import os
import sys
from pathlib import Path

from lab.domains.wayland import Display, protocol_files

XRGB = 1  # wl_shm's own code of it
PATIENCE = 60.0  # seconds


def main() -> None:
    width, height, frames = map(int, sys.argv[2:])
    display = Display(Path(sys.argv[1]), protocol_files())
    size = width * height * 4
    memory = os.memfd_create("frames")
    os.ftruncate(memory, 2 * size)
    pixels = memoryview(mmap.mmap(memory, 2 * size))
    pool = display.bind("wl_shm")("create_pool", memory, 2 * size)
    places = [slice(i * size, (i + 1) * size) for i in (0, 1)]
    buffers = [
        pool("create_buffer", place.start, width, height, width * 4, XRGB) for place in places
    ]
    surface = display.bind("wl_compositor", 4)("create_surface")
    xdg_surface = display.bind("xdg_wm_base", 1)("get_xdg_surface", surface)
    xdg_surface("get_toplevel")
    surface("commit")
    (serial,) = xdg_surface.wait("configure", PATIENCE)
    xdg_surface("ack_configure", serial)
    for i in range(frames):
        pixels[places[i % 2]] = bytes([i % 255 + 1]) * size
        surface("attach", buffers[i % 2], 0, 0)
        surface("damage", 0, 0, width, height)
        frame = surface("frame")
        surface("commit")
        frame.wait("done", PATIENCE)


main()
