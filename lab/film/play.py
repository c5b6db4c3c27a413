# SPDX-License-Identifier: MIT
"""Plays pipelines that each end in `gidsink name=sink`, in a loop until it is stopped.

The demo has one player for all streams of the domain `open`: starting Python and GStreamer takes 5
s of CPU time in a guest without KVM. No frame passes through Python: this is gst-launch-1.0 with a
loop, and with the sinks' statistics in a file.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402


class Player:
    """A pipeline. `ended` is called once: whether it failed."""

    def __init__(self, description: str, loop: bool, ended: Callable[[bool], None]) -> None:
        self._pipeline = Gst.parse_launch(description)
        self._sink = self._pipeline.get_by_name("sink")
        self._loop = loop
        self._ended = ended
        self._segments = False
        bus = self._pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self._message)

    def start(self) -> None:
        """Starts it. A live source is not looped: it cannot pause, and has no end."""
        if self._loop:
            result = self._pipeline.set_state(Gst.State.PAUSED)
            self._loop = result != Gst.StateChangeReturn.NO_PREROLL
        if not self._loop:
            self._pipeline.set_state(Gst.State.PLAYING)

    def stop(self) -> None:
        self._pipeline.set_state(Gst.State.NULL)

    @property
    def stream(self) -> str:
        return self._sink.get_property("stream")

    def stats(self) -> dict:
        return structure_to_dict(self._sink.get_property("stats"))

    def _message(self, _bus: Gst.Bus, message: Gst.Message) -> None:
        if message.type == Gst.MessageType.ERROR:
            error, details = message.parse_error()
            print(f"{message.src.get_path_string()}: {error.message}\n{details}", file=sys.stderr)
            self._ended(True)
        elif message.type == Gst.MessageType.ASYNC_DONE and self._loop and not self._segments:
            self._begin_loop()
        elif message.type == Gst.MessageType.SEGMENT_DONE:
            self._seek(Gst.SeekFlags.SEGMENT)
        elif message.type == Gst.MessageType.EOS:
            self._rewind()

    def _seek(self, flags: Gst.SeekFlags) -> bool:
        return self._pipeline.seek(
            1.0, Gst.Format.TIME, flags, Gst.SeekType.SET, 0, Gst.SeekType.NONE, -1
        )

    def _begin_loop(self) -> None:
        """Joins segments without a gap; an element without segment seeks is rewound at its end."""
        self._segments = True
        self._seek(Gst.SeekFlags.SEGMENT | Gst.SeekFlags.FLUSH)
        self._pipeline.set_state(Gst.State.PLAYING)

    def _rewind(self) -> None:
        if not self._loop:
            self._ended(False)
        elif not self._seek(Gst.SeekFlags.FLUSH):
            self._pipeline.set_state(Gst.State.READY)
            self._pipeline.set_state(Gst.State.PLAYING)


class Players:
    """All pipelines, until the last one has ended or one fails."""

    def __init__(self, descriptions: list[str], loop: bool, stats: Path | None) -> None:
        self._stats = stats
        self._main = GLib.MainLoop()
        self._status = 0
        self._players = [Player(text, loop, self._ended) for text in descriptions]
        self._running = len(self._players)

    def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            GLib.unix_signal_add(GLib.PRIORITY_HIGH, number, self._main.quit)
        if self._stats:
            GLib.timeout_add(500, self._write_stats)
        for player in self._players:
            player.start()
        self._main.run()
        self._write_stats()
        for player in self._players:
            player.stop()
        return self._status

    def _ended(self, failed: bool) -> None:
        self._running -= 1
        self._status |= failed
        if failed or self._running == 0:
            self._main.quit()

    def _write_stats(self) -> bool:
        if self._stats:
            values = {player.stream: player.stats() for player in self._players}
            partial = self._stats.with_suffix(".partial")
            partial.write_text(json.dumps(values) + "\n")
            os.replace(partial, self._stats)
        return GLib.SOURCE_CONTINUE


def structure_to_dict(structure: Gst.Structure) -> dict:
    """Converts a structure of numbers, strings and structures."""
    values = {}
    for index in range(structure.n_fields()):
        name = structure.nth_field_name(index)
        value = structure.get_value(name)
        values[name] = structure_to_dict(value) if isinstance(value, Gst.Structure) else value
    return values


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Plays pipelines that each end in gidsink name=sink."
    )
    parser.add_argument("--loop", action="store_true", help="begin again at the end")
    parser.add_argument(
        "--stats", type=Path, metavar="FILE", help="where each stream's counts go, as JSON"
    )
    parser.add_argument("pipeline", nargs="+", help="as for gst-launch-1.0")
    options = parser.parse_args()
    Gst.init(None)
    try:
        return Players(options.pipeline, options.loop, options.stats).run()
    except GLib.Error as error:
        print(f"{' '.join(options.pipeline)}: {error.message}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
