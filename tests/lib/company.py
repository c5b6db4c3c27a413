# SPDX-License-Identifier: MIT
"""What other programs of the machine cost those under test: how long these waited for a processor.

A time that documents claim is asked of tests within twice of it, and what was waited on top. So a
program that became slow fails, and one that others do not let run does not.
"""

import os
from pathlib import Path

from lib.program import Program

# In the suite `long`: each case, on a quiet machine. Times are judged there, and else only printed.
IS_LONG = "GIDWAY_LONG" in os.environ

OF_CLAIM = 2  # by how much a test may exceed what documents claim


def waited_ms(*programs: Program) -> float:
    """By all their threads until now, ready to run and not run; by this test as well."""
    total = 0
    for pid in (os.getpid(), *(program.pid for program in programs)):
        for task in Path(f"/proc/{pid}/task").iterdir():
            try:
                total += int((task / "schedstat").read_text().split()[1])
            except FileNotFoundError:
                pass  # a thread that ended
    return total / 1e6
