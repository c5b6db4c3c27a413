# SPDX-License-Identifier: MIT
"""What the lane views of the HTML report draw: frames one by one, of streams and of outputs.

A long log has too many of them for a web page. Then the page gets its beginning and the
surroundings of its worst frames, and says that the rest is not in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .clocks import Convert, axes
from .figures import Chunk
from .gidpoints import POINTS
from .join import FOREIGN, Joined
from .journeys import Columns
from .refresh import Refresh, late_frames
from .report import RunReport
from .table import NONE, Table
from .trace import Output, Run, Surface, Trace

FRAMES_MAX = 10000
_BEGINNING = 3000  # frames
_WORST = 40
_AROUND = 300_000_000  # ns before and after one of the worst
_SURFACES = 12
_NO_TIMES = ("output", "surface", "after_start", "how")
# By which of these a frame of a stream is called slow: the first that there is.
_LATENCIES = (("submit", "shown"), ("submit", "receive"), ("capture", "submit"))

Spans = list[tuple[int, int]]


@dataclass(slots=True)
class View:
    """What is drawn along one axis of time: runs of Weston, streams, and for each domain what makes
    times of its clock those of the axis."""

    runs: list[Run]
    streams: list[Joined] = field(default_factory=list)
    clocks: dict[int, Convert] = field(default_factory=dict)

    def convert(self, domain: int) -> Convert:
        return self.clocks.get(domain, lambda times: times)


def views(runs: list[RunReport], streams: list[Joined]) -> list[View]:
    """The streams whose clocks are known to each other with the runs of those domains; then each
    run whose clock nobody knows, for itself."""
    offsets = {(one.route.owner, one.route.consumer): one.offset for one in streams if one.offset}
    domains = dict.fromkeys(one.home for one in streams)
    found = [
        View([], [one for one in streams if one.home in clocks], clocks)
        for clocks in axes(offsets, domains)
    ]
    is_one_clock = len(found) == 1 and all(offset.same for offset in offsets.values())
    for part in runs:
        run = part.run
        homes = [view for view in found if run.domain in view.clocks]
        if not homes and is_one_clock and run.domain == NONE and _meets(found[0], run):
            homes = found
        if homes and part.outputs:
            homes[0].runs.append(run)
        elif part.outputs:
            found.append(View([run]))
    return found


def _meets(view: View, run: Run) -> bool:
    """Whether some of the streams' frames came by during the run."""
    return any(
        bool(((times >= run.first) & (times <= run.last)).any())
        for joined in view.streams
        for times in joined.times.values()
    )


def data(trace: Trace, view: View, refreshes: list[Refresh]) -> dict:
    """JSON-able columns; times in µs since the first of all, null where unknown."""
    start, end = extent(view)
    homes = {run.index: view.convert(run.domain) for run in view.runs}
    outputs = [output.index for output in trace.outputs if output.run in homes]
    spans = _spans(trace, view, outputs, refreshes)
    frames = _Columns(start, "request", "begin", "posted", "shown")
    updates = _Columns(start, "commit", "flush", "shown")
    gpu = _Columns(start, "begin", "end")
    lateness: list[int] = []
    owners: dict[str, list[int]] = {"frames": [], "updates": [], "surfaces": [], "gpu": []}
    same_output = _first_of_name(trace.outputs, trace.runs)
    same_surface = _first_of_name(trace.surfaces, trace.runs)
    for chunk, rows in _inside(trace, trace.frames, homes, spans):
        frames.add(chunk, rows)
        owners["frames"] += same_output[chunk["output"][rows]].tolist()
        lateness += _lateness(chunk, refreshes)[rows].tolist()
    for chunk, rows in _inside(trace, trace.updates, homes, spans):
        updates.add(chunk, rows)
        owners["updates"] += same_output[chunk["output"][rows]].tolist()
        owners["surfaces"] += same_surface[chunk["surface"][rows]].tolist()
    for chunk, rows in _inside(trace, trace.gpu, homes, spans):
        gpu.add(chunk, rows)
        owners["gpu"] += same_output[chunk["output"][rows]].tolist()
    surfaces = _busiest(owners["surfaces"])
    return {
        "outputs": [
            {
                "index": index,
                "name": trace.outputs[index].name,
                "domain": _weston_of(trace, index),
                "refresh": (refreshes[index].interval or 0) / 1000,
                "steady": refreshes[index].judges,
            }
            for index in dict.fromkeys(same_output[outputs].tolist())
        ],
        "surfaces": [{"index": s, "label": trace.surfaces[s].name} for s in surfaces],
        "streams": [
            {"name": one.route.stream, "domains": one.domains, **_stream(one, view, start, spans)}
            for one in _taken(view.streams)
        ],
        "spans": [[(first - start) / 1000, (last - start) / 1000] for first, last in spans],
        "end": max(end - start, 1) / 1000,
        "frames": {"output": owners["frames"], "late": lateness, **frames.columns},
        "updates": {
            "output": owners["updates"],
            "surface": owners["surfaces"],
            **updates.columns,
        },
        "gpu": {"output": owners["gpu"], **gpu.columns},
    }


