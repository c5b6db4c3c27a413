# SPDX-License-Identifier: MIT
"""The points that gidway itself writes: gid_capture, gid_submit, … (see docs/timeline.md)."""

import re

from .table import NONE, Table

# In the order in which a frame passes them.
POINTS = ("capture", "submit", "receive", "commit", "shown", "released", "freed")

MODULE = "weston"  # the writer of those in Weston's own timeline

_POINTS = {"gid_" + point: number for number, point in enumerate(POINTS)}
_GID = re.compile(r"(\d{1,3}):(\d{1,8})\.(\d{1,5})#(\d{1,5})\Z", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9._-][A-Za-z0-9._/-]{0,62}\Z", re.ASCII)
_NAMES_MAX = 4096


class GidPoints:
    """The points in the order they were read, and the names of the streams they speak of."""

    def __init__(self) -> None:
        self.points = Table("point", "stream", "owner", "sequence", "domain", "by", "time", "gid")
        self.streams: dict[str, int] = {}
        self.writers: dict[str, int] = {"": 0}
        self._domains: dict[int, str] = {}
        self._clocks: dict[int, str | None] = {}

    def add(self, line: dict, time: int) -> bool:
        """Whether `line`, whose N begins with gid_, was right and is taken up.

        Without stream and sequence it speaks of the frame that its gid last named.
        """
        point = _POINTS.get(line["N"])
        gid = parse_gid(line.get("gid"))
        if point is None or gid is None:
            return False
        owner = gid >> 56
        domain = line.get("domain", owner)
        if not isinstance(domain, int) or not 1 <= domain <= 254:
            return False
        stream = sequence = NONE
        if "stream" in line or "sequence" in line:
            sequence = line.get("sequence")
            stream = _intern(self.streams, line.get("stream"))
            if stream is None or not isinstance(sequence, int) or not 0 <= sequence < 1 << 63:
                return False
        writer = _intern(self.writers, line.get("by", ""))
        if writer is None:
            return False
        signed = gid - (1 << 64) if gid >> 63 else gid
        self.points.append((point, stream, owner, sequence, domain, writer, time, signed))
        return True

    def name_domain(self, number: int, name: object, clock: object) -> bool:
        """Whether the domain can have this number, name and clock, and has them now."""
        if not 1 <= number <= 254 or not _is_name(name) or not (clock is None or _is_name(clock)):
            return False
        self._domains[number] = name
        if self._clocks.setdefault(number, clock) != clock:
            self._clocks[number] = None  # it started again elsewhere
        return True

    def domain(self, number: int) -> str:
        """What people call it."""
        return self._domains.get(number, f"domain {number}")

    def is_named(self, number: int) -> bool:
        """Whether the log said what the domain is called."""
        return number in self._domains

    def clock(self, number: int) -> str | None:
        """The one by which all its times are; None: not told, or several."""
        return self._clocks.get(number)


def parse_gid(text: object) -> int | None:
    """The 64 bits of a gid's text form, "1:42.3#7", or None."""
    match = _GID.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    domain, slab, slot, generation = map(int, match.groups())
    if not 1 <= domain <= 254 or slab >> 24 or slot >> 16 or generation >> 16:
        return None
    return domain << 56 | slab << 32 | slot << 16 | generation


def gid_text(signed: int) -> str:
    """The text form of a gid as the table holds it, in 64 bits with a sign."""
    gid = signed & (1 << 64) - 1
    return f"{gid >> 56}:{gid >> 32 & 0xFFFFFF}.{gid >> 16 & 0xFFFF}#{gid & 0xFFFF}"


def _is_name(name: object) -> bool:
    return isinstance(name, str) and _NAME.match(name) is not None


def _intern(names: dict[str, int], name: object) -> int | None:
    if not isinstance(name, str):
        return None
    number = names.get(name)
    if number is None:
        if not _is_name(name) or len(names) >= _NAMES_MAX:
            return None
        number = names[name] = len(names)
    return number
