# SPDX-License-Identifier: MIT
"""The stages of a frame on its way from one domain to the light of another."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .clocks import Offset, offsets
from .gidpoints import POINTS, GidPoints, gid_text
from .journeys import Columns, Route, routes
from .samples import Samples
from .stats import Histogram, Summary, describe
from .table import NONE

# In the order of a frame's way, the last two of the whole of it; and what is in each.
STAGES = {
    ("capture", "submit"): "decoding, and the wait for its time",
    ("submit", "receive"): "from hand to hand",
    ("receive", "commit"): "the consumer's own work and wait",
    ("commit", "shown"): "wait, repaint, and wait for the refresh",
    ("shown", "released"): "until another frame is shown",
    ("released", "freed"): "until the producer wants memory",
    ("submit", "shown"): "gidway and the compositor",
    ("capture", "shown"): "from capture to light",
}
Stages = dict[tuple[str, str], Summary]

FOREIGN = ("receive", "commit", "shown", "released")  # of the consumer's clock


@dataclass(slots=True)
class Joined:
    """A route with all its times on the owner's clock, where the offset is known."""

    route: Route
    domains: str  # from where to where it went
    times: Columns
    offset: Offset | None  # None: of the owner's domain itself, or not known
    stages: Stages
    histograms: dict[tuple[str, str], Histogram]

    def count(self, point: str) -> int:
        return int((self.times[point] >= 0).sum())

    @property
    def home(self) -> int:
        """The domain by whose clock it can be drawn: the owner's, unless no time of that is known.

        As of a log that the consumer alone has written.
        """
        is_owners = self.offset is not None or self.route.consumer == NONE
        is_known = is_owners or any(self.count(point) for point in ("capture", "submit"))
        return self.route.owner if is_known else self.route.consumer

    @property
    def is_between_domains(self) -> bool:
        return self.route.consumer not in (self.route.owner, NONE)

    def crosses(self, stage: tuple[str, str]) -> bool:
        """Whether the stage begins on one clock and ends on another."""
        if self.route.consumer == self.route.owner:
            return False
        return (stage[0] in FOREIGN) != (stage[1] in FOREIGN)

    def is_uncertain(self, stage: tuple[str, str]) -> bool:
        """Whether the stage is only as sure as what is known of the two clocks."""
        return self.crosses(stage) and self.offset is not None and not self.offset.same


def join(points: GidPoints) -> tuple[list[Joined], int]:
    """All routes, and the number of points that belong to no known frame."""
    found, unknown = routes(points)
    clocks = offsets(found, points.clock)
    found.sort(key=_interest)
    return [
        _joined(route, points, clocks.get((route.owner, route.consumer))) for route in found
    ], unknown


def _interest(route: Route) -> tuple:
    """What crosses from domain to domain comes first, and what was shown before what was not."""
    is_shown = bool((route.times["shown"] >= 0).any())
    is_crossing = route.consumer not in (route.owner, NONE)
    is_taken = route.consumer != NONE
    return not is_crossing, not is_taken, not is_shown, route.owner, route.stream, route.consumer


def _joined(route: Route, points: GidPoints, offset: Offset | None) -> Joined:
    domains = points.domain(route.owner)
    taken = route.consumer != NONE
    domains += f" → {points.domain(route.consumer)}" if taken else ", taken by nobody"
    times = dict(route.times)
    if offset is not None:
        for point in FOREIGN:
            known = times[point] >= 0
            times[point] = np.where(known, offset.to_owner(times[point]), NONE)
    joined = Joined(route, domains, times, offset, {}, {})
    for start, end in STAGES:
        if joined.crosses((start, end)) and offset is None:
            continue
        both = (times[start] >= 0) & (times[end] >= 0)
        if both.any():
            summary, histogram = describe(Samples.of((times[end] - times[start])[both]))
            joined.stages[start, end] = summary
            joined.histograms[start, end] = histogram
    return joined


def sentence(joined: Joined) -> str:
    """How many frames took which part of the way."""
    parts = [(name, joined.count(name)) for name in ("submit", "receive", "commit", "shown")]
    words = {"submit": "submitted", "receive": "received", "commit": "committed", "shown": "shown"}
    return ", ".join(f"{number} {words[name]}" for name, number in parts if number)


@dataclass(slots=True)
class Travelled:
    """The frames that have every point of the way, as far as anybody wrote such points."""

    frames: int
    way: Stages  # one after the other: parts of one sum
    whole: Stages


def travelled(joined: Joined) -> Travelled:
    points = [point for point in POINTS[:5] if joined.count(point)]
    known = np.ones(len(joined.route.sequence), dtype=bool)
    for point in points:
        known &= joined.times[point] >= 0
    found = Travelled(int(known.sum()), {}, {})
    if not found.frames:
        return found

    def take(into: Stages, start: str, end: str) -> None:
        if not joined.crosses((start, end)) or joined.offset is not None:
            spans = Samples.of((joined.times[end] - joined.times[start])[known])
            into[start, end] = describe(spans)[0]

    for start, end in itertools.pairwise(points):
        take(found.way, start, end)
    for start, end in STAGES:
        if end == "shown" and {start, end} <= set(points) and (start, end) not in found.way:
            take(found.whole, start, end)
    return found


def clock_words(joined: Joined) -> str:
    """What is known of the two clocks."""
    offset = joined.offset
    if joined.route.consumer in (joined.route.owner, NONE):
        return "one clock"
    if offset is None:
        return "no frame tells how far the clocks are apart: stages between the domains left out"
    if offset.same and offset.told:
        return "one clock, as both domains run on one kernel"
    if offset.same:
        return "nothing speaks against one clock for both: taken for the same"
    apart = f"clocks {offset.values[0] / 1e9:.6f} s apart"
    if offset.error is None:
        return f"{apart} at most: no frame came back, so the fastest is taken to need no time"
    drift = ", drifting" if len(offset.values) > 1 else ""
    return f"{apart}{drift}, known to ± {offset.error / 1e6:.3f} ms"


def frames(joined: Joined) -> Iterator[list[int | str]]:
    """One row for each frame: its names, and its times in ns of the owner's clock."""
    route = joined.route
    consumer = "" if route.consumer == NONE else route.consumer
    columns = [joined.times[point].tolist() for point in POINTS]
    rows = zip(route.sequence.tolist(), route.gid.tolist(), *columns, strict=True)
    for sequence, gid, *times in rows:
        known = ["" if time == NONE else time for time in times]
        yield [route.stream, route.owner, consumer, sequence, gid_text(gid), *known]


def header() -> list[str]:
    """The names of what frames() gives."""
    return ["stream", "owner", "consumer", "sequence", "gid", *(f"{name}_ns" for name in POINTS)]