def _taken(streams: list[Joined]) -> list[Joined]:
    """Without frames that nobody took, of streams that somebody did."""
    taken = {(one.route.owner, one.route.stream) for one in streams if one.route.consumer != NONE}
    return [
        one
        for one in streams
        if one.route.consumer != NONE or (one.route.owner, one.route.stream) not in taken
    ]


def _first_of_name(parts: list[Output] | list[Surface], runs: list[Run]) -> np.ndarray:
    """For each output or surface the first of its name, in whichever run of that Weston it is."""
    first: dict[tuple, int] = {}
    found = []
    for part in parts:
        run = runs[part.run]
        home = run.source if run.domain == NONE else run.domain
        found.append(first.setdefault((home, part.name), part.index))
    return np.array(found, dtype=np.int64)


def _weston_of(trace: Trace, output: int) -> str:
    domain = trace.runs[trace.outputs[output].run].domain
    return "" if domain == NONE else f"Weston of {trace.gid.domain(domain)}"


def extent(view: View) -> tuple[int, int]:
    """When the first and the last of all that is drawn was; of nothing that can be: 0."""
    ends = []
    for run in view.runs:
        ends += view.convert(run.domain)(np.array([run.first, run.last])).tolist()
    for joined in view.streams:
        for times in _on_axis(joined, view).values():
            known = times[times != NONE]
            ends += [int(known.min()), int(known.max())] if len(known) else []
    return min(ends, default=0), max(ends, default=0)


def _on_axis(joined: Joined, view: View) -> Columns:
    convert = view.convert(joined.home)
    # Without an offset the consumer's times are of another clock, which nobody can draw here.
    is_apart = joined.offset is None and joined.route.consumer not in (joined.home, NONE)
    return {
        point: np.where(
            (joined.times[point] == NONE) | (is_apart and point in FOREIGN),
            NONE,
            convert(joined.times[point]),
        )
        for point in POINTS[:-1]
    }


def _stream(joined: Joined, view: View, start: int, spans: Spans) -> dict:
    times = _on_axis(joined, view)
    at = _first(times)
    rows = _within(at, spans) & (at != NONE)
    order = np.flatnonzero(rows)[np.argsort(at[rows], kind="stable")]
    columns = _Columns(start, *times)
    columns.add(times, order)
    slow = _slowness(joined) > 0
    return {
        "sequence": joined.route.sequence[order].tolist(),
        "late": slow[order].astype(int).tolist(),
        **columns.columns,
    }


def _first(times: Columns) -> np.ndarray:
    """When each frame is seen first."""
    greatest = np.iinfo(np.int64).max
    at = np.min([np.where(column == NONE, greatest, column) for column in times.values()], axis=0)
    return np.where(at == greatest, NONE, at)


def _slowness(joined: Joined) -> np.ndarray:
    """By how many ns each frame is beyond the fence of outliers of its stream; 0 if it is not."""
    found = np.zeros(len(joined.route.sequence), dtype=np.int64)
    for start, end in _LATENCIES:
        if (start, end) in joined.stages:
            began, ended = joined.times[start], joined.times[end]
            known = (began != NONE) & (ended != NONE)
            spans, fence = (ended - began)[known], joined.stages[start, end].fence
            fence = min(fence, np.iinfo(np.int64).max)  # of forged times there can be a larger one
            found[known] = np.where(spans > fence, spans - fence, 0)
            break
    return np.maximum(found, 0)


