# SPDX-License-Identifier: MIT
"""Two logs side by side: the figures of outputs that both have, and how sure the difference is."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .bootstrap import ratio_interval, resample
from .figures import FIGURES, Figure, grouped
from .refresh import measure
from .samples import Samples
from .stats import QUANTILES, Summary, describe
from .trace import Trace

# With an interval; the others of a Summary are compared without.
SURE = ("mean", *QUANTILES)


@dataclass(slots=True)
class Compared:
    """A figure before and after, pooled over the runs of each log; durations in ns."""

    figure: Figure
    before: Summary
    after: Summary
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)  # of the ratios

    def ratio(self, statistic: str) -> float:
        return ratio_of(getattr(self.before, statistic), getattr(self.after, statistic))


@dataclass(slots=True)
class Late:
    frames: int = 0
    late: int = 0

    @property
    def share(self) -> float:
        return self.late / self.frames if self.frames else 0.0


@dataclass(slots=True)
class Pair:
    """An output that both logs have."""

    name: str
    figures: dict[str, Compared] = field(default_factory=dict)
    late_before: Late = field(default_factory=Late)
    late_after: Late = field(default_factory=Late)


@dataclass(slots=True)
class Comparison:
    pairs: list[Pair]
    only_before: list[str]
    only_after: list[str]


def compare(
    before: Trace, after: Trace, rates: dict[str, float], confidence: float, seed: int
) -> Comparison:
    names = [_names(trace) for trace in (before, after)]
    both = {name: (name, name) for name in names[0] if name in names[1]}
    if not both and len(names[0]) == len(names[1]) == 1:
        both = {f"{names[0][0]} → {names[1][0]}": (names[0][0], names[1][0])}
    pairs = {name: Pair(name) for name in both}
    for name, sides in both.items():
        pairs[name].late_before = _late(before, sides[0], rates)
        pairs[name].late_after = _late(after, sides[1], rates)
    for figure in FIGURES:
        values = [_pooled(figure, trace) for trace in (before, after)]
        for name, sides in both.items():
            parts = [found.get(side) for found, side in zip(values, sides, strict=True)]
            if parts[0] is not None and parts[1] is not None:
                pairs[name].figures[figure.key] = _compared(figure, *parts, confidence, seed)
    used = [{sides[i] for sides in both.values()} for i in (0, 1)]
    left = [[name for name in names[i] if name not in used[i]] for i in (0, 1)]
    return Comparison(list(pairs.values()), *left)


def ratio_of(before: float, after: float) -> float:
    """after / before; nothing after nothing is no change."""
    if before:
        return after / before
    return 1.0 if not after else math.inf


def _names(trace: Trace) -> list[str]:
    """Of outputs with a frame, each once."""
    found: dict[str, None] = {}
    for chunk in trace.frames.chunks():
        for output in np.unique(chunk["output"]).tolist():
            found[trace.outputs[output].name] = None
    return list(found)


def _pooled(figure: Figure, trace: Trace) -> dict[str, np.ndarray]:
    """By the name of the output, in the order of time."""
    found: dict[str, list[np.ndarray]] = {}
    for output, samples in grouped(figure, trace, "output"):
        found.setdefault(trace.outputs[output].name, []).append(_whole(samples))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _whole(samples: Samples) -> np.ndarray:
    return np.concatenate(list(samples.pieces()))


def _late(trace: Trace, name: str, rates: dict[str, float]) -> Late:
    late = Late()
    for output, refresh in zip(trace.outputs, measure(trace, rates), strict=True):
        if output.name == name:
            late.frames += refresh.frames
            late.late += refresh.late
    return late


def _compared(
    figure: Figure, before: np.ndarray, after: np.ndarray, confidence: float, seed: int
) -> Compared:
    compared = Compared(figure, *(describe(Samples.of(side))[0] for side in (before, after)))
    shares = list(QUANTILES.values())
    rng = np.random.default_rng(seed)
    drawn = [resample(side, shares, rng) for side in (before, after)]
    if drawn[0] is not None and drawn[1] is not None:
        for column, statistic in enumerate(SURE):
            interval = ratio_interval(drawn[0][:, column], drawn[1][:, column], confidence)
            if interval:
                compared.intervals[statistic] = interval
    return compared


def all_values(
    comparison: Comparison, figure: str, statistic: str
) -> Iterator[tuple[Pair, float, float, tuple[float, float] | None]]:
    """Of each pair that has it: the value before and after, and the interval of the ratio."""
    for pair in comparison.pairs:
        if figure == "late" and statistic == "share":
            if pair.late_before.frames and pair.late_after.frames:
                yield pair, pair.late_before.share, pair.late_after.share, None
        elif figure in pair.figures:
            compared = pair.figures[figure]
            before, after = (getattr(side, statistic) for side in (compared.before, compared.after))
            yield pair, before, after, compared.intervals.get(statistic)
