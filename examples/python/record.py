#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recorder: the pixels of a stream into a raw file, or single pictures into PNG files.

Usage: record.py [-d DOMAIN] STREAM FRAMES FILE.raw
       record.py [-d DOMAIN] STREAM FRAMES FOLDER

FILE.raw gets the visible rows of all planes, one after the other, without padding. Pictures of
FOLDER are for 8-bit formats with one plane, of which it keeps blue, green and red, or grey.
"""

import argparse
import itertools
import sys
from pathlib import Path

import gid
from PIL import Image


def as_image(frame: gid.Frame) -> Image.Image:
    picture = frame.picture
    if isinstance(picture, tuple):
        picture = picture[0]  # of YUV the brightness
    return Image.fromarray(picture if picture.ndim == 2 else picture[..., 2::-1].copy())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-d", "--domain", help="whose stream it is (default: our own)")
    parser.add_argument("stream")
    parser.add_argument("frames", type=int, help="how many")
    parser.add_argument("target", type=Path, help="a file that ends in .raw, or a folder")
    given = parser.parse_args()
    raw = given.target.open("wb") if given.target.suffix == ".raw" else None
    if raw is None:
        given.target.mkdir(parents=True, exist_ok=True)
    with gid.Domain() as here, here.consumer(given.stream, given.domain, credit=8) as consumer:
        count = 0
        for frame in itertools.islice(consumer, given.frames):
            count += 1
            with frame as picture:
                if raw is not None:
                    for plane in picture if isinstance(picture, tuple) else (picture,):
                        raw.write(plane.tobytes())
                else:
                    as_image(frame).save(given.target / f"{frame.sequence:06}.png")
        print(f"{count} frames, {consumer.stats['missed']} missed")


if __name__ == "__main__":
    try:
        main()
    except gid.GidError as error:
        sys.exit(f"record.py: {error.strerror}")
