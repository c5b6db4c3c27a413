# SPDX-License-Identifier: MIT
"""The page of an incident: pictures, roles and frames along one axis of time."""

import base64
import datetime
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from . import html, lanes, perfetto
from .recording import Picture, Recording
from .report import Report, build

_ROLES_PID = 30_000
_SCRIPTS = ("lanes.js", "incident.js")
GAPS = {
    "hidden": "its producer says that nothing is to be shown",
    "ended": "its producer says that the stream has ended",
    "gone": "it has no producer any more",
    "unread": "what came next cannot be read",
}


@dataclass(slots=True)
class Change:
    """Of a role's state, with its times in ns."""

    role: str
    before: str
    after: str
    reason: str
    due: int
    decided: int
    last_frame: int
    shown: int

    @classmethod
    def of(cls, entry: dict) -> "Change":
        return cls(
            entry["role"],
            entry["from"],
            entry["to"],
            entry["reason"],
            entry["due_ns"],
            entry["decided_ns"],
            entry["last_frame_ns"],
            entry["shown_ns"],
        )

    @property
    def words(self) -> str:
        return f"{self.role}: {self.before} → {self.after}, {self.reason}"


@dataclass(slots=True)
class More:
    """Of another recorder, for the trace; or why there is nothing of it."""

    events: list[dict] = field(default_factory=list)
    missing: str = ""


def render(recording: Recording, more: More) -> str:
    head = recording.head
    report = build(recording.loaded, "recording", {})
    changes = _changes(recording)
    view, zero = _lanes(recording, report)
    return (
        html.environment()
        .get_template("incident.html.j2")
        .render(
            head=head,
            recording=recording,
            report=report,
            incident=None if head["asked"] else Change.of(head["incident"]),
            changes=[one for one in changes if one.decided >= recording.start],
            when=lambda time: _when(recording, time),
            seconds=lambda time: f"{(time - recording.time) / 1e9:+.3f}".replace("-", "−"),
            view=view,
            page=html.embedded(_page(recording, changes, zero)),
            trace=html.embedded(_trace(recording, report, changes, more.events)),
            more=more,
            style=html.source("report.css", "incident.css"),
            script=html.source(*_SCRIPTS),
        )
    )


def _changes(recording: Recording) -> list[Change]:
    found = [Change.of(entry) for entry in recording.head["changes"]]
    return sorted(found, key=lambda one: one.decided)


def _when(recording: Recording, time: int) -> str:
    """The time of the day, to the millisecond, as far as the clock was right."""
    head = recording.head
    day = head["realtime_ns"] - head["written_ns"] + time
    stamp = datetime.datetime.fromtimestamp(day // 1_000_000 / 1000, datetime.UTC)
    return stamp.isoformat(" ", "milliseconds").removesuffix("+00:00") + " UTC"


def _lanes(recording: Recording, report: Report) -> tuple[str | None, int]:
    """What the lane view draws, and where the incident is in it, in ns of its axis."""
    views = lanes.views(report.runs, report.streams)
    number = recording.head["number"]
    ours = [view for view in views if number in view.clocks] or views
    if not ours:
        return None, 0
    view = ours[0]
    data = lanes.data(report.trace, view, report.refreshes)
    at = int(view.convert(number)(np.array([recording.time]))[0])
    return html.embedded(data), at - lanes.extent(view)[0]


# --- what the page's script knows; times in µs from the incident on ---


def _page(recording: Recording, changes: list[Change], zero: int) -> dict:
    def us(time: int) -> float:
        return (time - recording.time) / 1000

    streams = []
    for stream, pictures in zip(recording.head["streams"], recording.pictures, strict=True):
        streams.append(
            {
                "name": stream["name"],
                "pictures": [_picture(one, us) for one in pictures],
            }
        )
    return {
        "from": us(recording.start),
        "to": us(recording.end),
        "zero": zero / 1000,
        "gaps": GAPS,
        "streams": streams,
        "roles": [
            [
                {"from": us(start), "to": us(end), "state": state, "reason": reason}
                for start, end, state, reason in spans
            ]
            for spans in _spans(recording, changes).values()
        ],
        "changes": [us(one.decided) for one in changes if one.decided >= recording.start],
    }


def _picture(picture: Picture, us: Callable[[int], float]) -> dict:
    found = {
        "at": us(picture.time),
        "sequence": picture.sequence,
        "size": [picture.width, picture.height],
        "jpeg": base64.b64encode(picture.jpeg).decode(),
    }
    if picture.gap:
        found |= {"gap": picture.gap, "gapAt": us(picture.gap_time)}
    return found


def _spans(
    recording: Recording, changes: list[Change]
) -> dict[str, list[tuple[int, int, str, str]]]:
    """Of each role the spans of its states: from when to when, which one, and its reason."""
    found = {}
    for role in recording.head["roles"]:
        mine = [one for one in changes if one.role == role["name"]]
        states = [(0, mine[0].before, "") if mine else (0, role["state"], role["reason"])]
        states += [(one.decided, one.after, one.reason) for one in mine]
        ends = [start for start, _, _ in states[1:]] + [recording.known(role)]
        found[role["name"]] = [
            (max(start, recording.start), end, state, reason)
            for (start, state, reason), end in zip(states, ends, strict=True)
            if end > max(start, recording.start)
        ]
    return found


# --- for Perfetto ---


def _trace(recording: Recording, report: Report, changes: list[Change], more: list[dict]) -> dict:
    events = itertools.chain(
        perfetto.events(report.trace, report.refreshes),
        perfetto.stream_events(report.streams),
        _role_events(recording, changes),
        more,
    )
    return {
        "displayTimeUnit": "ns",
        "otherData": {"made-by": "gid-timeline", "incident": _when(recording, recording.time)},
        "traceEvents": list(events),
    }


def _role_events(recording: Recording, changes: list[Change]) -> Iterator[dict]:
    """Of each role a track with its states, and marks where they changed."""
    yield perfetto.named("process_name", _ROLES_PID, 0, "roles of gid-cluster")
    tracks = {}
    for tid, (role, spans) in enumerate(_spans(recording, changes).items(), 1):
        tracks[role] = tid
        yield perfetto.named("thread_name", _ROLES_PID, tid, role)
        for start, end, state, reason in spans:
            both = {"ph": "X", "pid": _ROLES_PID, "tid": tid, "name": state}
            yield both | {
                "ts": perfetto.us(start),
                "dur": perfetto.us(end - start),
                "args": {"reason": reason},
            }
    for one in changes:
        if one.decided >= recording.start and one.role in tracks:
            mark = {"ph": "i", "s": "t", "pid": _ROLES_PID, "tid": tracks[one.role]}
            yield mark | {"name": one.words, "ts": perfetto.us(one.decided)}
    mark = {"ph": "i", "s": "g", "pid": _ROLES_PID, "tid": 0, "name": "incident"}
    yield mark | {"ts": perfetto.us(recording.time)}
