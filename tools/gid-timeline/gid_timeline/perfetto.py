# SPDX-License-Identifier: MIT
"""A trace for the Perfetto UI, in the JSON form that it shares with Chrome ("Trace Event Format").

A process for each output, with tracks for waiting, repaint, GPU and present; one for the surfaces
of each run; one for gidway's streams. Arrows lead from a commit to the repaint that took it over
and on to its refresh.
"""

import itertools
from collections.abc import Iterable, Iterator

import orjson

from .gidpoints import POINTS
from .join import Joined
from .refresh import Refresh, late_frames
from .table import NONE
from .trace import Trace

_WAIT, _REPAINT, _GPU, _PRESENT = 1, 2, 3, 4
_TRACKS = {_WAIT: "waiting", _REPAINT: "repaint", _GPU: "GPU", _PRESENT: "present"}
_SURFACES_PID = 10_000  # and the run's number; below are outputs
_STREAMS_PID = 20_000
_AT_ONCE = 2000  # events in one piece of text


def events(trace: Trace, refreshes: list[Refresh]) -> Iterator[dict]:
    """Events in no order, which the format allows; ts and dur in µs."""
    yield from _names(trace)
    tracks = _Tracks()
    for chunk in trace.frames.chunks():
        lateness = {}
        for _, rows, late in late_frames(chunk, refreshes):
            lateness.update(zip(rows[late > 0].tolist(), late[late > 0].tolist(), strict=True))
        names = ("output", "request", "begin", "posted", "shown")
        columns = [chunk[name].tolist() for name in names]
        for row, (output, request, begin, posted, shown) in enumerate(zip(*columns, strict=True)):
            yield from _frame(tracks, output + 1, request, begin, posted, shown)
            if row in lateness:
                yield _late(output + 1, shown, lateness[row])
    for chunk in trace.gpu.chunks():
        columns = [chunk[name].tolist() for name in ("output", "begin", "end")]
        for output, begin, end in zip(*columns, strict=True):
            yield from tracks.slice(output + 1, _GPU, "GPU", begin, end)
    yield from _updates(trace, tracks)


def stream_events(streams: list[Joined]) -> Iterator[dict]:
    """Of each stream a track, with its frames from the first of their points to the last."""
    numbers = itertools.count()
    if streams:
        yield named("process_name", _STREAMS_PID, 0, "streams")
    for tid, joined in enumerate(streams, 1):
        yield named("thread_name", _STREAMS_PID, tid, f"{joined.route.stream}, {joined.domains}")
        columns = [joined.times[point].tolist() for point in POINTS]
        frames = zip(joined.route.sequence.tolist(), *columns, strict=True)
        for sequence, *times in frames:
            known = [time for time in times if time != NONE]
            both = {"cat": "stream", "id": next(numbers), "pid": _STREAMS_PID, "tid": tid}
            both["name"] = f"{joined.route.stream} {sequence}"
            at = {point: time / 1e6 for point, time in zip(POINTS, times, strict=True)}
            at = {point: time for point, time in at.items() if time >= 0}
            yield both | {"ph": "b", "ts": us(min(known)), "args": {"ms": at}}
            yield both | {"ph": "e", "ts": us(max(known))}


def render(trace: Trace, refreshes: list[Refresh], more: Iterable[dict] = ()) -> Iterator[bytes]:
    """The whole file, piece by piece; with `more` events."""
    yield b'{"displayTimeUnit":"ns","otherData":{"made-by":"gid-timeline"},"traceEvents":[\n'
    piece: list[bytes] = []
    first = True
    for event in itertools.chain(events(trace, refreshes), more):
        piece.append(orjson.dumps(event))
        if len(piece) == _AT_ONCE:
            yield (b"" if first else b",\n") + b",\n".join(piece)
            first = False
            piece = []
    if piece:
        yield (b"" if first else b",\n") + b",\n".join(piece)
    yield b"\n]}\n"


