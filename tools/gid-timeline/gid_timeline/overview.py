# SPDX-License-Identifier: MIT
"""A whole run at a glance: where a frame's time goes on average, and how that went over time."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .figures import Chunk
from .refresh import Refresh, late_frames
from .trace import Trace

BUCKETS = 300

# The stages of commit → shown; each begins where the one before ends.
STAGES = {
    "wait": ("commit", "begin", "waiting for the repaint"),
    "repaint": ("begin", "posted", "repaint"),
    "present": ("posted", "shown", "waiting for the refresh"),
}


@dataclass(slots=True)
class Anatomy:
    """Sums over all updates of an output that have every time; in ns."""

    updates: int = 0
    sums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))

    def mean(self, stage: str) -> float:
        return self.sums[stage] / self.updates if self.updates else 0.0


@dataclass(slots=True)
class Course:
    """An output over time, in BUCKETS equal parts from `start` to `end`; NaN where nothing was."""

    start: int
    end: int
    latency: np.ndarray  # mean of commit → shown, ns
    repaint: np.ndarray  # the greatest repaint cost, ns
    late: np.ndarray  # late frames


def anatomies(trace: Trace) -> list[Anatomy]:
    """One for each output."""
    found = [Anatomy() for _ in trace.outputs]
    for chunk in trace.updates.chunks():
        whole = (chunk["commit"] >= 0) & (chunk["posted"] >= 0) & (chunk["shown"] >= 0)
        for output in np.unique(chunk["output"][whole]).tolist():
            rows = whole & (chunk["output"] == output)
            anatomy = found[output]
            anatomy.updates += int(rows.sum())
            for stage, (start, end, _) in STAGES.items():
                anatomy.sums[stage] += sum((chunk[end][rows] - chunk[start][rows]).tolist())
    return found


def courses(trace: Trace, refreshes: list[Refresh]) -> list[Course]:
    """One for each output."""
    found = [_empty(trace, index) for index in range(len(trace.outputs))]
    updates = np.zeros((len(found), BUCKETS))
    for chunk in trace.frames.chunks():
        for output, rows in _by_output(chunk, chunk["posted"] >= 0):
            where = _bucket(found[output], chunk["begin"][rows])
            np.fmax.at(found[output].repaint, where, (chunk["posted"] - chunk["begin"])[rows])
        for output, rows, late in late_frames(chunk, refreshes):
            where = _bucket(found[output], chunk["begin"][rows[late > 0]])
            np.add.at(found[output].late, where, 1)
    for chunk in trace.updates.chunks():
        shown = (chunk["commit"] >= 0) & (chunk["shown"] >= 0)
        for output, rows in _by_output(chunk, shown):
            where = _bucket(found[output], chunk["begin"][rows])
            np.add.at(found[output].latency, where, (chunk["shown"] - chunk["commit"])[rows])
            np.add.at(updates[output], where, 1)
    with np.errstate(invalid="ignore"):
        for course, count in zip(found, updates, strict=True):
            course.latency /= count
    return found


def _empty(trace: Trace, index: int) -> Course:
    run = trace.runs[trace.outputs[index].run]
    return Course(
        run.first,
        max(run.last, run.first + 1),
        latency=np.zeros(BUCKETS),
        repaint=np.full(BUCKETS, np.nan),
        late=np.zeros(BUCKETS, dtype=np.int64),
    )


def _by_output(chunk: Chunk, rows: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    for output in np.unique(chunk["output"][rows]).tolist():
        yield output, rows & (chunk["output"] == output)


def _bucket(course: Course, times: np.ndarray) -> np.ndarray:
    part = (times - course.start) / (course.end - course.start)
    return np.clip((part * BUCKETS).astype(np.int64), 0, BUCKETS - 1)
