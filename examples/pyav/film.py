#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A stream as a film, by PyAV. Usage: film.py DOMAIN STREAM FRAMES FILM.mkv

The stream's format is XR24, as of `video/x-raw,format=BGRx`.
"""

import itertools
import sys

import av
import gid

if len(sys.argv) != 5:
    print(__doc__, file=sys.stderr)
    sys.exit(2)
domain, stream, count, path = sys.argv[1:]
with gid.Domain() as here, here.consumer(stream, domain) as camera, av.open(path, "w") as film:
    track = film.add_stream("libx264", rate=30)
    for number, frame in enumerate(itertools.islice(camera, int(count))):
        with frame as picture:
            shown = av.VideoFrame.from_ndarray(picture, format="bgra")  # a copy
        track.width, track.height, shown.pts = shown.width, shown.height, number
        film.mux(track.encode(shown))
    film.mux(track.encode())
