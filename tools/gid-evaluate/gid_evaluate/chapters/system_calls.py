# SPDX-License-Identifier: MIT
"""Interrupts and timers (5.5), and the system's own calls (5.14)."""

import re

from ..outcome import Broke, CannotRun, NotRun
from ..plan import Context, Plan
from ..result import Figure
from ..systems import System
from .beside import both, ratio_goal

LOOPS = (20_000, 100_000)  # quick, full
TRY = ["sh", "-c", "cyclictest -q -p 70 -i 1000 -l 1"]


# On each core a program that makes system calls without end, below all that is in real time.
LOADED = (
    "trap 'kill $all' EXIT; for core in $(seq $(nproc)); do "
    'dd if=/dev/zero of=/dev/null bs=1 2>/dev/null & all="$all $!"; done; '
)


def _line(is_full: bool) -> str:
    return f"cyclictest -q -p 70 -i 1000 -l {LOOPS[is_full] // 4} -a -t"


def _words(state: str, is_full: bool) -> list[str]:
    return ["sh", "-c", (LOADED if state == "loaded" else "") + _line(is_full)]


def _cyclictest(context: Context, system: System, state: str) -> list[Figure]:
    loops, line = LOOPS[context.is_full], _line(context.is_full)
    text = system.run(_words(state, context.is_full), 60 + loops / 250)
    source = system.typed(line)
    lines = re.findall(r"Min:\s*(\d+).*?Avg:\s*(\d+)\s*Max:\s*(\d+)", text)
    if not lines:
        raise Broke(f"{system.name}: cyclictest printed no figures")
    figures = []
    for number, (least, average, most) in enumerate(lines):
        spread = (float(least), float(most))
        name = f"{state}: delay of a timer interrupt, core {number}"
        figures.append(Figure(name, float(average), "µs", loops // 4, spread, source, system.name))
    return figures


def _need_real_time(system: System) -> None:
    try:
        system.run(TRY, 60)
    except Broke as error:
        raise CannotRun(f"it needs real-time priorities: {error}") from None


def _interrupts(context: Context) -> list[Figure]:
    figures = []
    for system in context.systems:
        if not system.has("cyclictest"):
            context.notes.append(f"{system.name}: there is no cyclictest (package rt-tests).")
            continue
        with context.part("No cyclictest"):
            _need_real_time(system)
            for state in ("idle", "loaded"):
                figures += _cyclictest(context, system, state)
    if not figures and not context.broken:
        raise NotRun("no cyclictest could run (package rt-tests)")
    return figures


def _calls(context: Context) -> list[Figure]:
    return context.everywhere("calls")


SYSTEM_CALLS, DOUBLES = "system calls, five", "arithmetic with doubles"


def _five_calls(context: Context) -> list[Figure]:
    return both(context, (SYSTEM_CALLS,), "calls")


def _arithmetic(context: Context) -> list[Figure]:
    return both(context, (DOUBLES,), "arithmetic")


PLANS = [
    Plan(
        "5.1.4",
        "System calls in the guest beside natively",
        "dup, close, getpid, getuid and umask, as UnixBench's “syscall” makes them, natively and "
        "in the guest. The evaluation of 2017 had the processor's time while they were made.",
        _five_calls,
        goals=(ratio_goal(SYSTEM_CALLS, 1.02, is_least=False),),
        minutes=(0.1, 0.1),
        runs=lambda is_full: [["gid-probe", "calls"]],
    ),
    Plan(
        "5.1.6",
        "Arithmetic in the guest beside natively",
        "Additions, multiplications and functions of doubles, natively and in the guest: not "
        "Whetstone's own mix, so that only the ratio is to be compared.",
        _arithmetic,
        goals=(ratio_goal(DOUBLES, 0.99),),
        minutes=(0.1, 0.1),
        runs=lambda is_full: [["gid-probe", "arithmetic"]],
    ),
    Plan(
        "5.5.1",
        "Delay of interrupts",
        "cyclictest on each core, at a real-time priority: its mean, with minimum and maximum; "
        "idle, and while a program on each core makes system calls without end.",
        _interrupts,
        minutes=(0.3, 4),
        runs=lambda is_full: [TRY, *(_words(state, is_full) for state in ("idle", "loaded"))],
    ),
    Plan(
        "5.14",
        "Calls of the system",
        "Semaphores, mutexes and message queues in batches; switches and wake-ups by an eventfd "
        "between two processes; how late a timer wakes a sleeper.",
        _calls,
        minutes=(0.1, 0.1),
        runs=lambda is_full: [["gid-probe", "calls"]],
    ),
]
