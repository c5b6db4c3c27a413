# SPDX-License-Identifier: MIT
"""Statistics of durations in whole nanoseconds, exact: no interpolation, no rounding on the way.

Quantiles are nearest-rank: the p quantile of n samples is the ceil(p*n)-th smallest one.
Outliers are samples above Q3 + 3 * (Q3 - Q1), Tukey's outer fence ("Exploratory Data Analysis",
1977), with the quartiles by nearest rank as well.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

QUANTILES = {
    "p50": Fraction(50, 100),
    "p90": Fraction(90, 100),
    "p99": Fraction(99, 100),
    "p999": Fraction(999, 1000),
}
STATISTICS = ("n", "mean", "sd", "min", *QUANTILES, "max", "outliers")

_PIECE = 65536


@dataclass(slots=True, frozen=True)
class Summary:
    """Durations in ns; mean and standard deviation (of a sample: n - 1) are not whole numbers."""

    n: int
    mean: float
    sd: float
    min: int
    p50: int
    p90: int
    p99: int
    p999: int
    max: int
    outliers: int
    fence: int  # samples above it are outliers


def summarize(samples: np.ndarray) -> Summary | None:
    """The summary of int64 samples, or None of none. Sorts `samples` in place."""
    n = len(samples)
    if n == 0:
        return None
    samples.sort()
    total = _exact_sum(samples)
    variance = Fraction(n * _exact_sum_of_squares(samples) - total * total, n * max(n - 1, 1))
    q1 = quantile(samples, Fraction(1, 4))
    q3 = quantile(samples, Fraction(3, 4))
    fence = q3 + 3 * (q3 - q1)
    return Summary(
        n=n,
        mean=total / n,
        sd=math.sqrt(variance),
        min=int(samples[0]),
        max=int(samples[-1]),
        outliers=n - int(np.searchsorted(samples, fence, side="right")),
        fence=fence,
        **{name: quantile(samples, share) for name, share in QUANTILES.items()},
    )


def rank(n: int, share: Fraction) -> int:
    """The index of the quantile among n sorted samples."""
    return max(math.ceil(share * n), 1) - 1


def quantile(ordered: np.ndarray, share: Fraction) -> int:
    return int(ordered[rank(len(ordered), share)])


def histogram(ordered: np.ndarray, bins: int = 60) -> tuple[list[int], list[int]]:
    """Edges (bins + 1) and counts over the part of the samples that is of interest.

    The bins reach to p99.9 or the outer fence, whichever is less far; the last one, beyond its
    upper edge, also holds everything above.
    """
    if len(ordered) == 0:
        return [], []
    low = int(ordered[0])
    q1, q3 = quantile(ordered, Fraction(1, 4)), quantile(ordered, Fraction(3, 4))
    high = min(int(ordered[-1]), max(q3 + 6 * (q3 - q1), quantile(ordered, Fraction(99, 100))))
    width = max(1, -(-(high - low + 1) // bins))
    edges = [low + width * i for i in range(bins + 1)]
    counts = np.diff(np.searchsorted(ordered, edges[:-1]), append=len(ordered))
    counts[-1] = len(ordered) - int(np.searchsorted(ordered, edges[-2]))
    return edges, counts.tolist()


def _pieces(samples: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(samples), _PIECE):
        yield samples[start : start + _PIECE]


def _exact_sum(samples: np.ndarray) -> int:
    return sum(sum(piece.tolist()) for piece in _pieces(samples))


def _exact_sum_of_squares(samples: np.ndarray) -> int:
    return sum(sum(value * value for value in piece.tolist()) for piece in _pieces(samples))
