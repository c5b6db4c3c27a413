# SPDX-License-Identifier: MIT
"""Receives the film with a gidsrc and checks every frame against the decoder's own checksums.

The demo runs it in the domain `cluster`. It writes its counts to a file, for the first time once it
knows the film, until it is told to end.
"""

import argparse
import json
import math
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import gi

from demo.checksums import checksum
from lab.film import film
from lab.film.play import structure_to_dict

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstVideo  # noqa: E402


class Checker:
    """Knows the checksum of each frame of the film by its media time."""

    def __init__(self, expected: dict[int, bytes]) -> None:
        self.frames = 0
        self.wrong = 0
        self._expected = expected
        self._latencies: list[int] = []  # ns

    def add(self, time: int, found: bytes, latency: int) -> None:
        self.frames += 1
        self._latencies.append(latency)
        if self._expected.get(time) != found:
            self.wrong += 1

    def latency_us(self) -> dict:
        """As gid-view's: percentiles, and a histogram of [upper bound, count] pairs."""
        if not self._latencies:
            return {}
        sorted_us = sorted(latency / 1000 for latency in self._latencies)
        count = len(sorted_us)
        bounds = Counter(1.03 ** math.ceil(math.log(max(1, us), 1.03)) for us in sorted_us)
        return {
            "count": count,
            "p50": sorted_us[(count - 1) // 2],
            "p99": sorted_us[math.ceil(count * 0.99) - 1],
            "max": sorted_us[-1],
            "mean": sum(sorted_us) / count,
            "histogram": sorted([round(bound, 1), number] for bound, number in bounds.items()),
        }


class Receiver:
    def __init__(self, checker: Checker, domain: str, stream: str, stats: Path) -> None:
        self._checker = checker
        self._stats = stats
        self._ended = False
        self._media = Gst.Caps.from_string("timestamp/x-gid-media")
        self._submit = Gst.Caps.from_string("timestamp/x-gid-submit")
        self._pipeline = Gst.parse_launch(
            f"gidsrc name=source domain={domain} stream={stream} "
            "! appsink name=sink sync=false emit-signals=true"
        )

    def run(self) -> int:
        """Until a signal. Returns the exit status."""
        sink = self._pipeline.get_by_name("sink")
        sink.connect("propose-allocation", take_any_layout)
        bus = self._pipeline.get_bus()
        self._pipeline.set_state(Gst.State.PLAYING)
        self.write_stats()
        while not self._ended:
            sample = sink.emit("try-pull-sample", Gst.SECOND // 5)
            if sample is not None:
                self._check(sample)
            error = bus.pop_filtered(Gst.MessageType.ERROR)
            if error is not None:
                print(error.parse_error()[0].message, file=sys.stderr)
                self.end()
                self.write_stats()
                return 1
            if self._checker.frames % 10 == 0:
                self.write_stats()
        self.write_stats()
        self._pipeline.set_state(Gst.State.NULL)
        return 0

    def end(self, *_) -> None:
        self._ended = True

    def _check(self, sample: Gst.Sample) -> None:
        now = time.monotonic_ns()
        buffer = sample.get_buffer()
        info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
        media = buffer.get_reference_timestamp_meta(self._media)
        submit = buffer.get_reference_timestamp_meta(self._submit)
        found = checksum(buffer, info)
        self._checker.add(media.timestamp if media else -1, found, now - submit.timestamp)

    def write_stats(self) -> None:
        """The latencies at the end only: to sort them all takes long."""
        source = self._pipeline.get_by_name("source").get_property("stats")
        values = {
            "frames": self._checker.frames,
            "wrong": self._checker.wrong,
            "latency_us": self._checker.latency_us() if self._ended else {},
            "source": structure_to_dict(source),
        }
        partial = self._stats.with_suffix(".partial")
        partial.write_text(json.dumps(values) + "\n")
        os.replace(partial, self._stats)


def take_any_layout(_sink: Gst.Element, query: Gst.Query) -> bool:
    """Else gidsrc would copy frames whose rows are padded."""
    query.add_allocation_meta(GstVideo.video_meta_api_get_type(), None)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks every frame of a stream.")
    parser.add_argument("--clip", type=Path, required=True, help="the film that is played")
    parser.add_argument("--seconds", type=float, default=60, help="how much of it, at most")
    parser.add_argument("--domain", default="open")
    parser.add_argument("--stream", default="movie-i420")
    parser.add_argument("--stats", type=Path, required=True, metavar="FILE", help="counts as JSON")
    options = parser.parse_args()
    Gst.init(None)
    try:
        parts = film.frames(options.clip, film.sink_caps(), options.seconds)
        expected = {frame.buffer.pts: checksum(frame.buffer, frame.info) for frame in parts}
        if not expected:
            raise film.FilmError(f"{options.clip}: there is no picture in it")
        receiver = Receiver(Checker(expected), options.domain, options.stream, options.stats)
    except (film.FilmError, GLib.Error) as error:
        print(error, file=sys.stderr)
        return 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, receiver.end)
    return receiver.run()


if __name__ == "__main__":
    sys.exit(main())
