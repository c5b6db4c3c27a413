# SPDX-License-Identifier: MIT
"""Sends numbered pictures at their rate: send.py FRAMES SINK. Stays until it is told."""

import sys

import numbered
from gi.repository import Gst


def main() -> int:
    frames, sink = int(sys.argv[1]), sys.argv[2]
    Gst.init(None)
    # A film, which the sink shows at its times: none of it is late before anybody reads. A
    # converter writes it into memory that the sink offers.
    other = numbered.CAPS.replace("I420", "YV12")
    pipeline = Gst.parse_launch(
        f'appsrc name=in format=time max-bytes=0 caps="{other}" ! videoconvert '
        f"! {numbered.CAPS} ! {sink}"
    )
    source = pipeline.get_by_name("in")
    for number in range(frames):
        buffer = Gst.Buffer.new_wrapped(numbered.draw(number))
        buffer.pts = number * Gst.SECOND // numbered.RATE
        buffer.duration = Gst.SECOND // numbered.RATE
        source.emit("push-buffer", buffer)
    source.emit("end-of-stream")
    pipeline.set_state(Gst.State.PLAYING)
    wanted = Gst.MessageType.EOS | Gst.MessageType.ERROR
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, wanted)
    if message.type == Gst.MessageType.ERROR:
        print(message.parse_error()[0].message, file=sys.stderr)
    else:
        sys.stdin.read()  # what was sent last may be read yet
    pipeline.set_state(Gst.State.NULL)
    return message.type == Gst.MessageType.ERROR


if __name__ == "__main__":
    sys.exit(main())
