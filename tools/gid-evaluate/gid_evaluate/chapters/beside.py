# SPDX-License-Identifier: MIT
"""The same natively and in the guest, as a ratio of the two."""

from collections.abc import Sequence

from ..compare import MORE_IS_BETTER
from ..outcome import NotRun
from ..plan import Context, Goal
from ..result import Figure
from ..systems import System


def both(context: Context, wanted: Sequence[str], *words: str) -> list[Figure]:
    """These figures of a probe on each system, with the ratio of each."""
    guest_of(context)
    figures = [one for one in context.everywhere(*words) if one.name in wanted]
    return [*figures, *ratios(figures)]


def guest_of(context: Context) -> System:
    if context.guest is None:
        raise NotRun(context.why_no_guest)
    return context.guest


def ratios(figures: Sequence[Figure]) -> list[Figure]:
    native = {one.name: one for one in figures if one.system == "native"}
    found = []
    for one in figures:
        if one.system != "native" and one.name in native:
            base, name = native[one.name], ratio_of(one.name, one.system)
            ratio, n = one.value / base.value, min(one.n, base.n)
            unit = "share" if one.unit in MORE_IS_BETTER else ""  # more of it is better, too
            found.append(Figure(name, ratio, unit, n, (ratio, ratio), one.source, "both"))
    return found


def ratio_of(name: str, system: str = "guest") -> str:
    return f"{name}: {system}, ratio to native"


def ratio_goal(name: str, bound: float, *, is_least: bool = True) -> Goal:
    """That of the evaluation of 2017. It is one where the guest's code is not translated."""
    return Goal(ratio_of(name), bound, is_least=is_least, only_kvm=True)
