#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A detector: finds the brightest place of each picture, and sends what it saw as a stream.

Usage: detect.py [-d DOMAIN] STREAM OWN_STREAM

Its stream is grey, of half the size, with a white mark; a frame's note has the place as JSON.
"""

import argparse
import json
import sys

import gid
import numpy as np
import numpy.typing as npt


def grey(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Every second pixel of every second row, of any format of 8 bits."""
    half = picture[::2, ::2]
    return half if half.ndim == 2 else half[..., :3].max(axis=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-d", "--domain", help="whose stream is read (default: our own)")
    parser.add_argument("stream")
    parser.add_argument("own", help="the stream that is sent; the cockpit's file must have it")
    given = parser.parse_args()
    producer = None
    with gid.Domain() as here, here.consumer(given.stream, given.domain, drop_old=True) as camera:
        for frame in camera:
            with frame as picture:
                seen = grey(picture[0] if isinstance(picture, tuple) else picture)
                y, x = np.unravel_index(seen.argmax(), seen.shape)
                if producer is None:
                    producer = here.producer(given.own, "R8", *reversed(seen.shape))
                note = json.dumps({"x": int(2 * x), "y": int(2 * y), "of": frame.sequence})
                with producer.slot(pts=frame.pts or 0, note=note.encode()) as mine:
                    mine[:] = seen // 2
                    mine[max(0, y - 2) : y + 3, max(0, x - 2) : x + 3] = 255


if __name__ == "__main__":
    try:
        main()
    except gid.GidError as error:
        sys.exit(f"detect.py: {error.strerror}")
    except KeyboardInterrupt:
        pass  # how it ends
