# SPDX-License-Identifier: MIT
"""Reads a timeline log of Weston 14, 15 or 16, bytes as they come, into a Trace.

Weston's lines have a fixed form. One that was seen before, but for its times, is found again by
the rest of its bytes in a dictionary, which gives at once what it does: that makes a gigabyte a
matter of seconds. All other lines go the slow way, which tolerates whatever a log may contain:
other log text before or between the lines, labels that are no valid JSON, lines that were cut off.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import BinaryIO

import orjson

from .table import NONE
from .trace import Point, Trace

CHUNK_BYTES = 1 << 18
_LINE_MAX = 4096  # Weston's own limit is 512 and the length of a label
_KNOWN_MAX = 4096
_SECONDS_MAX = 1 << 32
_BACK_MAX = 1_000_000_000  # ns; within a run Weston's times never go back
_START = re.compile(rb'\{ ?"(?:T|id)" ?:')
_DECLARATION = re.compile(
    rb'\{ "id":(\d{1,9}), "type":"weston_(output|surface|seat)", "(?:name|desc)":(.*)\Z', re.DOTALL
)
_DECLARATION_END = re.compile(rb'(null|".*")(?:, "main_surface":(\d{1,9}))? \}\Z', re.DOTALL)
# In a label: the label was cut off, and these lines (which end like a declaration) follow it.
_GLUED = re.compile(rb'\{ "id":\d+, "type":"weston_|"N":"gid_')


class Reader:
    """Feeds a trace. `lines` counts all lines; `other` those that are no timeline lines;
    `broken` those that seem to be, but are cut off or damaged."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.lines = 0
        self.other = 0
        self.broken = 0
        self._known: dict[bytes, Callable[[int], None]] = {}
        self._known_stamped: dict[bytes, Callable[[int, int], None]] = {}
        self._rest = b""
        self._declaration = b""  # one whose label goes on in the next line
        self._last = NONE

    def feed(self, data: bytes) -> None:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > _LINE_MAX:
            self._rest = self._rest[:_LINE_MAX] + b"~"  # too long for a line of ours: drop its end
        self.lines += len(lines)
        self._read(lines)
        self.trace.run.last = self._last
        self.trace.settle()

    def close(self) -> None:
        """The log is over."""
        if self._rest:
            self.lines += 1
            self._read([self._rest])
        if self._declaration:
            self.broken += 1
        self._rest = self._declaration = b""
        self.trace.run.last = self._last
        self.trace.end_run()

    def _read(self, lines: Iterable[bytes]) -> None:
        known, known_stamped = self._known_lines()
        seconds_text = b""
        base = 0
        last = self._last
        for line in lines:
            head, _, tail = line.partition(b"], ")
            seconds, _, nanoseconds = head[7:].partition(b", ")
            if seconds != seconds_text:
                base = _seconds(seconds)
                if base >= 0:
                    seconds_text = seconds
            if base >= 0 and head[:7] == b'{ "T":[' and 0 < len(nanoseconds) < 10:
                act = known.get(tail)
                if act is not None and nanoseconds.isdigit():
                    time = base + int(nanoseconds)
                    if time >= last:
                        last = time
                        act(time)
                        continue
                else:
                    name, _, rest = tail.partition(b":[")
                    stamp, _, rest = rest.partition(b"]")
                    act = known_stamped.get(name + rest)
                    if act is not None and nanoseconds.isdigit():
                        time = base + int(nanoseconds)
                        second = _time(stamp)
                        if time >= last and second >= 0:
                            last = time
                            act(time, second)
                            continue
            self._last = last
            self._read_odd(line)
            last = self._last
            known, known_stamped = self._known_lines()
        self._last = last

    def _known_lines(self) -> tuple[dict, dict]:
        # After a line whose label goes on, the next one is no other line before it is looked at.
        return ({}, {}) if self._declaration else (self._known, self._known_stamped)

    def _read_odd(self, line: bytes) -> None:
        line = line.rstrip(b"\r")
        starts = [match.start() for match in _START.finditer(line[:_LINE_MAX])]
        if self._declaration:
            held, self._declaration = self._declaration, b""
            if starts[:1] == [0]:
                self.broken += 1  # the held line was cut off: its label does not go on here
            else:
                line = held + b"\n" + line
                starts = [0]
        if not starts:
            self.other += 1
        elif not self._declare(line[starts[0] :]) and not self._take_last_point(line, starts):
            if len(starts) == 1 and self._is_open_declaration(line[starts[0] :]):
                self._declaration = line[starts[0] :]
            else:
                self.broken += 1

    def _take_last_point(self, line: bytes, starts: list[int]) -> bool:
        # To a line that was cut off the next one is glued.
        for start in reversed(starts):
            if self._declare(line[start:]) or self._point(line[start:]):
                self.broken += start != starts[0]
                return True
        return False

    def _is_open_declaration(self, line: bytes) -> bool:
        match = _DECLARATION.match(line)
        return match is not None and match[3].startswith(b'"') and len(line) < _LINE_MAX

    def _declare(self, line: bytes) -> bool:
        match = _DECLARATION.match(line)
        end = _DECLARATION_END.match(match[3]) if match else None
        if end is None or _GLUED.search(end[1]):
            return False
        number = int(match[1])
        label = None if end[1] == b"null" else end[1][1:-1].decode(errors="replace")
        main = int(end[2]) if end[2] else None
        if self.trace.starts_new_run(match[2].decode(), number):
            self._new_run(NONE)
        self.trace.declare(match[2].decode(), number, label, main)
        return True

    def _new_run(self, last: int) -> None:
        self.trace.run.last = max(self._last, self.trace.run.first)
        self.trace.new_run()
        self._known.clear()
        self._known_stamped.clear()
        self._last = last

    def _point(self, text: bytes) -> bool:
        line = _json(text)
        point = Point.of(line) if line is not None else None
        time = _time_of(line.get("T")) if point is not None else NONE
        if time < 0:
            return False
        if point.name.startswith("gid_"):
            return self.trace.gid.add(line, time)
        second = _time_of(line.get(point.stamp)) if point.stamp else NONE
        if point.stamp and second < 0:
            return False
        if time < self._last - _BACK_MAX:
            self._new_run(time)
        if self.trace.run.first < 0:
            self.trace.run.first = time
        self._last = max(self._last, time)
        act = self.trace.action(point)
        if act is None:
            return True
        if point.stamp:
            act(time, second)
        else:
            act(time)
        self._remember(text, act, stamped=point.stamp is not None)
        return True

    def _remember(self, line: bytes, act: Callable[..., None], stamped: bool) -> None:
        known = self._known_stamped if stamped else self._known
        _, _, rest = line.partition(b"], ")
        if stamped:
            name, _, rest = rest.partition(b":[")
            _, _, rest = rest.partition(b"]")
            rest = name + rest
        if len(known) >= _KNOWN_MAX:
            known.clear()
        known[rest] = act


