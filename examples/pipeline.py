#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sends a test picture through a stream, or counts the frames of one, by GStreamer from Python.

Usage: pipeline.py send STREAM [FRAMES]
       pipeline.py receive [-d DOMAIN] STREAM [FRAMES]

The elements are gidsink and gidsrc; what is before and behind them is any pipeline. They connect to
the domain that $GID_DOMAIN names, unless there is only one.
"""

import argparse
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402


def send(stream: str, frames: int) -> Gst.Element:
    """videotestsrc draws straight into the memory that gidsink offers: nothing is copied."""
    return Gst.parse_launch(
        f"videotestsrc is-live=true num-buffers={frames} ! video/x-raw,format=BGRx,width=320,"
        f"height=240,framerate=30/1 ! gidsink stream={stream} wait-for-connection=true"
    )


def receive(domain: str | None, stream: str, frames: int) -> Gst.Element:
    """gidsrc waits for the stream to appear, and gives the producer's own memory downstream."""
    owner = f"domain={domain}" if domain else ""
    pipeline = Gst.parse_launch(
        f"gidsrc {owner} stream={stream} num-buffers={frames} ! fakesink name=sink "
        "signal-handoffs=true sync=false"
    )
    pipeline.get_by_name("sink").connect("handoff", show)
    return pipeline


def show(sink: Gst.Element, buffer: Gst.Buffer, pad: Gst.Pad) -> None:
    structure = pad.get_current_caps().get_structure(0)
    print(
        f"{structure.get_string('format')} {structure.get_value('width')}x"
        f"{structure.get_value('height')}, {buffer.get_size()} bytes",
        flush=True,
    )


def run(pipeline: Gst.Element) -> int:
    """Plays until the end of the flow, or an error, which is told."""
    pipeline.set_state(Gst.State.PLAYING)
    wanted = Gst.MessageType.EOS | Gst.MessageType.ERROR
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, wanted)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        error, details = message.parse_error()
        print(f"pipeline.py: {error.message}\n{details}", file=sys.stderr)
        return 1
    return 0


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("what", choices=("send", "receive"))
    arguments.add_argument("stream")
    arguments.add_argument("frames", type=int, nargs="?", default=-1)
    arguments.add_argument("-d", "--domain", help="whose stream is received (default: our own)")
    given = arguments.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own waits until GStreamer returns
    Gst.init(None)
    if given.what == "send":
        return run(send(given.stream, given.frames))
    return run(receive(given.domain, given.stream, given.frames))


if __name__ == "__main__":
    sys.exit(main())
