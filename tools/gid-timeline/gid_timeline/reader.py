# SPDX-License-Identifier: MIT
"""Reads a timeline log of Weston 14, 15 or 16, bytes as they come, into a Trace.

Weston's lines have a fixed form. One that was seen before, but for its times, is found again by
the rest of its bytes in a dictionary, which gives at once what it does: that makes a gigabyte a
matter of seconds. All other lines go the slow way, which tolerates whatever a log may contain:
other log text before or between the lines, labels that are no valid JSON, lines that were cut off,
and what JSON tools make of a log: other blanks, another order, an object spread over lines. So are
some points of Weston 1, which told what had asked for a repaint.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import BinaryIO

import orjson

from .gidpoints import MODULE
from .table import NONE
from .trace import Point, Trace, well_formed

CHUNK_BYTES = 1 << 18
_LINE_MAX = 1 << 14  # Weston's own limit is 512 and the length of a label, which may be escaped
# A label is the client's, and may have much that looks like a line: what one byte of it can cost.
_STARTS_MAX = 8
_LABEL_LINES_MAX = 16
_OBJECT_LINES_MAX = 64  # of an object that a JSON tool spread over lines
_KNOWN_MAX = 4096
_SECONDS_MAX = 1 << 32
_KINDS = {f"weston_{kind}": kind for kind in ("output", "surface", "seat")}
_BACK_MAX = 1_000_000_000  # ns; within a run Weston's times never go back
_START = re.compile(rb'\{ ?"(?:T|id)" ?:')
_FAST = b'{ "T":['
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
        self._declaration: list[bytes] = []  # one whose label goes on in the next line
        self._object: list[bytes] = []  # one that is spread over lines
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
        self.broken += bool(self._declaration)
        self._give_up(self._object)
        self._rest, self._declaration, self._object = b"", [], []
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
            if base >= 0 and head[:7] == _FAST and 0 < len(nanoseconds) < 10:
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
        # What goes on in the next line must see that one first, also if it is known.
        if self._declaration or self._object:
            return {}, {}
        return self._known, self._known_stamped

    def _read_odd(self, line: bytes) -> None:
        line = line.rstrip(b"\r")
        if len(line) > _LINE_MAX:
            line = line[:_LINE_MAX] + b"~"
        starts = [match.start() for match in _START.finditer(line)]
        if len(starts) > _STARTS_MAX:  # the first may be a declaration, the last be glued to others
            starts = [starts[0], *starts[1 - _STARTS_MAX :]]
        if self._object:
            held, self._object = self._object, []
            if not starts and (line.startswith(b"\t") or not _is_open_point(held[0])):
                self._read_object([*held, line])
                return
            self._give_up(held)
        if self._declaration:
            held, self._declaration = self._declaration, []
            if starts[:1] == [0] or _is_of_timeline(line):
                self.broken += 1  # the held line was cut off: its label does not go on here
            else:
                self._read_label([*held, line])
                return
        if starts:
            self._read_from(line, starts)
        elif line.strip() == b"{":
            self._object = [line]
        elif not self._take(line):
            self.other += 1

    def _read_from(self, line: bytes, starts: list[int]) -> None:
        """A line in which points or declarations begin at these places."""
        first = line[starts[0] :]
        if len(starts) == 1 and _is_open_point(first):
            self._object = [first]
            return
        if self._declare(first) or self._take_last(line, starts):
            return
        if len(starts) == 1 and _is_open_declaration(first):
            self._declaration = [first]
        else:
            self.broken += 1

    def _read_label(self, lines: list[bytes]) -> None:
        """A declaration whose label has several lines, the last of which is new."""
        line = b"\n".join(lines)
        if len(line) <= _LINE_MAX and self._declare(line):
            return
        if len(lines) < _LABEL_LINES_MAX and _is_open_declaration(line):
            self._declaration = lines
        else:
            self.broken += 1

    def _read_object(self, lines: list[bytes]) -> None:
        """One that is spread over lines, the last of which is new."""
        if lines[-1].strip().rstrip(b",") in (b"}", b"] }"):
            if not self._take(b"".join(lines)):
                self._give_up(lines)
        elif len(lines) < _OBJECT_LINES_MAX and sum(map(len, lines)) < _LINE_MAX:
            self._object = lines
        else:
            self._give_up(lines)

    def _give_up(self, lines: list[bytes]) -> None:
        """On an object that was to go on."""
        cut_off = bool(lines) and _is_open_point(lines[0])
        self.broken += cut_off
        self.other += len(lines) - cut_off

    def _take_last(self, line: bytes, starts: list[int]) -> bool:
        # To a line that was cut off the next one is glued.
        for start in reversed(starts):
            if self._declare(line[start:]) or self._take(line[start:]):
                self.broken += start != starts[0]
                return True
        return False

    def _declare(self, line: bytes) -> bool:
        """A declaration in Weston's own form, whose label may be anything."""
        match = _DECLARATION.match(line)
        end = _DECLARATION_END.match(match[3]) if match else None
        if end is None or _GLUED.search(end[1]):
            return False
        label = None if end[1] == b"null" else _label(end[1])
        main = int(end[2]) if end[2] else None
        self._declared(match[2].decode(), int(match[1]), label, main)
        return True

    def _declared(self, kind: str, number: int, label: str | None, main: int | None) -> None:
        if self.trace.starts_new_run(kind, number):
            self._new_run(NONE)
        self.trace.declare(kind, number, label, main)

    def _new_run(self, last: int) -> None:
        self.trace.run.last = max(self._last, self.trace.run.first)
        self.trace.new_run()
        self._known.clear()
        self._known_stamped.clear()
        self._last = last

    def _take(self, text: bytes) -> bool:
        """Whether `text` begins with a JSON object that is a point or a declaration."""
        found = _json(text)
        if found is None:
            return False
        return self._take_point(found, text) if "N" in found else self._take_declaration(found)

    def _take_declaration(self, found: dict) -> bool:
        number, kind = found.get("id"), found.get("type")
        if type(number) is not int or not 0 <= number < 10**9 or not isinstance(kind, str):
            return False
        if kind == "gid_domain":
            return self.trace.gid.name_domain(number, found.get("name"), found.get("clock"))
        label = found.get("desc" if kind == "weston_surface" else "name")
        main = found.get("main_surface")
        if kind not in _KINDS or not isinstance(label, str | None):
            return False
        if main is not None and type(main) is not int:
            return False
        label = None if label is None else well_formed(label)
        self._declared(_KINDS[kind], number, label, main)
        return True

    def _take_point(self, line: dict, text: bytes) -> bool:
        point = Point.of(line)
        time = _time_of(line.get("T")) if point is not None else NONE
        if time < 0:
            return False
        if point.name.startswith("gid_"):
            return self._take_gid_point(line, time)
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
        if text.startswith(_FAST):
            self._remember(text, act, stamped=point.stamp is not None)
        return True

    def _take_gid_point(self, line: dict, time: int) -> bool:
        if not self.trace.gid.add(line, time):
            return False
        run = self.trace.run
        if run.domain < 0 and run.first >= 0 and line.get("by") == MODULE:
            run.domain = line.get("domain", NONE)
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


