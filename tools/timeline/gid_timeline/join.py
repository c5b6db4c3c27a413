# SPDX-License-Identifier: MIT
"""The stages of a frame on its way from one domain to the light of another."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .clocks import Offset, offsets
from .gidpoints import POINTS, GidPoints, gid_text
from .journeys import Columns, Route, routes
from .samples import Samples
from .stats import Summary, describe
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
_FOREIGN = ("receive", "commit", "shown", "released")  # of the consumer's clock


@dataclass(slots=True)
class Joined:
    """A route with all its times on the owner's clock, where the offset is known."""

    route: Route
    times: Columns
    offset: Offset | None  # None: of the owner's domain itself, or not known
    stages: dict[tuple[str, str], Summary]

    def count(self, point: str) -> int:
        return int((self.times[point] >= 0).sum())

    def crosses(self, stage: tuple[str, str]) -> bool:
        """Whether the stage begins on one clock and ends on another."""
        if self.route.consumer == self.route.owner:
            return False
        return (stage[0] in _FOREIGN) != (stage[1] in _FOREIGN)

    def is_uncertain(self, stage: tuple[str, str]) -> bool:
        """Whether the stage is only as sure as what is known of the two clocks."""
        return self.crosses(stage) and self.offset is not None and not self.offset.same


def join(points: GidPoints) -> tuple[list[Joined], int]:
    """All routes, and the number of points that belong to no known frame."""
    found, unknown = routes(points)
    clocks = offsets(found)
    return [_joined(route, clocks.get((route.owner, route.consumer))) for route in found], unknown


def _joined(route: Route, offset: Offset | None) -> Joined:
    times = dict(route.times)
    if offset is not None:
        for point in _FOREIGN:
            known = times[point] >= 0
            times[point] = np.where(known, offset.to_owner(times[point]), NONE)
    joined = Joined(route, times, offset, {})
    for start, end in STAGES:
        if joined.crosses((start, end)) and offset is None:
            continue
        both = (times[start] >= 0) & (times[end] >= 0)
        if both.any():
            spans = Samples.of((times[end] - times[start])[both])
            joined.stages[start, end] = describe(spans)[0]
    return joined


def sentence(joined: Joined) -> str:
    """How many frames took which part of the way."""
    parts = [(name, joined.count(name)) for name in ("submit", "receive", "commit", "shown")]
    words = {"submit": "submitted", "receive": "received", "commit": "committed", "shown": "shown"}
    return ", ".join(f"{number} {words[name]}" for name, number in parts if number)


def way(joined: Joined) -> list[tuple[tuple[str, str], float]]:
    """The means of the stages that make up an average frame's way, as far as there are points."""
    points = [point for point in POINTS[:5] if joined.count(point)]
    whole = np.ones(len(joined.route.sequence), dtype=bool)
    for point in points:
        whole &= joined.times[point] >= 0
    if not whole.any():
        return []
    times = [joined.times[point][whole].tolist() for point in points]
    pairs = zip(
        zip(points, points[1:], strict=False), zip(times, times[1:], strict=False), strict=True
    )
    return [
        (stage, (sum(ends) - sum(starts)) / len(starts))
        for stage, (starts, ends) in pairs
        if not (joined.crosses(stage) and joined.offset is None)
    ]


def clock_words(joined: Joined) -> str:
    """What is known of the two clocks."""
    offset = joined.offset
    if joined.route.consumer in (joined.route.owner, NONE):
        return "one clock"
    if offset is None:
        return "no frame tells how far the clocks are apart: stages between the domains left out"
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
