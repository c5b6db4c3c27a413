# SPDX-License-Identifier: MIT
"""Latency and bandwidth of memory (5.11), private and in slabs."""

import dataclasses

from ..plan import Context, Goal, NotRun, Plan
from ..result import Figure
from ..systems import CannotRun


def _memory(context: Context) -> list[Figure]:
    private = context.everywhere("memory", "private")
    figures = [dataclasses.replace(one, name=f"private, {one.name}") for one in private]
    for name, measured in (("slab", _slab(context)), ("window", _window(context))):
        figures += [dataclasses.replace(one, name=f"{name}, {one.name}") for one in measured]
    return figures


def _slab(context: Context) -> list[Figure]:
    try:
        with context.cockpit() as cockpit:
            return context.probe(cockpit.open, "memory", "slab")
    except NotRun as error:
        context.notes.append(f"No slab: {error}.")
        return []


def _window(context: Context) -> list[Figure]:
    """A slab of the guest's own domain, which lies in its window (ivshmem)."""
    if context.guest is None:
        return []
    try:
        return context.probe(context.guest, "memory", "slab")
    except CannotRun as error:
        context.notes.append(f"No slab in the guest's window: {error}.")
        return []


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
