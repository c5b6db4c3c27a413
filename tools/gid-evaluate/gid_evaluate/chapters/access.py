# SPDX-License-Identifier: MIT
"""Illegal access (5.21)."""

from ..plan import Context, Goal, Plan
from ..result import Figure


def _access(context: Context) -> list[Figure]:
    with context.cockpit() as cockpit:
        figures = context.probe(cockpit.open, "access")
    succeeded = sum(one.value for one in figures)
    spread = (0.0, succeeded)
    ways = len(figures)  # 2000 guessed numbers are one way
    total = Figure(
        "accesses that succeeded", succeeded, "successes", ways, spread, "gid-probe access"
    )
    context.notes.append(
        "Owner and reader are one process here, with a connection for each: what is tried is what "
        "gidd gives and the kernel allows."
    )
    return [*figures, total]


PLANS = [
    Plan(
        "5.21",
        "Illegal access",
        "A program that may read a slab of another domain tries to write it by each way that the "
        "kernel has; to get memory that it was not granted, by 2000 guessed numbers, and after a "
        "revocation; and to read a stream that is not shared. Counted are tries that succeed.",
        _access,
        goals=(Goal("accesses that succeeded", 0),),
        needs_quiet=False,
        minutes=(0.1, 0.1),
    ),
]
