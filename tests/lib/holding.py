# SPDX-License-Identifier: MIT
"""A program that keeps files locked in the kernel which it gives to its gidd."""

import sys

import pytest
from lib.cockpit import Cockpit
from lib.program import TOP, Program, python_env, wait_for

PROGRAMS = TOP / "tests/hostile/programs"


def hold(cockpit: Cockpit, domain: str, kind: str) -> Program:
    """`kind`: which lock, as held_locks.py knows it. Until gidd has what is locked."""
    command = [sys.executable, PROGRAMS / "stuck_page.py", sys.executable]
    command += [PROGRAMS / "held_locks.py", cockpit.socket(domain), kind]
    holder = cockpit.run(domain, command, **python_env(), TMPDIR=str(cockpit.folder))
    wait_for(lambda: "sent" in holder.stdout or not holder.is_running(), "it to hold a lock")
    if "# SKIP" in holder.stdout:
        pytest.skip(holder.stdout)
    assert holder.is_running(), holder.stderr
    return holder
