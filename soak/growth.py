# SPDX-License-Identifier: MIT
"""Whether something grows: a line through its samples, and how sure that line is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Student's t for 99.9 %, two-sided: degrees of freedom, quantile. The next lower one counts. Some
# forty curves are judged in each soak: with 95 %, one of them would seem to grow by chance.
SURE = 99.9
_STUDENT = (
    (1, 636.619),
    (2, 31.599),
    (3, 12.924),
    (4, 8.610),
    (5, 6.869),
    (6, 5.959),
    (8, 5.041),
    (10, 4.587),
    (15, 4.073),
    (20, 3.850),
    (30, 3.646),
    (60, 3.460),
    (120, 3.373),
)


@dataclass(frozen=True)
class Growth:
    """`slope` an hour, give or take `margin`; `total` over the time that was looked at."""

    slope: float
    margin: float
    total: float

    @property
    def is_sure(self) -> bool:
        """It is not 0 by chance, and not negative."""
        return self.slope - self.margin > 0


def student(freedom: int) -> float:
    return next(quantile for least, quantile in reversed(_STUDENT) if freedom >= least)


def growth(hours: Sequence[float], values: Sequence[float]) -> Growth:
    """By least squares, of samples after the warm-up. Of fewer than three, nothing is sure."""
    count = len(hours)
    if count < 3 or hours[-1] == hours[0]:
        return Growth(0, math.inf, 0)
    middle, mean = sum(hours) / count, sum(values) / count
    spread = sum((hour - middle) ** 2 for hour in hours)
    pairs = list(zip(hours, values, strict=True))
    slope = sum((hour - middle) * (value - mean) for hour, value in pairs) / spread
    rest = sum((value - mean - slope * (hour - middle)) ** 2 for hour, value in pairs)
    margin = student(count - 2) * math.sqrt(rest / (count - 2) / spread)
    return Growth(slope, margin, slope * (hours[-1] - hours[0]))


def grows(hours: Sequence[float], values: Sequence[float], least: float) -> bool:
    """By `least` or more in all, and in each half for itself: a single step is no growth."""
    half = len(hours) // 2
    parts = ((hours, values), (hours[:half], values[:half]), (hours[half:], values[half:]))
    found = [growth(*part) for part in parts]
    return found[0].total >= least and all(one.is_sure for one in found)
