# SPDX-License-Identifier: MIT
"""The refresh interval of an output, and which frames missed their refresh.

Weston's log does not say the refresh rate, so it follows from the times at which frames were shown
(docs/timeline.md has the rule) or from the user (--refresh).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from .figures import BY_KEY, Chunk, grouped
from .samples import Samples, quantiles
from .table import NONE
from .trace import SHOWN, Trace

_STEADY_PERCENT = 80
_INTERVALS_MIN = 8

# Why a frame was late, in the order in which a frame can lose its time.
CAUSES = {
    "began_late": "the repaint began only after the refresh it was meant for",
    "repaint_long": "the repaint was not done in time",
    "gpu_long": "the GPU was not done in time",
    "after_posted": "it was posted in time, but shown later (driver, GPU, or too little margin)",
}


@dataclass(slots=True)
class Refresh:
    """How an output kept to its refreshes. `interval` is None where none can be told."""

    interval: int | None = None  # ns
    given: bool = False  # by the user
    steady: bool = False  # the frames keep to whole multiples of it
    frames: int = 0  # that could be judged
    late: int = 0  # of those
    missed: int = 0  # refreshes that passed while a late frame was due
    causes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CAUSES, 0))

    @property
    def judges(self) -> bool:
        """Whether frames can be told late from in time."""
        return self.interval is not None and (self.given or self.steady)


def measure(trace: Trace, given: dict[str, float]) -> list[Refresh]:
    """One for each output of the trace. `given`: refresh rates in Hz by name; "" for all others."""
    refreshes = [Refresh() for _ in trace.outputs]
    for output, intervals in grouped(BY_KEY["interval"], trace, "output"):
        estimate(refreshes[output], intervals)
    for output, refresh in zip(trace.outputs, refreshes, strict=True):
        rate = given.get(output.name, given.get(""))
        if rate is not None:
            refresh.interval, refresh.given = round(1_000_000_000 / rate), True
    for chunk in trace.frames.chunks():
        for output, rows, late in late_frames(chunk, refreshes):
            refresh = refreshes[output]
            refresh.frames += len(late)
            refresh.late += int(np.count_nonzero(late))
            refresh.missed += int(late.sum())
            rows, late = rows[late > 0], late[late > 0]
            if len(rows):
                frames = {name: column[rows] for name, column in chunk.items()}
                _count_causes(refresh, frames, late, gpu_work(trace, output, frames))
    return refreshes


def late_frames(
    chunk: Chunk, refreshes: Sequence[Refresh] | Mapping[int, Refresh]
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """For each output: the rows of its judged frames, and by how many refreshes each was late."""
    for output in np.unique(chunk["output"]).tolist():
        if not refreshes[output].judges:
            continue
        interval = refreshes[output].interval
        rows = (chunk["output"] == output) & (chunk["how"] == SHOWN) & (chunk["shown"] >= 0)
        (rows,) = np.nonzero(rows & (chunk["base"] >= 0))
        begin, base, shown = chunk["begin"][rows], chunk["base"][rows], chunk["shown"][rows]
        # In a running loop a frame is due one refresh after the one before. The first frame of a
        # loop is due at the first refresh after its repaint began.
        after = (shown - base + interval // 2) // interval - 1
        first = (shown - begin) // interval
        late = np.where(chunk["after_start"][rows] == 1, first, after)
        yield output, rows, np.maximum(late, 0)


def estimate(refresh: Refresh, intervals: Samples) -> None:
    """Sets the interval and whether it is steady, by the times from one shown frame to the next."""
    if intervals.n < _INTERVALS_MIN:
        return
    (tenth,) = quantiles(intervals, [Fraction(1, 10)])
    if tenth <= 0:  # times that go back: no log of Weston's
        return
    near = intervals.only(lambda piece: np.abs(piece - tenth) * 10 <= tenth)
    (interval,) = quantiles(near, [Fraction(1, 2)])

    def is_whole(piece: np.ndarray) -> np.ndarray:
        return np.abs(piece - (piece + interval // 2) // interval * interval) * 20 <= interval

    refresh.interval = interval
    refresh.steady = intervals.only(is_whole).n * 100 >= intervals.n * _STEADY_PERCENT


def gpu_work(trace: Trace, output: int, frames: Chunk) -> np.ndarray:
    """When the GPU work from the first to the last of the frames began and ended: two rows."""
    start, end = int(frames["begin"].min()), int(frames["shown"].max())
    found = [np.empty((2, 0), np.int64)]
    for chunk in trace.gpu.chunks():
        rows = (chunk["output"] == output) & (chunk["begin"] >= start) & (chunk["begin"] <= end)
        found.append(np.stack([chunk["begin"][rows], chunk["end"][rows]]))
    both = np.concatenate(found, axis=1)
    return both[:, np.argsort(both[0], kind="stable")]


def _count_causes(refresh: Refresh, frames: Chunk, late: np.ndarray, gpu: np.ndarray) -> None:
    due = frames["shown"] - late * refresh.interval
    began_late = frames["begin"] >= due
    repaint_long = ~began_late & (frames["posted"] >= due)
    # The last GPU work that began after the frame's repaint did, and before it was shown.
    last = np.searchsorted(gpu[0], frames["shown"]) - 1
    gpu_end = np.where(last >= 0, np.append(gpu[1], NONE)[last], NONE)
    gpu_begin = np.where(last >= 0, np.append(gpu[0], NONE)[last], NONE)
    gpu_long = (gpu_begin >= frames["begin"]) & (gpu_end >= due) & ~began_late & ~repaint_long
    rest = ~began_late & ~repaint_long & ~gpu_long
    for cause, which in zip(CAUSES, (began_late, repaint_long, gpu_long, rest), strict=True):
        refresh.causes[cause] += int(np.count_nonzero(which))
