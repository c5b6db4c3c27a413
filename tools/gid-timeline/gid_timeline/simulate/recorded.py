# SPDX-License-Identifier: MIT
"""A workload from a real run: its repaint costs, commits and refresh interval.

The commits come when they came in the log, whatever the policy does: a client that would have
drawn upon an earlier frame callback does not. So a policy's gain is shown, not what clients make
of it.
"""

import itertools

import numpy as np

from ..figures import BY_KEY, samples_in
from ..refresh import gpu_work, measure
from ..trace import Trace
from .scheduler import Repaint, Workload

_CLASSES = 7
_FRAMES_MIN = 10


class RecordError(Exception):
    """The log does not have what a simulation needs; the message says what."""


def workload(trace: Trace, name: str | None, rates: dict[str, float]) -> Workload:
    """Of the output `name`, or of the one with most frames."""
    repaint = BY_KEY["repaint"]
    frames: dict[int, list[np.ndarray]] = {}
    for chunk in trace.frames.chunks():
        _, where = samples_in(repaint, chunk)
        for output in np.unique(chunk["output"][where]).tolist():
            if name in (None, trace.outputs[output].name):
                mine = where[chunk["output"][where] == output]
                times = np.stack([chunk["begin"][mine], chunk["posted"][mine]])
                frames.setdefault(output, []).append(times)
    if not frames:
        raise RecordError(f"the log has no repaints of {name or 'any output'}")
    output = max(frames, key=lambda index: sum(part.shape[1] for part in frames[index]))
    begin, posted = np.concatenate(frames[output], axis=1)
    commits, classes = _commits(trace, output)
    if len(begin) < _FRAMES_MIN or len(commits) < _FRAMES_MIN:
        raise RecordError(f"output {trace.outputs[output].name}: too few repaints with a commit")
    refresh = measure(trace, rates)[output].interval
    if refresh is None or not 2_000_000 <= refresh <= 200_000_000:
        raise RecordError("the log does not show the refresh rate: give it with --refresh")
    done = np.maximum(posted, _gpu_done(trace, output, begin, posted))
    repaints = [
        Repaint(cost, 0, min(classes.get(time, 1), _CLASSES))
        for time, cost in zip(begin.tolist(), (done - begin).tolist(), strict=True)
    ]
    start = commits[0]
    return Workload(
        f"{trace.outputs[output].name}, recorded",
        refresh,
        list(itertools.islice(itertools.cycle(repaints), len(commits))),
        commits=[time - start for time in commits],
        recorded=len(repaints),
    )


def _commits(trace: Trace, output: int) -> tuple[list[int], dict[int, int]]:
    """When clients committed what the output showed; and how many did so for each repaint."""
    commits: list[int] = []
    surfaces: dict[int, int] = {}
    for chunk in trace.updates.chunks():
        rows = (chunk["output"] == output) & (chunk["commit"] >= 0)
        commits += chunk["commit"][rows].tolist()
        for begin in chunk["begin"][rows].tolist():
            surfaces[begin] = surfaces.get(begin, 0) + 1
    return sorted(commits), surfaces


def _gpu_done(trace: Trace, output: int, begin: np.ndarray, posted: np.ndarray) -> np.ndarray:
    """When the GPU was done with each repaint; 0 where that is not known."""
    done = np.zeros_like(begin)
    work = gpu_work(trace, output, {"begin": begin, "shown": posted})
    repaint = np.searchsorted(begin, work[0], side="right") - 1
    np.maximum.at(done, repaint[repaint >= 0], work[1][repaint >= 0])
    return done
