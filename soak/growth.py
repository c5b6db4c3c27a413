# SPDX-License-Identifier: MIT
"""Whether something grows: a line through its samples, and how sure that line is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_WARM = 0.1  # of the samples, at the begin: caches fill, programs are seen for the first time

# Student's t for 95 %, two-sided: degrees of freedom, quantile. The next lower one counts.
_STUDENT = (
    (1, 12.706),
    (2, 4.303),
    (3, 3.182),
    (4, 2.776),
    (5, 2.571),
    (6, 2.447),
    (8, 2.306),
    (10, 2.228),
    (15, 2.131),
    (20, 2.086),
    (30, 2.042),
    (60, 2.0),
    (120, 1.98),
)


@dataclass(frozen=True)
class Growth:
    """`slope` an hour, give or take `margin` (95 %); `total` over the time that was looked at."""

    slope: float
    margin: float
    total: float

    def exceeds(self, least: float) -> bool:
        """It is not 0 by chance, and came to `least` or more."""
        return self.slope - self.margin > 0 and self.total >= least


def student(freedom: int) -> float:
    return next(quantile for least, quantile in reversed(_STUDENT) if freedom >= least)


def growth(hours: Sequence[float], values: Sequence[float]) -> Growth:
    """By least squares. With fewer than three samples after the warm ones nothing is sure."""
    first = int(len(hours) * _WARM)
    hours, values = hours[first:], values[first:]
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
