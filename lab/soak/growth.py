# SPDX-License-Identifier: MIT
"""Whether a value grows: a regression line through its samples, and its significance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 3  # samples: fewer prove nothing
SURE = 95  # %, the confidence of an interval; and the share of reported growth that is real


@dataclass(frozen=True)
class Growth:
    """`slope` per hour, plus or minus `margin`; `total` over the measured time, with its standard
    `error`. `chance`: the probability of a line as steep as this if nothing grows (the p-value).
    """

    slope: float
    margin: float
    total: float
    chance: float
    error: float
    samples: int

    def unnoticed(self, curves: int) -> float:
        """The largest total that may not be noticed among so many curves."""
        if self.samples < LEAST:
            return math.inf
        if self.error == 0:
            return 0.0
        from scipy import stats

        sure = 1 - (1 - SURE / 100) / curves
        return float(stats.t.ppf(sure, self.samples - 2) * self.error)


def growth(hours: Sequence[float], values: Sequence[float]) -> Growth:
    """Least squares over the samples after the warm-up."""
    samples = len(hours)
    if samples < LEAST or hours[-1] == hours[0]:
        return Growth(0, math.inf, 0, 1.0, math.inf, samples)
    if len(set(values)) == 1:
        return Growth(0, 0, 0, 1.0, 0, samples)
    from scipy import stats  # slow to load, and few users of this module need it

    line = stats.linregress(hours, values, alternative="greater")
    slope, error, span = float(line.slope), float(line.stderr), hours[-1] - hours[0]
    margin = float(stats.t.ppf((1 + SURE / 100) / 2, samples - 2)) * error
    return Growth(slope, margin, slope * span, float(line.pvalue), error * span, samples)


def which_grow(curves: Sequence[tuple[Growth, float]]) -> list[bool]:
    """`curves`: each with the total above which it counts as growth. Among many curves, some rise
    by chance: the p-values are corrected for that (Benjamini and Hochberg).
    """
    if not curves:
        return []
    from scipy import stats

    chances = stats.false_discovery_control([found.chance for found, _ in curves])
    return [
        found.total >= least and bool(chance < 1 - SURE / 100)
        for (found, least), chance in zip(curves, chances, strict=True)
    ]
