# SPDX-License-Identifier: MIT
"""Draws the demo's timeline: a lane for the domain open, one for each role, the display's rate."""

from collections.abc import Callable
from dataclasses import dataclass

_HEADROOM = 1.15  # of the rate's lane above the highest rate


@dataclass(frozen=True)
class Segment:
    """Of a lane; across is 0..100."""

    x: float
    width: float
    look: str  # good, bad or waiting
    title: str


@dataclass(frozen=True)
class Drawing:
    lanes: list[tuple[str, list[Segment]]]
    marks: list[tuple[float, str]]  # place, what happened there
    ticks: list[tuple[float, str]]
    rate: str  # the points of a polyline, 0..100 across and down
    highest: float  # frames a second at the top of the rate's lane


def draw(timeline: dict) -> Drawing:
    end = timeline["end"]

    def place(seconds: float) -> float:
        return round(min(100, max(0, seconds / end * 100)), 3)

    lanes = [("open", _alive(timeline["events"], end, place))]
    lanes += [(name, _states(steps, end, place)) for name, steps in timeline["roles"].items()]
    rates = timeline["cluster_fps"]
    highest = max((rate for _, rate in rates), default=60) * _HEADROOM
    points = " ".join(f"{place(at)},{round(100 - rate / highest * 100, 2)}" for at, rate in rates)
    step = next(step for step in (1, 2, 5, 10, 30, 60, 600, 3600) if end / step <= 12)
    ticks = [(place(second), f"{second} s") for second in range(0, int(end) + 1, step)]
    marks = [(place(event["at"]), event["what"]) for event in timeline["events"]]
    return Drawing(lanes, marks, ticks, points, highest)


def _alive(events: list[dict], end: float, place: Callable[[float], float]) -> list[Segment]:
    killed = _when(events, "open is killed", end)
    returned = _when(events, "open starts again", end)
    return [
        Segment(place(0), place(killed), "good", "alive"),
        Segment(place(killed), place(returned) - place(killed), "bad", "dead"),
        Segment(place(returned), 100 - place(returned), "good", "alive again"),
    ]


def _when(events: list[dict], what: str, otherwise: float) -> float:
    return next((event["at"] for event in events if event["what"] == what), otherwise)


def _states(steps: list[dict], end: float, place: Callable[[float], float]) -> list[Segment]:
    segments = []
    for index, step in enumerate(steps):
        until = steps[index + 1]["at"] if index + 1 < len(steps) else end
        begin = place(step["at"])
        width = place(until) - begin
        if width > 0:
            look = {"live": "good", "waiting": "waiting"}.get(step["to"], "bad")
            why = _WHY.get(step["reason"], step["reason"])
            segments.append(Segment(begin, width, look, f"{step['to']}: {why}"))
    return segments


# Why a role is in its state, as gid-cluster calls it; the manual gid-cluster(1) lists all of them.
_WHY = {
    "none": "frames come, and all checks pass",
    "starting": "its stream is not there yet",
    "deadline": "no frame within its deadline",
    "frozen": "its picture stands still",
    "hidden": "its stream is there again, and has no picture yet",
    "ended": "its producer ended the stream",
    "died": "its producer, or the domain, died",
}


def _step(name: str, change: dict) -> dict:
    """A change of a role. Where the state stays, only its reason is another: nothing is drawn."""
    stays = change["from"] == change["to"]
    after = change["shown_after_ms"]
    return {
        "at": change["at"],
        "who": name,
        "what": f"still {change['to']}" if stays else f"{change['from']} → {change['to']}",
        "why": _WHY.get(change["reason"], change["reason"]),
        "after": "" if stays or after is None else f"{after:.1f} ms",
        "look": "" if stays else "good" if change["to"] == "live" else "bad",
    }


def steps(timeline: dict) -> list[dict]:
    """What happened, in order, for a table."""
    rows = [
        {"at": event["at"], "who": "", "what": event["what"], "why": "", "after": "", "look": ""}
        for event in timeline["events"]
    ]
    for name, changes in timeline["roles"].items():
        rows += [_step(name, change) for change in changes]
    return sorted(rows, key=lambda row: row["at"])
