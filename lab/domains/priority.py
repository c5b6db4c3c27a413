# SPDX-License-Identifier: MIT
"""Commands that give a program priority over ordinary ones, as far as permitted, and its core."""

import contextlib
import os
from collections.abc import Sequence


def before_others(level: int = 9) -> list[str]:
    """The start of a command: real-time priority `level`, else niceness, else nothing."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(level))
        os.sched_setscheduler(0, *before)
        return ["chrt", "--fifo", str(level)]
    except PermissionError:
        pass
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, niceness - 1)
        os.setpriority(os.PRIO_PROCESS, 0, niceness)
        return ["nice", "--adjustment=-15"]
    except PermissionError:
        return []


def scheduling(pid: int) -> str:
    """The scheduling policy that a process really got."""
    if os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO:
        return "SCHED_FIFO"
    return f"nice {os.getpriority(os.PRIO_PROCESS, pid)}"


def take_precedence() -> None:
    """Gives us, and all programs started from now on, priority over ordinary ones, where permitted,
    so that other work of the machine does not disturb the measurement.
    """
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def two_cores() -> tuple[int, int]:
    """Two cores to pin processes to; the same one twice on a machine with one core."""
    cores = sorted(os.sched_getaffinity(0))
    return cores[0], cores[1 % len(cores)]


def before_sessions(command: Sequence[str]) -> list[str]:
    """Runs the command before other work of this machine, where permitted, with the same policy.

    For a program in its own session: the kernel shares the CPU fairly among sessions.
    """
    return ["sh", "-c", 'echo -20 2>/dev/null >/proc/self/autogroup; exec "$@"', "sh", *command]