def read_into(
    trace: Trace, file: BinaryIO, progress: Callable[[int], None] | None = None
) -> Reader:
    """Reads `file` to its end. `progress` is told the bytes read so far."""
    reader = Reader(trace)
    total = 0
    # read1: what a pipe has at the moment, rather than waiting for a full chunk
    while data := file.read1(CHUNK_BYTES):
        reader.feed(data)
        total += len(data)
        if progress:
            progress(total)
    reader.close()
    return reader


def _seconds(text: bytes) -> int:
    if not text.isdigit() or len(text) > 10:
        return NONE
    return int(text) * 1_000_000_000


def _time(text: bytes) -> int:
    seconds, _, nanoseconds = text.partition(b", ")
    if not nanoseconds.isdigit() or len(nanoseconds) > 9 or not seconds.isdigit():
        return NONE
    if len(seconds) > 10:
        return NONE
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


def _time_of(value: object) -> int:
    match value:
        case [int(seconds), int(nanoseconds)]:
            if 0 <= seconds < _SECONDS_MAX and 0 <= nanoseconds < 1_000_000_000:
                return seconds * 1_000_000_000 + nanoseconds
    return NONE


def _json(line: bytes) -> dict | None:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:  # other text may follow the line
            value, _ = json.JSONDecoder().raw_decode(line.decode(errors="replace"))
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