class _Columns:
    """Times in µs since the start, column by column."""

    def __init__(self, start: int, *names: str) -> None:
        self._start = start
        self.columns: dict[str, list[float | None]] = {name: [] for name in names}

    def add(self, chunk: Chunk, rows: np.ndarray) -> None:
        for name, column in self.columns.items():
            for time in chunk[name][rows].tolist():
                column.append(None if time < 0 else (time - self._start) / 1000)


def _spans(trace: Trace, view: View, outputs: list[int], refreshes: list[Refresh]) -> Spans:
    """The times that the page shows, in order and apart from one another."""
    found = _Worth()
    homes = {run.index: view.convert(run.domain) for run in view.runs}
    for chunk, rows in _inside(trace, trace.frames, homes, None):
        cost = np.where(chunk["posted"] < 0, 0, chunk["posted"] - chunk["begin"])[rows]
        found.add("frames", chunk["begin"][rows], _lateness(chunk, refreshes)[rows], cost)
    for joined in view.streams:
        at = _first(_on_axis(joined, view))
        slow = _slowness(joined)[at != NONE]
        found.add("streams", at[at != NONE], slow, np.zeros_like(slow))
    return found.spans()


class _Worth:
    """Looks for what is worth seeing: the beginning, and the worst of each kind of frame."""

    def __init__(self) -> None:
        self._count = 0
        self._first: list[int] = []
        self._last = NONE
        self._worst: dict[str, list[tuple[int, int, int]]] = {}  # how late, its cost, when

    def add(self, kind: str, times: np.ndarray, late: np.ndarray, cost: np.ndarray) -> None:
        if len(times) == 0:
            return
        self._count += len(times)
        self._first = sorted([*self._first, *np.sort(times)[:_BEGINNING].tolist()])[:_BEGINNING]
        self._last = max(self._last, int(times.max()))
        order = np.lexsort((cost, late))[-_WORST:]
        parts = (late[order], cost[order], times[order])
        worst = zip(*(part.tolist() for part in parts), strict=True)
        self._worst[kind] = sorted([*self._worst.get(kind, []), *worst])[-_WORST:]

    def spans(self) -> Spans:
        if self._count == 0:
            return []
        if self._count <= FRAMES_MAX:
            return [(self._first[0] - _AROUND, self._last + _AROUND)]
        spans = [(self._first[0] - _AROUND, self._first[-1])]
        for worst in self._worst.values():
            spans += [(time - _AROUND, time + _AROUND) for _, _, time in worst]
        merged: Spans = []
        for start, end in sorted(spans):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged


def _inside(
    trace: Trace, table: Table, homes: dict[int, Convert], spans: Spans | None
) -> Iterator[tuple[Chunk, np.ndarray]]:
    """The rows of the runs in `homes` within `spans`, None for all; on the axis of the view."""
    runs = np.array([output.run for output in trace.outputs], dtype=np.int64)
    for chunk in table.chunks():
        for run, convert in homes.items():
            rows = runs[chunk["output"]] == run
            if not rows.any():
                continue
            moved = {
                name: column if name in _NO_TIMES else np.where(column < 0, column, convert(column))
                for name, column in chunk.items()
            }
            if spans is not None:
                rows &= _within(moved["begin"], spans)
            yield moved, rows


def _within(times: np.ndarray, spans: Spans) -> np.ndarray:
    inside = np.zeros(len(times), dtype=bool)
    for start, end in spans:
        inside |= (times >= start) & (times <= end)
    return inside


def _lateness(chunk: Chunk, refreshes: list[Refresh]) -> np.ndarray:
    """By how many refreshes each frame of the chunk was late; 0 where that cannot be told."""
    found = np.zeros(len(chunk["output"]), dtype=np.int64)
    for _, rows, late in late_frames(chunk, refreshes):
        found[rows] = late
    return found


def _busiest(surfaces: list[int]) -> list[int]:
    counts = np.bincount(surfaces) if surfaces else np.empty(0, np.int64)
    order = np.argsort(-counts, kind="stable")[:_SURFACES]
    return [int(index) for index in order if counts[index]]
