# SPDX-License-Identifier: MIT
"""What starts a program before all ordinary ones, as far as we are allowed to."""

import os


def before_others(level: int = 9) -> list[str]:
    """The beginning of a command: real-time priority `level`, else niceness, else nothing."""
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
    """What a process really got."""
    if os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO:
        return "SCHED_FIFO"
    return f"nice {os.getpriority(os.PRIO_PROCESS, pid)}"
