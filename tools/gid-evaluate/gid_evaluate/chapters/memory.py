# SPDX-License-Identifier: MIT
"""Latency and bandwidth of memory (5.11), private and in slabs."""

import dataclasses

from ..outcome import NotRun
from ..plan import Context, Goal, Plan, Shared
from ..result import Figure
from .beside import both, guest_of, ratio_goal


def _memory(context: Context) -> list[Figure]:
    private = context.everywhere("memory", "private")
    figures = [dataclasses.replace(one, name=f"private, {one.name}") for one in private]
    return [*figures, *_slabs(context)]


def _slabs(context: Context) -> list[Figure]:
    """Of this machine, and of the guest's own domain, which lie in its window (ivshmem)."""
    figures = []
    with context.part("No slab"):
        figures += _named("slab", _native_slab(context))
    if context.guest is not None:
        with context.part("No slab in the guest's window"):
            figures += _named("window", context.probe_once(context.guest, "memory", "slab"))
    return figures


def _native_slab(context: Context) -> list[Figure]:
    def measure() -> list[Figure]:
        with context.cockpit() as cockpit:
            return context.probe(cockpit.open, "memory", "slab")

    return context.figures_once(("gid-probe", "slab"), measure)


def _named(where: str, measured: list[Figure]) -> list[Figure]:
    return [dataclasses.replace(one, name=f"{where}, {one.name}") for one in measured]


# --- in the guest beside natively -----------------------------------------------------------------


def _bandwidth(context: Context) -> list[Figure]:
    guest = guest_of(context)
    if not context.native.is_here:
        raise NotRun("this needs two domains on the machine where it is started")
    window = context.probe_once(guest, "memory", "slab")
    added = _turns(window) / _turns(_native_slab(context))
    return [
        *both(context, ("read", "write"), "memory", "private"),
        _one(ADDED.figure, added, ""),
    ]


def _turns(figures: list[Figure]) -> float:
    return next(one.value for one in figures if one.name == TURNS)


def _random_writes(context: Context) -> list[Figure]:
    sizes = (2048, 16384, 65536)
    names = tuple(f"random writes {size} KiB" for size in sizes)
    return both(context, names, "memory", "private")


def _conversion(context: Context) -> list[Figure]:
    """As the evaluation of 2017 has it: (A - B) * 2 + C."""
    native, guest = (
        {one.name: one.value for one in context.probe_once(system, "memory", "private")}
        for system in (context.native, guest_of(context))
    )
    a, b = guest["random 65536 KiB"], native["random 65536 KiB"]
    c = guest["page by page 16384 KiB"] - guest["in order 1024 KiB"]
    if context.how != "kvm":
        context.notes.append(
            "A machine that is translated has no second stage of address translation: what is "
            "told is what its emulation costs."
        )
    return [
        _one("A: random, 64 MiB, in the guest", a, "ns"),
        _one("B: random, 64 MiB, natively", b, "ns"),
        _one("C: a miss of the guest's address translation", c, "ns"),
        _one("(A - B) * 2 + C", (a - b) * 2 + c, "ns"),
    ]


def _one(name: str, value: float, unit: str) -> Figure:
    return Figure(name, value, unit, 1, (value, value), "gid-probe memory", "both")


def _files(context: Context) -> list[Figure]:
    return both(context, ("a file, opened and read", "a file, opened and mapped"), "files")


TURNS = "read, private memory in turn, ratio"
# What gid adds to reading in the guest, to what it adds natively.
ADDED = Goal("private memory to a slab, in the guest to natively, ratio", 1.1)
PROBED = Shared("gid-probe memory", (1.2, 1.2))
PRIVATE = [["gid-probe", "memory", "private"]]

PLANS = [
    Plan(
        "5.2.4",
        "Bandwidth in the guest beside natively",
        "Reading and writing 64 MiB, natively and in the guest; and what reading a slab costs more "
        "than private memory, in the guest's window to natively.",
        _bandwidth,
        goals=(ratio_goal("read", 0.96), ratio_goal("write", 0.96), ADDED),
        minutes=(0.0, 0.0),
        shares=(PROBED,),
        runs=lambda is_full: [["gid-probe", "memory", kind] for kind in ("private", "slab")],
    ),
    Plan(
        "5.10",
        "Reading files in the guest beside natively",
        "A file of 64 MiB that the kernel has in memory is opened and read, by 64 KiB, and mapped.",
        _files,
        goals=(ratio_goal("a file, opened and read", 0.89),),
        minutes=(0.1, 0.1),
        runs=lambda is_full: [["gid-probe", "files"]],
    ),
    Plan(
        "5.11.4",
        "Random writes in the guest beside natively",
        "Writes of 8 bytes into lines of 2 to 64 MiB at random; nothing waits for the one before.",
        _random_writes,
        goals=(ratio_goal("random writes 65536 KiB", 1.05, is_least=False),),
        minutes=(0.0, 0.0),
        shares=(PROBED,),
        runs=lambda is_full: PRIVATE,
    ),
    Plan(
        "5.11.8",
        "From the guest's addresses to the machine's",
        "Computed as the evaluation of 2017 did, from loads at random through 64 MiB in the guest "
        "(A) and natively (B), and a miss of the guest's own translation (C).",
        _conversion,
        minutes=(0.0, 0.0),
        shares=(PROBED,),
        runs=lambda is_full: PRIVATE,
    ),
    Plan(
        "5.11",
        "Memory",
        "A chain of loads through 16 KiB to 64 MiB, in order, at random, and from page to page "
        "(address translation); reading and writing 64 MiB; allocating, touching and freeing. In "
        "the guest also in its window, the memory that it shares with the host and other guests.",
        _memory,
        goals=(Goal("slab, read, private memory in turn, ratio", 1.05),),
        minutes=(0.0, 0.0),
        shares=(PROBED,),
        runs=lambda is_full: [["gid-probe", "memory", kind] for kind in ("private", "slab")],
    ),
]
