# SPDX-License-Identifier: MIT
"""Whether something grows: a line through its samples, and how sure that line is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

SURE = 95  # %, of an interval; and of all that is said to grow, so much does


@dataclass(frozen=True)
class Growth:
    """`slope` an hour, give or take `margin`; `total` over the time that was looked at. `chance`:
    how probable so steep a line is where nothing grows."""

    slope: float
    margin: float
    total: float
    chance: float


def growth(hours: Sequence[float], values: Sequence[float]) -> Growth:
    """By least squares, of samples after the warm-up. Of fewer than three, nothing is sure."""
    if len(hours) < 3 or hours[-1] == hours[0]:
        return Growth(0, math.inf, 0, 1.0)
    if len(set(values)) == 1:
        return Growth(0, 0, 0, 1.0)
    from scipy import stats  # which takes longer to load than most programs that have this module

    line = stats.linregress(hours, values, alternative="greater")
    margin = stats.t.ppf((1 + SURE / 100) / 2, len(hours) - 2) * line.stderr
    total = line.slope * (hours[-1] - hours[0])
    return Growth(float(line.slope), float(margin), float(total), float(line.pvalue))


def which_grow(curves: Sequence[tuple[Growth, float]]) -> list[bool]:
    """Of each curve, with how much more in all is growth. Where many are judged together some rise
    by chance: their chances are corrected for that (Benjamini and Hochberg)."""
    if not curves:
        return []
    from scipy import stats

    chances = stats.false_discovery_control([found.chance for found, _ in curves])
    return [
        found.total >= least and bool(chance < 1 - SURE / 100)
        for (found, least), chance in zip(curves, chances, strict=True)
    ]
