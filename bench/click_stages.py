# SPDX-License-Identifier: MIT
"""Where the time of a click goes on its way through gidway: what the points of a timeline tell."""

import json
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stage:
    """The first point of that name after the stage before; of a stream, where it has one."""

    what: str
    point: str
    stream: str | None = None


STAGES = (
    Stage("the viewer's seat has it", "gid_receive", "input/screen"),
    Stage("gid-view sends it", "gid_submit", "input/desk"),
    Stage("the desk's seat has it", "gid_receive", "input/desk"),
    Stage("the program has it", "target_pressed"),
    Stage("the program has committed", "target_committed"),
    Stage("the desk is drawn", "gid_capture", "desk"),
    Stage("its picture is sent", "gid_submit", "desk"),
    Stage("gid-view has it", "gid_receive", "desk"),
    Stage("gid-view has committed", "gid_commit", "desk"),
    Stage("the screen is drawn", "gid_capture", "screen"),
    Stage("its picture is sent", "gid_submit", "screen"),
)
LIGHT = "light"


def points(log: Path) -> list[tuple[int, str, str | None]]:
    """Of all programs that wrote there: when, what, of which stream."""
    found = []
    for line in log.read_text().splitlines():
        point = json.loads(line)
        if "N" in point:
            seconds, rest = point["T"]
            found.append((seconds * 10**9 + rest, point["N"], point.get("stream")))
    return sorted(found, key=lambda point: point[0])


def way_of(begun: int, shown: int, seen: Iterable[tuple[int, str, str | None]]) -> list[float]:
    """When each stage was reached, in ms since the press; those that are not known are left out,
    with all that follow. A program that was interrupted notes a point late: behind the light there
    is none of this click's."""
    times: list[float] = []
    left = iter(point for point in seen if begun <= point[0] <= shown)
    for stage in STAGES:
        for time, name, stream in left:
            if name == stage.point and stage.stream in (None, stream):
                times.append((time - begun) / 1e6)
                break
    return [*times, (shown - begun) / 1e6]


def rows_of(what: str, clicks: list[tuple[int, int]], log: Path) -> list[dict]:
    """Medians of the clicks of which each stage was found."""
    seen = points(log)
    ways = [way_of(*click, seen) for click in clicks]
    names = [*(stage.what for stage in STAGES), LIGHT]
    whole = [way for way in ways if len(way) == len(names)]
    if not whole:
        return []
    rows = []
    before = 0.0
    for name, times in zip(names, zip(*whole, strict=True), strict=True):
        p50 = statistics.median(times)
        row = {"bench": "click", "who": "gidway", "what": what, "stage": name}
        rows.append(row | {"since_press_ms": p50, "ms": p50 - before})
        before = p50
    return rows
