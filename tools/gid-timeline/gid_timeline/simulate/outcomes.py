# SPDX-License-Identifier: MIT
"""Runs every policy on every workload, and shows what came of it."""

import csv
import io
import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np

from .. import sentences
from ..json_csv import json_text
from ..samples import Samples, quantiles
from ..terminal import Paint
from .gidway import Gidway
from .policies import Fixed, KWin, Mutter, Wlroots
from .scheduler import Outcome, Policy, Workload, simulate

# Over the miss rate: of so many frames one is the share that the policy aims at (pacing.c).
_LEARNING = 1.2


@dataclass(slots=True)
class Row:
    """One policy on one workload; latencies are of commit → shown."""

    workload: str
    policy: str
    frames: int
    late: int
    miss_rate: float
    keeps_rate: bool
    latency_mean_ms: float
    latency_p50_ms: float
    latency_p99_ms: float
    window_mean_ms: float
    recorded_frames: int | None  # repaints of the log that the workload is of
    frames_to_learn: int  # before that gidway's policy does not know what the miss rate needs
    best: bool = False  # of the least mean latency of those that keep the rate


def run(workloads: list[Workload], miss_rate: float) -> list[Row]:
    rows = []
    for workload in workloads:
        policies: list[Policy] = [Fixed(), Mutter(), KWin(), Wlroots(), Gidway(miss_rate)]
        group = [
            _row(workload, policy, simulate(workload, policy), miss_rate) for policy in policies
        ]
        keeping = [row for row in group if row.keeps_rate]
        if keeping:
            min(keeping, key=lambda row: row.latency_mean_ms).best = True
        rows += group
    return rows


def _row(workload: Workload, policy: Policy, outcome: Outcome, miss_rate: float) -> Row:
    latencies = Samples.of(np.array(outcome.latencies, dtype=np.int64))
    p50, p99 = quantiles(latencies, [Fraction(1, 2), Fraction(99, 100)])
    frames = outcome.frames
    return Row(
        workload=workload.name,
        policy=policy.name,
        frames=frames,
        late=outcome.late,
        miss_rate=outcome.late / frames,
        keeps_rate=outcome.late <= miss_rate * frames,
        latency_mean_ms=round(sum(outcome.latencies) / frames / 1e6, 2),
        latency_p50_ms=round(p50 / 1e6, 2),
        latency_p99_ms=round(p99 / 1e6, 2),
        window_mean_ms=round(outcome.window_sum / frames, 2),
        recorded_frames=workload.recorded,
        frames_to_learn=round(_LEARNING / miss_rate),
    )


def _groups(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each workload."""
    for workload, group in itertools.groupby(rows, key=lambda row: row.workload):
        yield workload, list(group)


def _note(group: list[Row]) -> str:
    """How much there was to judge by, and whether it is too little for gidway's policy."""
    simulated, recorded = max(row.frames for row in group), group[0].recorded_frames
    needed = group[0].frames_to_learn
    note = f"The log had {sentences.count(recorded, 'frame')}. " if recorded else ""
    if simulated < needed:
        note += (
            f"With {sentences.count(simulated, 'frame')} gidway's policy is still learning, and "
            f"careful: to know what the stated miss rate needs takes it some "
            f"{sentences.count(needed, 'frame')}."
        )
    return note.rstrip()


_HEADER = ("policy", "late of 1000", "mean ms", "p50 ms", "p99 ms", "window ms")


def _cells(row: Row) -> list[str]:
    return [
        row.policy,
        f"{1000 * row.miss_rate:.2f}",
        f"{row.latency_mean_ms:.2f}",
        f"{row.latency_p50_ms:.2f}",
        f"{row.latency_p99_ms:.2f}",
        f"{row.window_mean_ms:.2f}",
    ]


def text(rows: list[Row], paint: Paint) -> Iterator[str]:
    header = "".join(f"{word:>14}" for word in _HEADER[1:])
    for workload, group in _groups(rows):
        yield f"\n{paint.bold(f'{workload:<20}')}{paint.dim(header)}\n"
        for row in group:
            name, late, *rest = _cells(row)
            late = f"{late:>14}"
            line = f"  {name:<18}{late if row.keeps_rate else paint.red(late)}"
            line += "".join(f"{cell:>14}" for cell in rest)
            best = f"  {paint.green('◀ least of those that keep the rate')}" if row.best else ""
            yield f"{line}{best}\n"
        if note := _note(group):
            yield f"  {note}\n"


def markdown(rows: list[Row], paint: Paint) -> Iterator[str]:
    yield f"| workload | {' | '.join(_HEADER)} |\n"
    yield "|---|---|" + "--:|" * (len(_HEADER) - 1) + "\n"
    notes = []
    for workload, group in _groups(rows):
        for row in group:
            name, late, mean, *rest = _cells(row)
            late = late if row.keeps_rate else f"*{late}*"
            mean = f"**{mean}**" if row.best else mean
            first = workload if row is group[0] else ""
            yield f"| {' | '.join([first, name, late, mean, *rest])} |\n"
        if note := _note(group):
            notes.append(f"\n{workload}: {note}\n")
    yield from notes


def to_json(rows: list[Row], paint: Paint) -> Iterator[bytes]:
    yield json_text([asdict(row) for row in rows])


def csv_lines(rows: list[Row], paint: Paint) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(Row.__slots__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    yield text.getvalue()