class _Tracks:
    """Makes slices. Those of one track may not overlap: what would (damaged logs) is left out."""

    def __init__(self) -> None:
        self._ends: dict[tuple[int, int], int] = {}
        self._left_out: set[tuple[int, int, int]] = set()

    def slice(self, pid: int, tid: int, name: str, start: int, end: int) -> Iterator[dict]:
        if start < 0 or end < 0:
            return
        if start < self._ends.get((pid, tid), 0) or end < start:
            self._left_out.add((pid, tid, start))
            return
        self._ends[pid, tid] = end
        both = {"ph": "X", "pid": pid, "tid": tid, "name": name}
        yield both | {"ts": us(start), "dur": us(end - start)}

    def has(self, pid: int, tid: int, start: int) -> bool:
        """Whether a slice that was asked for, with this start, was made."""
        return (pid, tid, start) not in self._left_out


def _frame(
    tracks: _Tracks, pid: int, request: int, begin: int, posted: int, shown: int
) -> Iterator[dict]:
    yield from tracks.slice(pid, _WAIT, "request → begin", request, begin)
    yield from tracks.slice(pid, _REPAINT, "repaint", begin, posted)
    yield from tracks.slice(pid, _PRESENT, "posted → shown", posted, shown)
    if posted >= 0:
        cost = {"ms": (posted - begin) / 1e6}
        yield {"ph": "C", "pid": pid, "name": "repaint cost", "ts": us(begin), "args": cost}


def _late(pid: int, shown: int, refreshes: int) -> dict:
    """A mark at the refresh that showed a late frame."""
    args = {"refreshes missed": refreshes}
    return {"ph": "i", "s": "p", "pid": pid, "tid": _PRESENT, "name": "late", "args": args} | {
        "ts": us(shown)
    }


def _updates(trace: Trace, tracks: _Tracks) -> Iterator[dict]:
    number = 0
    names = ("surface", "output", "commit", "flush", "begin", "posted", "shown")
    for chunk in trace.updates.chunks():
        columns = [chunk[name].tolist() for name in names]
        for surface, output, commit, flush, begin, posted, shown in zip(*columns, strict=True):
            pid = _SURFACES_PID + trace.surfaces[surface].run
            yield from tracks.slice(pid, surface, "damaged", commit, flush)
            if not 0 <= commit <= begin < posted < shown or not all(
                tracks.has(*slice)
                for slice in (
                    (pid, surface, commit),
                    (output + 1, _REPAINT, begin),
                    (output + 1, _PRESENT, posted),
                )
            ):
                continue
            number += 1
            yield _flow("s", number, pid, surface, us(commit))
            yield _flow("t", number, output + 1, _REPAINT, us(begin))
            yield _flow("f", number, output + 1, _PRESENT, us(posted)) | {"bp": "e"}
            both = {"cat": "latency", "id": number, "pid": pid, "tid": surface}
            label = trace.surfaces[surface].name
            yield both | {"ph": "b", "name": f"{label}: commit → shown", "ts": us(commit)}
            yield both | {"ph": "e", "name": f"{label}: commit → shown", "ts": us(shown)}


def _flow(phase: str, number: int, pid: int, tid: int, time: float) -> dict:
    """A part of an arrow; it belongs to the slice of the track at its time."""
    both = {"ph": phase, "id": number, "cat": "frame", "name": "frame"}
    return both | {"pid": pid, "tid": tid, "ts": time}


def _names(trace: Trace) -> Iterator[dict]:
    several = len(trace.runs) > 1
    for output in trace.outputs:
        run = f"run {output.run + 1}, " if several else ""
        yield named("process_name", output.index + 1, 0, f"{run}output {output.name}")
        for tid, name in _TRACKS.items():
            yield named("thread_name", output.index + 1, tid, name)
            sort = {"sort_index": tid}
            track = {"pid": output.index + 1, "tid": tid, "args": sort}
            yield {"ph": "M", "name": "thread_sort_index", **track}
    for run in sorted({surface.run for surface in trace.surfaces}):
        name = f"run {run + 1}, surfaces" if several else "surfaces"
        yield named("process_name", _SURFACES_PID + run, 0, name)
    for surface in trace.surfaces:
        pid = _SURFACES_PID + surface.run
        yield named("thread_name", pid, surface.index, surface.name)


def named(kind: str, pid: int, tid: int, name: str) -> dict:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}


def us(nanoseconds: int) -> float:
    return nanoseconds / 1000
