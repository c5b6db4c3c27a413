# SPDX-License-Identifier: MIT
"""Reads a stream until it is ended, and tells of each picture what there is to compare.

That is its number, a checksum of one part of it, and how many pixels outside of that part are not
those of a file (in NumPy's form; without one, nothing outside is looked at).
"""

import argparse
import json
import signal
import sys
import threading
import zlib
from pathlib import Path

import numpy

COLOURS = numpy.uint32(0xFFFFFF)  # of a pixel's four bytes one means nothing
LOOK = 0.5  # seconds between two looks whether this is the end


class Rest:
    """What is outside of the part. Most pictures are as the last right one was to the bit: that is
    looked at first, for it is quick."""

    def __init__(self, wanted: numpy.ndarray, part: tuple[slice, slice]) -> None:
        self._wanted, self._part = wanted, part
        rows, columns = part
        self._around = (
            (slice(0, rows.start), slice(None)),
            (slice(rows.stop, None), slice(None)),
            (rows, slice(0, columns.start)),
            (rows, slice(columns.stop, None)),
        )
        self._right: numpy.ndarray | None = None

    def wrong(self, pixels: numpy.ndarray) -> int:
        if pixels.shape != self._wanted.shape:
            return pixels.size
        if self._right is not None and all(
            numpy.array_equal(pixels[one], self._right[one]) for one in self._around
        ):
            return 0
        differs = (pixels ^ self._wanted) & COLOURS != 0
        differs[self._part] = False
        wrong = int(differs.sum())
        if wrong == 0:
            self._right = pixels.copy()
        return wrong


def main() -> int:
    import gid  # which the build has, and not whoever only tests Rest

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stream")
    parser.add_argument("--part", type=int, nargs=4, metavar=("X", "Y", "WIDTH", "HEIGHT"))
    parser.add_argument("--rest", type=Path, metavar="FILE")
    options = parser.parse_args()
    x, y, width, height = options.part
    part = (slice(y, y + height), slice(x, x + width))
    rest = Rest(numpy.load(options.rest), part) if options.rest else None
    ends = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ends.set())
    seen = []
    with gid.Domain() as here, here.consumer(options.stream, credit=2, drop_old=True) as reader:
        while not ends.is_set():
            try:
                frame = reader.frame(LOOK)
            except TimeoutError:
                continue
            try:
                with frame as picture:
                    pixels = picture.view(numpy.uint32)[..., 0]
                    checksum = zlib.crc32(pixels[part] & COLOURS)
                    told = (frame.sequence, checksum, rest.wrong(pixels) if rest else 0)
            except gid.LeaseError:
                continue  # we were too slow: that is not what was shown
            if not seen:
                print("ready", flush=True)
            seen.append(told)
    print(json.dumps(seen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
