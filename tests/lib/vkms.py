# SPDX-License-Identifier: MIT
"""What vkms scans out: the checksum of each refresh, taken where the planes are mixed.

It is the display controller's own. Nothing that composed the pixels is asked.
"""

import threading
import time
import zlib

import numpy
from lib.program import wait_for

CHECKSUMS = "/sys/kernel/debug/dri/vkms/crtc-0/crc"


def checksum(picture: numpy.ndarray) -> int:
    """Of rows of red, green, blue: each pixel is opaque, with 16 bits for a colour."""
    pixels = numpy.full((*picture.shape[:2], 4), 0xFFFF, "<u2")
    pixels[..., 1:] = picture.astype("<u2") * 257
    return zlib.crc32(pixels.tobytes(), 0xFFFFFFFF) ^ 0xFFFFFFFF


def checksums_of(lines: str) -> list[int]:
    """Of what the kernel says, line by line."""
    return [int(line.split()[1], 16) for line in lines.replace("\0", "").splitlines()]


class Refreshes(threading.Thread):
    """Those of this machine, as they come; without an end, for which see scanout's of a guest."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen: list[int] = []
        self.start()

    def run(self) -> None:
        while True:
            try:
                with open(f"{CHECKSUMS}/data", "rb", buffering=0) as data:
                    while line := data.read(64):
                        self.seen += checksums_of(line.decode())
            except OSError:  # the display is dark
                time.sleep(0.1)

    def next(self, count: int = 2) -> set[int]:
        """Of so many that come now."""
        first = len(self.seen)
        wait_for(lambda: len(self.seen) >= first + count, f"{count} refreshes")
        return set(self.seen[first : first + count])
