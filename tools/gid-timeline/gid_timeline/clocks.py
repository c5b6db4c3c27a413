# SPDX-License-Identifier: MIT
"""How far the clocks of two domains are apart: not at all, as both say that theirs is of one
kernel, or told from the frames between them.

A frame cannot be received before it was submitted, nor be free before it was released. So with
`offset` the consumer's clock less the owner's, each frame gives

    released - freed <= offset <= receive - submit

and the greatest and the least of these are bounds that hold for certain. They are as far apart as
the fastest way there and back took. A frame of the other direction gives the same with its sign
turned. The middle is taken, and half the distance is its error at most.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from .journeys import Route

_NEAR = 1_000_000_000  # ns
_WINDOW = 10_000_000_000  # ns: clocks that drift apart are looked at piece by piece


@dataclass(slots=True)
class Offset:
    """The consumer's clock less the owner's, in ns. `error` None: bounded on one side only."""

    same: bool  # one clock: then no error at all
    told: bool  # by both domains whether it is one clock; else by what speaks against it
    error: int | None
    times: np.ndarray  # of the owner's clock, at which `values` hold; between them linear
    values: np.ndarray

    def to_owner(self, times: np.ndarray) -> np.ndarray:
        """Times of the consumer's clock as the owner's."""
        shift = np.interp(times - self.values[0], self.times, self.values)
        return times - np.round(shift).astype(np.int64)

    def to_consumer(self, times: np.ndarray) -> np.ndarray:
        """Times of the owner's clock as the consumer's."""
        shift = np.interp(times, self.times, self.values)
        return times + np.round(shift).astype(np.int64)


Convert = Callable[[np.ndarray], np.ndarray]


def axes(found: dict[tuple[int, int], Offset], domains: Iterable[int]) -> list[dict[int, Convert]]:
    """The domains in groups of those whose clocks are known to each other.

    For each domain of a group: what makes its times those of the group's first domain.
    """
    groups: list[dict[int, Convert]] = []
    for first in domains:
        if any(first in group for group in groups):
            continue
        group: dict[int, Convert] = {first: lambda times: times}
        ways = [first]
        while ways:
            here = ways.pop()
            for (owner, consumer), offset in found.items():
                there, convert = consumer, offset.to_owner
                if consumer == here:
                    there, convert = owner, offset.to_consumer
                elif owner != here:
                    continue
                if there not in group:
                    group[there] = partial(_one_after_the_other, convert, group[here])
                    ways.append(there)
        groups.append(group)
    return groups


def _one_after_the_other(first: Convert, then: Convert, times: np.ndarray) -> np.ndarray:
    return then(first(times))


def offsets(
    routes: list[Route], clock: Callable[[int], str | None]
) -> dict[tuple[int, int], Offset]:
    """By owner and consumer; only of domains between which frames went. `clock`: which one a domain
    says that it has, if any.
    """
    bounds: dict[tuple[int, int], list[np.ndarray]] = {}
    for route in routes:
        if route.consumer >= 0 and route.consumer != route.owner:
            low, high = _bounds(route)
            here = bounds.setdefault((route.owner, route.consumer), [low, high])
            if here[0] is not low:
                here[0], here[1] = np.hstack([here[0], low]), np.hstack([here[1], high])
    found = {}
    for owner, consumer in bounds:
        low, high = bounds[owner, consumer]
        if (consumer, owner) in bounds:
            back_low, back_high = bounds[consumer, owner]
            low = np.hstack([low, _turned(back_high)])
            high = np.hstack([high, _turned(back_low)])
        names = clock(owner), clock(consumer)
        offset = _estimate(low, high, names[0] == names[1] if all(names) else None)
        if offset is not None:
            found[owner, consumer] = offset
    return found


def _bounds(route: Route) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds, each with the owner's time of it in the first row."""
    times = route.times
    back = (times["released"] >= 0) & (times["freed"] >= 0)
    there = (times["receive"] >= 0) & (times["submit"] >= 0)
    low = np.stack([times["freed"][back], (times["released"] - times["freed"])[back]])
    high = np.stack([times["submit"][there], (times["receive"] - times["submit"])[there]])
    return low, high


def _turned(bounds: np.ndarray) -> np.ndarray:
    """A bound of the other direction, at the time of the clock that is now the owner's."""
    return np.stack([bounds[0] + bounds[1], -bounds[1]])


def _estimate(low: np.ndarray, high: np.ndarray, same: bool | None) -> Offset | None:
    """`same`: whether it is one clock, where that is told."""
    if same:
        return _fixed(True, True, 0, 0, 0)
    if high.shape[1] == 0:
        return None
    told = same is not None
    start = high[0].min()
    least = high[1].min()
    if low.shape[1] == 0:
        # Clocks that started with different systems are rarely less than a second apart.
        guess = not told and bool(0 <= least < _NEAR)
        return _fixed(guess, told, None, start, 0 if guess else least)
    greatest = low[1].max()
    if greatest <= 0 <= least and not told:
        return _fixed(True, told, 0, start, 0)
    if greatest <= least:
        middle, error = (greatest + least) // 2, (least - greatest + 1) // 2
        return _fixed(False, told, int(error), start, middle)
    return _drifting(low, high, start, told)


def _fixed(same: bool, told: bool, error: int | None, start: int, value: int) -> Offset:
    return Offset(same, told, error, np.array([start]), np.array([value]))


def _drifting(low: np.ndarray, high: np.ndarray, start: int, told: bool) -> Offset:
    """Piece by piece: of the pieces alone that have bounds of both ways, however far apart."""
    lows, greatest = _by_window(low, start, np.maximum)
    highs, least = _by_window(high, start, np.minimum)
    both, of_low, of_high = np.intersect1d(lows, highs, assume_unique=True, return_indices=True)
    if not len(both):  # frames of one way only in each piece
        return _fixed(False, told, None, start, high[1].min())
    greatest, least = greatest[of_low], least[of_high]
    error = int((np.abs(least - greatest) // 2).max())
    times = start + both * _WINDOW + _WINDOW // 2
    return Offset(False, told, error, times, (greatest + least) // 2)


def _by_window(bounds: np.ndarray, start: int, tightest: np.ufunc) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the pieces, and the tightest bound of each."""
    numbers = (bounds[0] - start) // _WINDOW
    order = np.argsort(numbers, kind="stable")
    found, first = np.unique(numbers[order], return_index=True)
    return found, tightest.reduceat(bounds[1][order], first)
