# SPDX-License-Identifier: MIT
"""The figures of a timeline: what each is, in plain words, and how it follows from the tables."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

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
        "drawing by the CPU or handing commands to the GPU. The cockpit report calls it "
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


def samples(figure: Figure, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
    """The durations in ns, and the indices of the rows they come from."""
    start, end = chunk[figure.start], chunk[figure.end]
    rows = (start >= 0) & (end >= 0)
    if figure.only is not None:
        rows &= figure.only(chunk)
    (where,) = np.nonzero(rows)
    return end[where] - start[where], where


def table_of(figure: Figure, trace: Trace) -> Table:
    return getattr(trace, figure.table)


def grouped(figure: Figure, trace: Trace, by: str) -> Iterator[tuple[int, np.ndarray]]:
    """The samples of each output or surface (`by` names the column), in the order of the log."""
    values, groups = [], []
    for chunk in table_of(figure, trace).chunks():
        value, where = samples(figure, chunk)
        values.append(value)
        groups.append(chunk[by][where].astype(np.uint16))
    if not values:
        return
    value, group = np.concatenate(values), np.concatenate(groups)
    values.clear()
    if len(group) and group.min() == group.max():
        yield int(group[0]), value
        return
    order = np.argsort(group, kind="stable")
    group = group[order]
    value = value[order]
    edges = np.flatnonzero(np.diff(group)) + 1
    for piece, start in zip(np.split(value, edges), [0, *edges.tolist()], strict=True):
        if len(piece):
            yield int(group[start]), piece
