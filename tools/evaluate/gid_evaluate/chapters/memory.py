# SPDX-License-Identifier: MIT
"""Latency and bandwidth of memory (5.11), private and in slabs."""

import dataclasses

from ..plan import Context, Goal, Plan
from ..result import Figure


def _memory(context: Context) -> list[Figure]:
    private = context.everywhere("memory", "private")
    figures = [dataclasses.replace(one, name=f"private, {one.name}") for one in private]
    with context.part("No slab"), context.cockpit() as cockpit:
        figures += _named("slab", context.probe(cockpit.open, "memory", "slab"))
    if context.guest is not None:
        # A slab of the guest's own domain lies in its window (ivshmem).
        with context.part("No slab in the guest's window"):
            figures += _named("window", context.probe(context.guest, "memory", "slab"))
    return figures


def _named(where: str, measured: list[Figure]) -> list[Figure]:
    return [dataclasses.replace(one, name=f"{where}, {one.name}") for one in measured]


PLANS = [
    Plan(
        "5.11",
        "Memory",
        "A chain of loads through 16 KiB to 64 MiB, in order, at random, and from page to page "
        "(address translation); reading and writing 64 MiB; allocating, touching and freeing. In "
        "the guest also in its window, the memory that it shares with the host and other guests.",
        _memory,
        goals=(Goal("slab, read, private memory in turn, ratio", 1.05),),
        document=(
            ("in order, 64 MB", "31.1 ns (virtualised), 31.1 ns (native)"),
            ("random, 64 MB", "260 ns (virtualised), 221 ns (native)"),
            ("allocate, touch, free 64 MB", "20.8 ms (virtualised), 20.7 ms (native)"),
        ),
        minutes=(0.9, 0.9),
        runs=lambda is_full: [["gid-probe", "memory", kind] for kind in ("private", "slab")],
    ),
]
