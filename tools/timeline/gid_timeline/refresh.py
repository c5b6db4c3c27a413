# SPDX-License-Identifier: MIT
"""The refresh interval of an output, and which frames missed their refresh.

Weston's log does not say the refresh rate, so it follows from the times at which frames were shown
(docs/timeline.md has the rule) or from the user (--refresh).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from .figures import BY_KEY, Chunk, grouped
from .stats import quantile
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
        _estimate(refreshes[output], intervals)
    for output, refresh in zip(trace.outputs, refreshes, strict=True):
        rate = given.get(output.name, given.get(""))
        if rate is not None:
            refresh.interval, refresh.given = round(1_000_000_000 / rate), True
    gpu_ends = gpu_work(trace)
    for chunk in trace.frames.chunks():
        for output, rows, late in late_frames(chunk, refreshes):
            _count(refreshes[output], rows, late, gpu_ends.get(output))
    return refreshes


def late_frames(chunk: Chunk, refreshes: list[Refresh]) -> Iterator[tuple[int, Chunk, np.ndarray]]:
    """For each output: its judged frames, and by how many refreshes each was late (0: in time)."""
    for output in np.unique(chunk["output"]).tolist():
        if not refreshes[output].judges:
            continue
        interval = refreshes[output].interval
        rows = (chunk["output"] == output) & (chunk["how"] == SHOWN) & (chunk["shown"] >= 0)
        rows &= chunk["base"] >= 0
        frames = {name: column[rows] for name, column in chunk.items()}
        # In a running loop a frame is due one refresh after the one before. The first frame of a
        # loop is due at the first refresh after its repaint began.
        after = (frames["shown"] - frames["base"] + interval // 2) // interval - 1
        first = (frames["shown"] - frames["begin"]) // interval
        late = np.where(frames["after_start"] == 1, first, after)
        yield output, frames, np.maximum(late, 0)


def _estimate(refresh: Refresh, intervals: np.ndarray) -> None:
    if len(intervals) < _INTERVALS_MIN:
        return
    intervals.sort()
    tenth = quantile(intervals, Fraction(1, 10))
    near = intervals[np.abs(intervals - tenth) * 10 <= tenth]
    interval = quantile(near, Fraction(1, 2))
    if interval <= 0:
        return
    refresh.interval = interval
    off = np.abs(intervals - (intervals + interval // 2) // interval * interval)
    steady = int(np.count_nonzero(off * 20 <= interval))
    refresh.steady = steady * 100 >= len(intervals) * _STEADY_PERCENT


def gpu_work(trace: Trace) -> dict[int, np.ndarray]:
    """For each output with GPU times: when each piece of GPU work began and ended, in order."""
    pieces: dict[int, list[np.ndarray]] = {}
    for chunk in trace.gpu.chunks():
        for output in np.unique(chunk["output"]).tolist():
            rows = chunk["output"] == output
            stamps = np.stack([chunk["begin"][rows], chunk["end"][rows]])
            pieces.setdefault(output, []).append(stamps)
    found = {}
    for output, stamps in pieces.items():
        both = np.concatenate(stamps, axis=1)
        found[output] = both[:, np.argsort(both[0], kind="stable")]
    return found


def _count(refresh: Refresh, frames: Chunk, late: np.ndarray, gpu: np.ndarray | None) -> None:
    refresh.frames += len(late)
    refresh.late += int(np.count_nonzero(late))
    refresh.missed += int(late.sum())
    for cause, count in causes_of(refresh, frames, late, gpu).items():
        refresh.causes[cause] += count


def causes_of(
    refresh: Refresh, frames: Chunk, late: np.ndarray, gpu: np.ndarray | None
) -> dict[str, int]:
    """How many of the late frames have each cause."""
    rows = late > 0
    due = (frames["shown"] - late * refresh.interval)[rows]
    begin, posted = frames["begin"][rows], frames["posted"][rows]
    began_late = begin >= due
    repaint_long = ~began_late & (posted >= due)
    gpu_long = np.zeros_like(began_late)
    if gpu is not None:
        # The last GPU work of the frame that began after its repaint did, and before it was shown.
        last = np.searchsorted(gpu[0], frames["shown"][rows]) - 1
        mine = (last >= 0) & (gpu[0][last] >= begin)
        gpu_long = mine & (gpu[1][last] >= due) & ~began_late & ~repaint_long
    rest = ~began_late & ~repaint_long & ~gpu_long
    return {
        "began_late": int(np.count_nonzero(began_late)),
        "repaint_long": int(np.count_nonzero(repaint_long)),
        "gpu_long": int(np.count_nonzero(gpu_long)),
        "after_posted": int(np.count_nonzero(rest)),
    }
