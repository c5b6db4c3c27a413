# SPDX-License-Identifier: MIT
"""A program that keeps files locked in the kernel which it gives to its gidd, or to Weston."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.program import TOP, Program, python_env, wait_for
from lib.weston import Weston

PROGRAMS = TOP / "tests/hostile/programs"


def hold(cockpit: Cockpit, domain: str, kind: str) -> Program:
    """`kind`: which lock, as held_locks.py knows it. Until gidd has what is locked."""
    return run(cockpit, domain, PROGRAMS / "held_locks.py", cockpit.socket(domain), kind)


@contextmanager
def held_pipes(cockpit: Cockpit, weston: Weston, kind: str) -> Iterator[Program]:
    """`kind`: what Weston is given, as held_pipes.py knows it. From when it has that."""
    program = PROGRAMS / "held_pipes.py"
    arguments = [kind, weston.socket, str(weston.program.pid), *weston.protocols]
    holder = run(cockpit, "open", program, *arguments)
    try:
        yield holder
        assert holder.is_running(), holder.stderr
    finally:
        holder.kill()  # before it nobody ends who waits for it


def run(cockpit: Cockpit, domain: str, *command: str | Path) -> Program:
    """A program that is told of memory that never comes. Until it says that it has sent it."""
    under = [sys.executable, PROGRAMS / "stuck_page.py", sys.executable]
    holder = cockpit.run(domain, [*under, *command], **python_env(), TMPDIR=str(cockpit.folder))
    wait_for(lambda: "sent" in holder.stdout or not holder.is_running(), "it to hold a lock")
    if "# SKIP" in holder.stdout:
        pytest.skip(holder.stdout)
    assert holder.is_running(), holder.stderr
    return holder
