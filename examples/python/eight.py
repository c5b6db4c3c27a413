#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One camera for eight processes, each of which reads its frames where they lie: no copy.

Usage: eight.py [-d DOMAIN] STREAM [FRAMES]
"""

import argparse
import multiprocessing
import sys

import gid


def read(domain: str | None, stream: str, frames: int, number: int) -> None:
    with gid.Domain() as here, here.consumer(stream, domain) as camera:
        for _ in range(frames):
            frame = camera.frame()
            with frame as picture:
                first = picture[0] if isinstance(picture, tuple) else picture
                line = f"{number}: frame {frame.sequence}, mean {first.mean():.2f}\n"
                print(line, end="", flush=True)  # at once, for all eight write to one place


def run(domain: str | None, stream: str, frames: int, number: int) -> None:
    """A process of its own, with a connection of its own."""
    try:
        read(domain, stream, frames, number)
    except gid.GidError as error:
        sys.exit(f"eight.py: {error.strerror}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-d", "--domain", help="whose stream it is (default: our own)")
    parser.add_argument("stream")
    parser.add_argument("frames", type=int, nargs="?", default=30)
    given = parser.parse_args()
    words = (given.domain, given.stream, given.frames)
    context = multiprocessing.get_context("spawn")
    readers = [context.Process(target=run, args=(*words, number)) for number in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    raise SystemExit(any(reader.exitcode for reader in readers))


if __name__ == "__main__":
    main()
