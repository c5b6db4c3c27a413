# SPDX-License-Identifier: MIT
"""Runs a consumer: receive.py [--keep N] FRAMES PIPELINE. Writes what it saw as JSON.

Buffers that reach the element `watch` are read: at once, or with --keep when N others have come
after them and at the end. The source is called `src`. When as many frames have come as there are,
or none for a while, the stream is ended as a program would do it.
"""

import argparse
import json
import sys
from collections import deque

import numbered
from gi.repository import GLib, Gst, GstVideo

QUIET_SECONDS = 6.0  # slower encoders take longer for no frame
LOOK_MS = 100


class Consumer:
    def __init__(self, text: str, frames: int, keep: int) -> None:
        self._frames, self._keep = frames, keep
        self._received, self._quiet, self._ended = 0, 0.0, False
        self._kept: deque[Gst.Buffer] = deque()
        self._info: GstVideo.VideoInfo | None = None
        self.numbers: list[int] = []
        self.errors: list[str] = []
        self.said: list[str] = []
        self._loop = GLib.MainLoop()
        self._pipeline = Gst.parse_launch(text)
        self._source = self._pipeline.get_by_name("src")
        source = self._source.get_static_pad("src")
        if source is not None:  # several files have no pad yet
            source.add_probe(Gst.PadProbeType.BUFFER, self._on_arrival)
        watch = self._pipeline.get_by_name("watch")
        if watch is not None:
            watch.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, self._on_buffer)

    def _on_arrival(self, pad: Gst.Pad, info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
        self._received += 1
        self._quiet = 0.0
        return Gst.PadProbeReturn.OK

    def _on_buffer(self, pad: Gst.Pad, info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
        if self._info is None:
            self._info = GstVideo.VideoInfo.new_from_caps(pad.get_current_caps())
        self._kept.append(info.get_buffer())
        while len(self._kept) > self._keep:
            self._read_first()
        return Gst.PadProbeReturn.OK

    def _read_first(self) -> None:
        self.numbers.append(numbered.read(self._kept.popleft(), self._info))

    def _poll(self) -> bool:
        self._quiet += LOOK_MS / 1000
        done = self._received >= self._frames or self._quiet > QUIET_SECONDS
        if not self._ended and done:
            self._ended = True
            self._source.send_event(Gst.Event.new_eos())
        return True

    def _on_message(self, bus: Gst.Bus, message: Gst.Message) -> bool:
        if message.type == Gst.MessageType.EOS:
            self._loop.quit()
        elif message.type == Gst.MessageType.ERROR:
            self.errors.append(message.parse_error()[0].message)
            if message.src is not self._source:  # that of shmsrc is how it ends
                self._loop.quit()
        elif message.type == Gst.MessageType.WARNING:
            self.said.append(message.parse_warning()[0].message)
        elif message.type == Gst.MessageType.INFO:
            self.said.append(message.parse_info()[0].message)
        return True

    def run(self) -> None:
        bus = self._pipeline.get_bus()
        bus.add_watch(GLib.PRIORITY_DEFAULT, self._on_message)
        GLib.timeout_add(LOOK_MS, self._poll)
        self._pipeline.set_state(Gst.State.PLAYING)
        self._loop.run()
        while self._kept:
            self._read_first()

    def copied(self) -> int | None:
        """Of gidsrc; of others it is not known."""
        if self._source.find_property("stats") is None:
            return None
        return self._source.get_property("stats").get_uint64("copied-frames").value

    def stop(self) -> None:
        self._pipeline.set_state(Gst.State.NULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=int, default=0)
    parser.add_argument("frames", type=int)
    parser.add_argument("pipeline")
    options = parser.parse_args()
    Gst.init(None)
    consumer = Consumer(options.pipeline, options.frames, options.keep)
    consumer.run()
    result = {
        "numbers": consumer.numbers,
        "copied": consumer.copied(),
        "errors": consumer.errors,
        "said": consumer.said,
    }
    consumer.stop()
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
