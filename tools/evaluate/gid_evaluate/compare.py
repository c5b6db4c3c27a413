# SPDX-License-Identifier: MIT
"""Two evaluations side by side: what became worse from one release to the next."""

from collections.abc import Iterator
from dataclasses import dataclass

from .result import MET, Evaluation, Figure

# Units of which more is better; of all others less is.
MORE_IS_BETTER = {"MB/s", "Hz", "fps", "frames/s", "frames/s of CPU", "share"}
TOLERANCE = 0.10  # of the value: less is noise
TOLERANCE_OF_ONE = 0.25  # where one of the two was measured once, and has no spread


@dataclass(frozen=True)
class Change:
    """One figure of both. `ratio`: the second's value over the first's."""

    chapter: str
    name: str
    unit: str
    first: float
    second: float
    is_worse: bool

    @property
    def ratio(self) -> float:
        return self.second / self.first if self.first else float("inf")


def changes(first: Evaluation, second: Evaluation) -> Iterator[Change]:
    known = {(chapter.id, one.system, one.name): one for chapter, one in _figures(first)}
    for chapter, one in _figures(second):
        before = known.get((chapter.id, one.system, one.name))
        if before is not None and before.unit == one.unit:
            name = one.name if one.system == "native" else f"{one.system}: {one.name}"
            worse = _is_worse(before, one)
            yield Change(chapter.id, name, one.unit, before.value, one.value, worse)


def count(evaluation: Evaluation) -> int:
    """Its figures, each of a name of its own."""
    return len({(chapter.id, one.system, one.name) for chapter, one in _figures(evaluation)})


def lost_verdicts(first: Evaluation, second: Evaluation) -> list[str]:
    """Chapters that were met in the first and are not in the second."""
    met = {chapter.id for chapter in first.chapters if chapter.verdict == MET}
    return [
        f"{chapter.id} {chapter.title}: {chapter.verdict}"
        for chapter in second.chapters
        if chapter.id in met and chapter.verdict != MET
    ]


def _figures(evaluation: Evaluation) -> Iterator:
    return ((chapter, one) for chapter in evaluation.chapters for one in chapter.figures)


def _is_worse(before: Figure, after: Figure) -> bool:
    """By more than noise: the spreads do not overlap, and the medians differ by at least one of
    them."""
    gain = 1 if before.unit in MORE_IS_BETTER else -1
    loss = (before.value - after.value) * gain
    once = min(before.n, after.n) < 2
    if loss <= abs(before.value) * (TOLERANCE_OF_ONE if once else TOLERANCE):
        return False
    overlap = before.spread[0] <= after.spread[1] and after.spread[0] <= before.spread[1]
    return not overlap and loss >= min(_width(before), _width(after))


def _width(figure: Figure) -> float:
    return figure.spread[1] - figure.spread[0]
