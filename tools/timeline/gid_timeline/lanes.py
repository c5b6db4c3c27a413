# SPDX-License-Identifier: MIT
"""What the lane view of the HTML report draws: frames one by one.

A long log has too many of them for a web page. Then the page gets its beginning and the
surroundings of its worst frames, and says that the rest is not in it.
"""

import numpy as np

from .figures import Chunk
from .refresh import Refresh, late_frames
from .trace import Run, Trace

FRAMES_MAX = 6000
_BEGINNING = 3000  # frames
_WORST = 40
_AROUND = 300_000_000  # ns before and after one of the worst
_SURFACES = 12


def of_run(trace: Trace, run: Run, refreshes: list[Refresh]) -> dict:
    """JSON-able columns; times in µs since the run's first line, null where unknown."""
    outputs = [output.index for output in trace.outputs if output.run == run.index]
    spans = _spans(trace, outputs, refreshes)
    frames = _Columns(run.first, "request", "begin", "posted", "shown")
    updates = _Columns(run.first, "commit", "flush", "shown")
    gpu = _Columns(run.first, "begin", "end")
    lateness: list[int] = []
    owners: dict[str, list[int]] = {"frames": [], "updates": [], "surfaces": [], "gpu": []}
    for chunk in trace.frames.chunks():
        rows = _inside(chunk["begin"], spans) & np.isin(chunk["output"], outputs)
        frames.add(chunk, rows)
        owners["frames"] += chunk["output"][rows].tolist()
        lateness += _lateness(chunk, refreshes)[rows].tolist()
    for chunk in trace.updates.chunks():
        rows = _inside(chunk["begin"], spans) & np.isin(chunk["output"], outputs)
        updates.add(chunk, rows)
        owners["updates"] += chunk["output"][rows].tolist()
        owners["surfaces"] += chunk["surface"][rows].tolist()
    for chunk in trace.gpu.chunks():
        rows = _inside(chunk["begin"], spans) & np.isin(chunk["output"], outputs)
        gpu.add(chunk, rows)
        owners["gpu"] += chunk["output"][rows].tolist()
    surfaces = _busiest(owners["surfaces"])
    return {
        "outputs": [
            {
                "index": index,
                "name": trace.outputs[index].name,
                "refresh": (refreshes[index].interval or 0) / 1000,
                "steady": refreshes[index].judges,
            }
            for index in outputs
        ],
        "surfaces": [{"index": s, "label": trace.surfaces[s].name} for s in surfaces],
        "spans": [[(start - run.first) / 1000, (end - run.first) / 1000] for start, end in spans],
        "end": max(run.last - run.first, 1) / 1000,
        "frames": {"output": owners["frames"], "late": lateness, **frames.columns},
        "updates": {
            "output": owners["updates"],
            "surface": owners["surfaces"],
            **updates.columns,
        },
        "gpu": {"output": owners["gpu"], **gpu.columns},
    }


class _Columns:
    """Times in µs since the start, column by column."""

    def __init__(self, start: int, *names: str) -> None:
        self._start = start
        self.columns: dict[str, list[float | None]] = {name: [] for name in names}

    def add(self, chunk: Chunk, rows: np.ndarray) -> None:
        for name, column in self.columns.items():
            for time in chunk[name][rows].tolist():
                column.append(None if time < 0 else (time - self._start) / 1000)


def _spans(trace: Trace, outputs: list[int], refreshes: list[Refresh]) -> list[tuple[int, int]]:
    """The times that the page shows, in order and apart from one another."""
    count = 0
    first: list[int] = []
    last = 0
    worst: list[tuple[int, int, int]] = []  # how late, its cost, when
    for chunk in trace.frames.chunks():
        rows = np.isin(chunk["output"], outputs)
        begin = chunk["begin"][rows]
        if len(begin) == 0:
            continue
        count += len(begin)
        first += begin[: _BEGINNING - len(first)].tolist()
        last = int(begin[-1])
        late = _lateness(chunk, refreshes)[rows]
        cost = np.where(chunk["posted"] < 0, 0, chunk["posted"] - chunk["begin"])[rows]
        order = np.lexsort((cost, late))[-_WORST:]
        parts = (late[order], cost[order], begin[order])
        worst += zip(*(part.tolist() for part in parts), strict=True)
        worst = sorted(worst)[-_WORST:]
    if count == 0:
        return []
    if count <= FRAMES_MAX:
        return [(first[0] - _AROUND, last + _AROUND)]
    spans = [(first[0] - _AROUND, first[-1])]
    spans += [(time - _AROUND, time + _AROUND) for _, _, time in worst]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _inside(times: np.ndarray, spans: list[tuple[int, int]]) -> np.ndarray:
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