@dataclass(slots=True)
class Loaded:
    """What was read: all of the logs in one trace, the runs of each for themselves."""

    trace: Trace = field(default_factory=Trace)
    lines: int = 0
    other: int = 0
    broken: int = 0
    empty: list[str] = field(default_factory=list)  # logs without a line of a timeline


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


def _is_open_point(line: bytes) -> bool:
    return line.startswith(_FAST) and line.endswith(b",")


def _is_open_declaration(line: bytes) -> bool:
    match = _DECLARATION.match(line)
    return match is not None and match[3].startswith(b'"') and len(line) < _LINE_MAX


def _is_of_timeline(line: bytes) -> bool:
    """Whether it is one of the timeline's, as JSON tools may write them: in any order."""
    found = _json(line) if line.lstrip().startswith(b"{") else None
    return found is not None and (found.keys() >= {"T", "N"} or found.keys() >= {"id", "type"})


def _label(text: bytes) -> str:
    """Of a declaration in Weston's own form. Weston escapes nothing; who else wrote it does."""
    raw = text[1:-1].decode(errors="replace")
    if "\\" not in raw:
        return raw
    try:
        found = json.loads(f'"{raw}"')
    except ValueError:
        return raw
    # In `C:\new` nothing is escaped: no label has control characters by intent.
    return raw if any(char < " " for char in found) else well_formed(found)


def _json(line: bytes) -> dict | None:
    if not line.lstrip().startswith(b"{"):  # as most lines of other logs
        return None
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:  # other text may follow the line
            text = line.decode(errors="replace").lstrip()
            value, _ = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
