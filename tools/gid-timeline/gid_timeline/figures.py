# SPDX-License-Identifier: MIT
"""The figures of a timeline: what each is, in plain words, and how it follows from the tables."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from .samples import IN_MEMORY, Samples
from .table import Table
from .trace import SHOWN, Trace

Chunk = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Figure:
    """A duration, one sample for each row of a table that has both its ends."""

    key: str
    title: str
    table: str  # of the trace: frames, updates, gpu
    start: str  # the columns it reaches from and to
    end: str
    contains: str
    lacks: str
    only: Callable[[Chunk], np.ndarray] | None = None  # of these rows


FIGURES = (
    Figure(
        "repaint",
        "repaint cost",
        "frames",
        "begin",
        "posted",
        "CPU time from the start of the repaint to its end: building the scene, assigning planes, "
        "drawing by the CPU or handing commands to the GPU. Evaluations of cockpits call it "
        "processing time.",
        "The GPU's own work, the display driver's (atomic commit), and any waiting before or "
        "after. It is a cost, not a latency.",
    ),
    Figure(
        "request_to_begin",
        "request → begin",
        "frames",
        "request",
        "begin",
        "How long the first request for a repaint waited until the repaint began: the refresh "
        "before it, and the repaint window.",
        "What the client did before it asked.",
    ),
    Figure(
        "commit_to_flush",
        "commit → flush",
        "updates",
        "commit",
        "flush",
        "From a surface's last commit with damage to the repaint that took it over.",
        "Commits that a later commit replaced before any repaint: those are counted as superseded.",
    ),
    Figure(
        "posted_to_shown",
        "posted → shown",
        "frames",
        "posted",
        "shown",
        "From the end of the repaint to the refresh that shows it: the driver, the GPU where it "
        "is not done, and the wait for the refresh.",
        "How long the display itself takes to make light of it.",
        only=lambda rows: rows["how"] == SHOWN,
    ),
    Figure(
        "commit_to_shown",
        "commit → shown",
        "updates",
        "commit",
        "shown",
        "The latency of a surface's frame: from its commit to the refresh that shows it.",
        "The time before the commit (capture, decoding, transport) and the display's own delay.",
    ),
    Figure(
        "interval",
        "shown → shown",
        "frames",
        "base",
        "shown",
        "From one refresh with new content to the next, while the repaint loop runs on.",
        "The pauses when nothing changes.",
        only=lambda rows: (rows["how"] == SHOWN) & (rows["after_start"] == 0),
    ),
    Figure(
        "gpu",
        "GPU time",
        "gpu",
        "begin",
        "end",
        "What the GPU itself took for the frame. Only from the GL renderer, where the driver has "
        "timer queries and native fences.",
        "The time its commands waited for the GPU.",
    ),
)
BY_KEY = {figure.key: figure for figure in FIGURES}


def samples_in(figure: Figure, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
    """The durations in ns, and the rows they come from."""
    start, end = chunk[figure.start], chunk[figure.end]
    rows = (start >= 0) & (end >= 0)
    if figure.only is not None:
        rows &= figure.only(chunk)
    (where,) = np.nonzero(rows)
    return end[where] - start[where], where


def grouped(figure: Figure, trace: Trace, by: str) -> Iterator[tuple[int, Samples]]:
    """The samples of each output or surface (`by` names the column), in the order of the log.

    Valid until the next one is asked for: no more than some are in memory at once.
    """
    counts = _counts(figure, trace, by)
    batch: list[int] = []
    for group in np.flatnonzero(counts).tolist():
        if counts[group] > IN_MEMORY:
            yield group, Samples(int(counts[group]), partial(_pieces, figure, trace, by, group))
            continue
        if counts[batch].sum() + counts[group] > IN_MEMORY:
            yield from _gather(figure, trace, by, batch, counts)
            batch = []
        batch.append(group)
    if batch:
        yield from _gather(figure, trace, by, batch, counts)


def _chunks(figure: Figure, trace: Trace, by: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    table: Table = getattr(trace, figure.table)
    for chunk in table.chunks():
        values, where = samples_in(figure, chunk)
        yield values, chunk[by][where]


def _counts(figure: Figure, trace: Trace, by: str) -> np.ndarray:
    groups = len(trace.outputs) if by == "output" else len(trace.surfaces)
    counts = np.zeros(groups, dtype=np.int64)
    for _, owners in _chunks(figure, trace, by):
        counts += np.bincount(owners, minlength=groups)
    return counts


def _pieces(figure: Figure, trace: Trace, by: str, group: int) -> Iterator[np.ndarray]:
    for values, owners in _chunks(figure, trace, by):
        yield values[owners == group]


def _gather(
    figure: Figure, trace: Trace, by: str, groups: list[int], counts: np.ndarray
) -> Iterator[tuple[int, Samples]]:
    """The samples of some groups, one after the other in one array."""
    edges = np.concatenate([[0], np.cumsum(counts[groups])])
    gathered = np.empty(edges[-1], dtype=np.int64)
    filled = edges[:-1].copy()
    place = np.full(len(counts), -1)
    place[groups] = np.arange(len(groups))
    for values, owners in _chunks(figure, trace, by):
        for owner in np.unique(owners).tolist():
            if (mine := place[owner]) >= 0:
                part = values[owners == owner]
                gathered[filled[mine] : filled[mine] + len(part)] = part
                filled[mine] += len(part)
    for group, start, end in zip(groups, edges[:-1], edges[1:], strict=True):
        yield group, Samples.of(gathered[start:end])
