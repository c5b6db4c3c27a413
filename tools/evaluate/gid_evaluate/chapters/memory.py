# SPDX-License-Identifier: MIT
"""Latency and bandwidth of memory (5.11), private and in slabs."""

import dataclasses

from ..plan import Context, Goal, Plan
from ..result import Figure

LARGE = "random 65536 KiB"


def _memory(context: Context) -> list[Figure]:
    private = context.everywhere("memory", "private")
    with context.cockpit() as cockpit:
        slab = context.probe(cockpit.open, "memory", "slab")
    # The best of all rounds: they are measured one after the other, and others disturb some.
    by_name = {one.name: one.spread[1] for one in private if one.system == "native"}
    in_slab = {one.name: one.spread[1] for one in slab}
    figures = [dataclasses.replace(one, name=f"private, {one.name}") for one in private]
    figures += [dataclasses.replace(one, name=f"slab, {one.name}") for one in slab]
    ratio = by_name["read"] / in_slab["read"]
    source = "gid-probe memory private, gid-probe memory slab"
    figures.append(
        Figure("reading private memory, ratio to a slab", ratio, "", 1, (ratio, ratio), source)
    )
    context.notes.append("The ratio is that of the fastest rounds.")
    return figures


PLANS = [
    Plan(
        "5.11",
        "Memory",
        "A chain of loads through 16 KiB to 64 MiB, in order, at random, and from page to page "
        "(address translation); reading and writing 64 MiB; allocating, touching and freeing.",
        _memory,
        goals=(Goal("reading private memory, ratio to a slab", 1.05),),
        document=(
            ("in order, 64 MB", "31.1 ns (virtualised), 31.1 ns (native)"),
            ("random, 64 MB", "260 ns (virtualised), 221 ns (native)"),
            ("allocate, touch, free 64 MB", "20.8 ms (virtualised), 20.7 ms (native)"),
        ),
        minutes=(0.5, 0.5),
        runs=lambda is_full: [["gid-probe", "memory", "private"]],
    ),
]
