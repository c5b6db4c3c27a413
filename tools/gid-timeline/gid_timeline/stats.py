# SPDX-License-Identifier: MIT
"""Statistics of durations in whole nanoseconds, exact: no interpolation, no rounding on the way.

Quantiles are nearest-rank: the p quantile of n samples is the ceil(p*n)-th smallest one.
Outliers are samples above Q3 + 3 * (Q3 - Q1), Tukey's outer fence ("Exploratory Data Analysis",
1977), with the quartiles by nearest rank as well.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from .samples import Samples, quantiles

QUANTILES = {
    "p50": Fraction(50, 100),
    "p90": Fraction(90, 100),
    "p99": Fraction(99, 100),
    "p999": Fraction(999, 1000),
}
STATISTICS = ("n", "mean", "sd", "min", *QUANTILES, "max", "outliers")

_QUARTILES = [Fraction(1, 4), Fraction(3, 4)]
_BINS = 60
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


@dataclass(slots=True, frozen=True)
class Histogram:
    """Counts between edges, of which there is one more; in ns.

    The bins reach to p99 or twice the way to the outer fence, whichever is farther, but no farther
    than the maximum. The last one also holds everything above its upper edge. Where the samples
    hardly differ, the bins are no narrower than a thousandth of the median.
    """

    edges: list[int]
    counts: list[int]


def describe(samples: Samples) -> tuple[Summary, Histogram]:
    """Of at least one sample."""
    n = samples.n
    total = squares = 0
    low, high = 1 << 63, -(1 << 63)
    for piece in samples.pieces():
        for start in range(0, len(piece), _PIECE):
            values = piece[start : start + _PIECE].tolist()  # whole numbers that cannot overflow
            total += sum(values)
            squares += sum(value * value for value in values)
            low, high = min(low, min(values)), max(high, max(values))
    q1, q3, *found = quantiles(samples, [*_QUARTILES, *QUANTILES.values()])
    named = dict(zip(QUANTILES, found, strict=True))
    fence = q3 + 3 * (q3 - q1)
    reach = min(high, max(q3 + 6 * (q3 - q1), named["p99"]))
    width = max(1, named["p50"] // 1000, -(-(reach - low + 1) // _BINS))
    counts = np.zeros(_BINS, dtype=np.int64)
    outliers = 0
    for piece in samples.pieces():
        outliers += int(np.count_nonzero(piece > fence))
        places = np.minimum((piece - low) // width, _BINS - 1)
        counts += np.bincount(places, minlength=_BINS)
    summary = Summary(
        n=n,
        mean=total / n,
        sd=_root(n * squares - total * total, n * max(n - 1, 1)),
        min=low,
        max=high,
        outliers=outliers,
        fence=fence,
        **named,
    )
    return summary, Histogram([low + width * i for i in range(_BINS + 1)], counts.tolist())


def _root(numerator: int, denominator: int) -> float:
    """The square root of a quotient, to the last bit: math.sqrt would round a second time."""
    with localcontext(prec=100):
        return float((Decimal(numerator) / Decimal(denominator)).sqrt())
