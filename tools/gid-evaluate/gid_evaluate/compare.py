# SPDX-License-Identifier: MIT
"""Two evaluations side by side: what became worse from one release to the next."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

from .result import MEASURED, MET, Evaluation, Figure

# Units of which more is better; of all others less is.
MORE_IS_BETTER = {"MB/s", "Hz", "fps", "frames/s", "frames/s of CPU", "share"}
MORE_IS_BETTER |= {"million rounds/s", "tries", "h"}
TOLERANCE = 0.08  # of the value: less is what machines do by themselves
CHANCE = 0.05  # that any figure at all seems worse though none is
# The standard error of a median, to that of a mean.
_OF_A_MEDIAN = math.sqrt(math.pi / 2)


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
    pairs = []
    for chapter, one in _figures(second):
        before = known.get((chapter.id, one.system, one.name))
        if before is not None and before.unit == one.unit:
            pairs.append((chapter.id, before, one))
    # Of many figures some seem worse by chance: each has to be as sure as all shall be together.
    sure = NormalDist().inv_cdf(1 - CHANCE / max(1, len(pairs)))
    for chapter_id, before, one in pairs:
        name = one.name if one.system == "native" else f"{one.system}: {one.name}"
        worse = _is_worse(before, one, sure)
        yield Change(chapter_id, name, one.unit, before.value, one.value, worse)


def count(evaluation: Evaluation) -> int:
    """Its figures, each of a name of its own."""
    return len({(chapter.id, one.system, one.name) for chapter, one in _figures(evaluation)})


def lost_verdicts(first: Evaluation, second: Evaluation) -> list[str]:
    """Chapters that were met, or measured, in the first and are not in the second."""
    good = {chapter.id for chapter in first.chapters if chapter.verdict in (MET, MEASURED)}
    return [
        f"{chapter.id} {chapter.title}: {chapter.verdict}"
        for chapter in second.chapters
        if chapter.id in good and chapter.verdict not in (MET, MEASURED)
    ]


def _figures(evaluation: Evaluation) -> Iterator:
    return ((chapter, one) for chapter in evaluation.chapters for one in chapter.figures)


def _is_worse(before: Figure, after: Figure, sure: float) -> bool:
    """By more than machines do by themselves, and by more than the samples say is chance."""
    gain = 1 if before.unit in MORE_IS_BETTER else -1
    loss = (before.value - after.value) * gain
    if loss <= abs(before.value) * TOLERANCE:
        return False
    return loss > sure * math.hypot(_error(before), _error(after))


def _error(figure: Figure) -> float:
    """The standard error of its value, from how far its n samples lie apart: of so many of a normal
    distribution the extremes are that many deviations from each other. None is known of one sample.
    """
    if figure.n < 2:
        return 0.0
    apart = 2 * NormalDist().inv_cdf((figure.n - 0.375) / (figure.n + 0.25))
    deviation = (figure.spread[1] - figure.spread[0]) / apart
    return _OF_A_MEDIAN * deviation / math.sqrt(figure.n)
