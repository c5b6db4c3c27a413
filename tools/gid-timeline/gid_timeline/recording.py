# SPDX-License-Identifier: MIT
"""Reads what gid-recorder writes at an incident: tools/gid-recorder/recording.h says in which form.

Nothing is left out in silence: a recording that does not reach its end is none.
"""

import io
import math
import re
from dataclasses import dataclass
from typing import BinaryIO

import orjson
from PIL import Image

from .reader import Loaded, read_into

_VERSION = 1
_LINE_MAX = 1 << 24  # bytes of its first line; the others are shorter
_PIXELS_MAX = 1 << 22  # of a picture, which gid-recorder makes much smaller
_NUMBERS_END = 1 << 64
_QUALITY = 80
_STREAM = re.compile(rb'"stream":"([^"]*)"')
# How what was drawn is seen, by the number of its wl_output.transform.
_TURNS = (
    None,
    Image.Transpose.ROTATE_270,
    Image.Transpose.ROTATE_180,
    Image.Transpose.ROTATE_90,
)


# What the parts of a recording have that the page shows, and of which type.
_HEAD = {
    "version": int,
    "domain": str,
    "number": int,
    "time_ns": int,
    "noted_ns": int,
    "written_ns": int,
    "realtime_ns": int,
    "asked": bool,
    "others": int,
    "seconds": int,
    "rate": int,
    "display": bool,
    "known_ns": int,
}
_CHANGE = {
    "role": str,
    "from": str,
    "to": str,
    "reason": str,
    "due_ns": int,
    "decided_ns": int,
    "last_frame_ns": int,
    "shown_ns": int,
}
_LISTS = {
    "changes": _CHANGE,
    "roles": {"name": str, "state": str, "reason": str, "known_ns": int},
    "streams": {
        "domain": str,
        "name": str,
        "number": int,
        "live": bool,
        "unread": int,
        "unread_reason": str,
    },
    "timelines": {"file": str, "bytes": int, "names_missing": bool},
}
_PICTURE = {
    "stream": int,
    "time_ns": int,
    "sequence": int,
    "width": int,
    "height": int,
    "transform": int,
    "gap": str,
    "gap_ns": int,
    "bytes": int,
}


class RecordingError(Exception):
    """Why it is no recording; the message says it."""


@dataclass(slots=True)
class Picture:
    """A small picture of a stream, as it is seen, and the time at which it came."""

    time: int
    sequence: int
    width: int
    height: int
    jpeg: bytes
    gap: str  # why no picture followed: "hidden", "ended", "gone", "unread"; ""
    gap_time: int


@dataclass(slots=True)
class Recording:
    """Times are in ns of the recorder's CLOCK_MONOTONIC."""

    head: dict
    loaded: Loaded  # the timelines, and what the recorder itself saw of frames
    pictures: list[list[Picture]]  # of each stream of the head

    @property
    def time(self) -> int:
        return self.head["time_ns"]

    @property
    def end(self) -> int:
        return self.head["written_ns"]

    def is_gone(self, role: dict) -> bool:
        """Whether the display has the role no more, as after another configuration."""
        return role["known_ns"] < self.head["known_ns"]

    def known(self, role: dict) -> int:
        """Until when the role is known."""
        is_there = self.head["display"] and not self.is_gone(role)
        return self.end if is_there else role["known_ns"]

    @property
    def start(self) -> int:
        return self.end - self.head["seconds"] * 1_000_000_000


def read(file: BinaryIO) -> Recording:
    try:
        return _read(file)
    except (LookupError, TypeError, ValueError) as error:
        raise RecordingError(f"no recording of gid-recorder: {error!r}") from error


def _check(entry: dict, form: dict[str, type]) -> None:
    for key, kind in form.items():
        value = entry[key]
        if type(value) is not kind or (kind is int and not 0 <= value < _NUMBERS_END):
            raise ValueError(f"{key}={value!r}")


def _head(file: BinaryIO) -> dict:
    head = _line(file)
    if head["version"] != _VERSION:
        raise RecordingError(f"a recording of another version: {head['version']}")
    _check(head, _HEAD)
    _check(head["incident"], _CHANGE)
    for name, form in _LISTS.items():
        for entry in head[name]:
            _check(entry, form)
    return head


def _read(file: BinaryIO) -> Recording:
    head = _head(file)
    found = Recording(head, Loaded(), [[] for _ in head["streams"]])
    trace = found.loaded.trace
    for timeline in head["timelines"]:
        trace.begin_log(timeline["file"])
        read_into(trace, io.BytesIO(_bytes(file, timeline["bytes"])))
    _expect(file, "points")
    _read_points(file, found)
    while "end" not in (entry := _line(file)):
        _check(entry, _PICTURE)
        pixels = _bytes(file, entry["bytes"])
        found.pictures[entry["stream"]].append(_picture(entry, pixels))
    return found


def _read_points(file: BinaryIO, found: Recording) -> None:
    """What the recorder saw of the frames of those streams of which no timeline tells more."""
    trace = found.loaded.trace
    told = {name.encode() for name in trace.gid.streams}
    lines = []
    while not (line := _text(file)).startswith(b'{"pictures"'):
        match = _STREAM.search(line)
        if match is not None and match[1] not in told:
            lines.append(line)
    trace.begin_log("recorder")
    read_into(trace, io.BytesIO(b"".join(lines)))
    for place in (found.head, *found.head["streams"]):
        if not trace.gid.is_named(place["number"]):
            trace.gid.name_domain(place["number"], place["domain"], None)


def _picture(entry: dict, pixels: bytes) -> Picture:
    size = (entry["width"], entry["height"])
    if not 0 < math.prod(size) <= _PIXELS_MAX:  # which Pillow would take the memory for
        raise ValueError(f"a picture of {size}")
    image = Image.frombytes("RGB", size, pixels)
    transform = entry["transform"]
    if (turn := _TURNS[transform % 4]) is not None:
        image = image.transpose(turn)
    if transform >= 4:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    encoded = io.BytesIO()
    image.save(encoded, "JPEG", quality=_QUALITY)
    return Picture(
        entry["time_ns"],
        entry["sequence"],
        *image.size,
        encoded.getvalue(),
        entry["gap"],
        entry["gap_ns"],
    )


def _text(file: BinaryIO) -> bytes:
    line = file.readline(_LINE_MAX)
    if not line.endswith(b"\n"):
        raise RecordingError("the recording ends too early")
    return line


def _line(file: BinaryIO) -> dict:
    value = orjson.loads(_text(file))
    if not isinstance(value, dict):
        raise ValueError("a line that is no object")
    return value


def _expect(file: BinaryIO, key: str) -> None:
    if key not in _line(file):
        raise ValueError(f"no line with {key}")


def _bytes(file: BinaryIO, count: int) -> bytes:
    if not 0 <= count <= 3 * _PIXELS_MAX:
        raise ValueError(f"{count} bytes")
    found = file.read(count)
    if len(found) != count:
        raise RecordingError("the recording ends too early")
    return found
