#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The edges of each picture, by OpenCV, as a stream. Usage: edges.py DOMAIN STREAM OWN_STREAM

OpenCV reads the picture where it lies, and draws where the own stream's readers will read.
"""

import sys

import cv2
import gid

if len(sys.argv) != 4:
    print(__doc__, file=sys.stderr)
    sys.exit(2)

with gid.Domain() as here, here.consumer(sys.argv[2], sys.argv[1], drop_old=True) as camera:
    producer = None
    for frame in camera:
        with frame as picture:
            luma = picture[0] if isinstance(picture, tuple) else picture
            grey = luma if luma.ndim == 2 else cv2.cvtColor(luma, cv2.COLOR_BGRA2GRAY)
            if producer is None:
                producer = here.producer(sys.argv[3], "R8", *reversed(grey.shape))
            with producer.slot(pts=frame.pts) as mine:
                cv2.Canny(grey, 100, 200, edges=mine)
