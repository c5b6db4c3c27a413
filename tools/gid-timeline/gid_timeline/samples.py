# SPDX-License-Identifier: MIT
"""Many samples, without having all of them in memory."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

IN_MEMORY = 3_000_000  # samples that may be in memory at once
_BINS = 1 << 16


@dataclass(slots=True, frozen=True)
class Samples:
    """`n` samples, int64; `pieces` gives them piece by piece, as often as it is called."""

    n: int
    pieces: Callable[[], Iterator[np.ndarray]]

    @classmethod
    def of(cls, array: np.ndarray) -> "Samples":
        return cls(len(array), lambda: iter([array]))

    def only(self, rows: Callable[[np.ndarray], np.ndarray]) -> "Samples":
        """Those for which `rows` is true; it is given a piece and gives a mask."""
        n = sum(int(np.count_nonzero(rows(piece))) for piece in self.pieces())
        return Samples(n, lambda: (piece[rows(piece)] for piece in self.pieces()))

    def ordered(self) -> np.ndarray:
        """All in memory, in ascending order."""
        whole = np.concatenate([*self.pieces(), np.empty(0, np.int64)])
        whole.sort()
        return whole


def rank(n: int, share: Fraction) -> int:
    """The place, from 0, of the quantile among n samples in ascending order."""
    return max(math.ceil(share * n), 1) - 1


def quantiles(samples: Samples, shares: list[Fraction]) -> list[int]:
    """Exact quantiles, nearest-rank. There must be samples."""
    ranks = [rank(samples.n, share) for share in shares]
    if samples.n <= IN_MEMORY:
        whole = samples.ordered()
        return [int(whole[place]) for place in ranks]
    low = min(int(piece.min()) for piece in samples.pieces() if len(piece))
    high = max(int(piece.max()) for piece in samples.pieces() if len(piece))
    searches = [_Search(place, low, high) for place in ranks]
    while any(search.low < search.high for search in searches):
        bins = {(search.low, search.high): None for search in searches}
        for low, high in bins:
            bins[low, high] = _count(samples, low, high)
        for search in searches:
            search.narrow(bins[search.low, search.high])
    return [search.low for search in searches]


@dataclass(slots=True)
class _Search:
    """A sample that lies from low to high, and is the `place`th of those that do."""

    place: int
    low: int
    high: int

    def narrow(self, counts: np.ndarray) -> None:
        width = _width(self.low, self.high)
        sums = np.cumsum(counts)
        found = int(np.searchsorted(sums, self.place, side="right"))
        self.place -= int(sums[found - 1]) if found else 0
        self.low += found * width
        self.high = min(self.high, self.low + width - 1)


def _width(low: int, high: int) -> int:
    return -(-(high - low + 1) // _BINS)


def _count(samples: Samples, low: int, high: int) -> np.ndarray:
    """How many samples lie in each of the equal parts from low to high."""
    counts = np.zeros(_BINS, dtype=np.int64)
    width = _width(low, high)
    for piece in samples.pieces():
        inside = piece[(piece >= low) & (piece <= high)]
        counts += np.bincount((inside - low) // width, minlength=_BINS)
    return counts
