# SPDX-License-Identifier: MIT
"""Conditions for CI: `compare --fail-if 'repaint_p99 > 1.05'`."""

import operator
import re
from dataclasses import dataclass

from .compare import Comparison, all_values, ratio_of
from .figures import BY_KEY

_STATISTICS = ("n", "mean", "sd", "min", "p50", "p90", "p99", "p999", "max", "outliers")
_OPERATORS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01}
_FORM = re.compile(
    r"\s*(?P<figure>[a-z_]+?)_(?P<statistic>[a-z0-9.]+)\s*(?P<operator>[<>]=?)"
    r"\s*(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>ns|us|µs|ms|s|%)?\s*\Z"
)


class ConditionError(Exception):
    """The condition is wrong, or cannot be judged by these logs; the message says why."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Without a unit about the ratio of after to before, with one about the value after."""

    text: str
    figure: str
    statistic: str
    operator: str
    number: float
    is_ratio: bool

    def failures(self, comparison: Comparison, only_sure: bool) -> list[str]:
        """A sentence for each output of which the condition holds.

        `only_sure`: of ratios, only where the whole confidence interval fulfils it.
        """
        found = []
        judged = False
        holds = _OPERATORS[self.operator]
        for pair, before, after, interval in all_values(comparison, self.figure, self.statistic):
            judged = True
            value = ratio_of(before, after) if self.is_ratio else after
            values = [value]
            if only_sure and self.is_ratio and interval:
                values += interval
            if all(holds(value, self.number) for value in values):
                shown = f"{value:.4f}" if self.is_ratio else f"{value:g}"
                found.append(f"{pair.name}: {self.text.strip()} (it is {shown})")
        if not judged:
            raise ConditionError(f"{self.text!r}: no output of both logs has this figure")
        return found


def parse(text: str) -> Condition:
    match = _FORM.match(text)
    if match is None:
        raise ConditionError(
            f"{text!r} is no condition. Write FIGURE_STATISTIC, one of > >= < <=, and a ratio of "
            "after to before (1.05) or a value (8ms, 0.1%); for example 'repaint_p99 > 1.05'."
        )
    figure, statistic = match["figure"], match["statistic"].replace("p99.9", "p999")
    known = (figure in BY_KEY and statistic in _STATISTICS) or (figure, statistic) == (
        "late",
        "share",
    )
    if not known:
        raise ConditionError(
            f"{text!r}: there is no {figure}_{match['statistic']}. Figures: {', '.join(BY_KEY)}, "
            f"with {', '.join(_STATISTICS)}; and late_share."
        )
    number = float(match["number"]) * _UNITS.get(match["unit"] or "", 1)
    return Condition(text, figure, statistic, match["operator"], number, match["unit"] is None)
