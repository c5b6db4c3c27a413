#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Composes streams of its own domain for some seconds, and writes what that took as JSON.

No frame passes through Python, which sleeps meanwhile.
"""

import argparse
import json
import sys
import time

import gi

from bench import common

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

WARM_UP = 1.0  # seconds


class Measure:
    """What has been used until now."""

    def __init__(self, pipeline: Gst.Pipeline, engine: int) -> None:
        self.wall = time.monotonic()
        self.cpu = time.process_time()
        self.engine = common.cpu_seconds(engine)
        self.frames = pipeline.get_by_name("out").get_property("stats").get_value("rendered")


def start(description: str) -> Gst.Pipeline:
    pipeline = Gst.parse_launch(description)
    pipeline.set_state(Gst.State.PLAYING)
    sink = pipeline.get_by_name("out")
    end = time.monotonic() + 30
    while sink.get_property("stats").get_value("rendered") == 0:
        check(pipeline)
        if time.monotonic() > end:
            sys.exit("no picture is composed")
        time.sleep(0.05)
    return pipeline


def check(pipeline: Gst.Pipeline) -> None:
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.EOS)
    if message is not None:
        error = message.type == Gst.MessageType.ERROR
        sys.exit(message.parse_error()[0].message if error else "the streams ended")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--rate", type=int, required=True, help="pictures a second")
    parser.add_argument("--engine", type=int, required=True, help="process of gid-engine")
    parser.add_argument("pipeline", help="with elements `compose` and `out`")
    options = parser.parse_args()
    Gst.init(None)
    pipeline = start(options.pipeline)
    time.sleep(WARM_UP)
    begin = Measure(pipeline, options.engine)
    time.sleep(options.seconds)
    end = Measure(pipeline, options.engine)
    check(pipeline)
    compose = pipeline.get_by_name("compose")
    counts = compose.find_property("copies") is not None
    frames = end.frames - begin.frames
    print(
        json.dumps(
            {
                "frames": frames,
                "dropped": max(0, round((end.wall - begin.wall) * options.rate) - frames - 1),
                "copies": compose.get_property("copies") if counts else None,
                "cpu_us": (end.cpu - begin.cpu) * 1e6 / max(1, frames),
                "engine_cpu_us": (end.engine - begin.engine) * 1e6 / max(1, frames),
            }
        )
    )
    pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    main()
