# SPDX-License-Identifier: MIT
"""A program that keeps files locked in the kernel which it gives to its gidd, or to Weston."""

import sys
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.forwarding import Forwarding
from lib.program import TOP, Program, python_env, wait_for

PROGRAMS = TOP / "tests/hostile/programs"


def hold(cockpit: Cockpit, domain: str, kind: str) -> Program:
    """`kind`: which lock, as held_locks.py knows it. Until gidd has what is locked."""
    return run(cockpit, domain, PROGRAMS / "held_locks.py", cockpit.socket(domain), kind)


def hold_pipe(forwarding: Forwarding) -> Program:
    """Until Weston has a pipe that is locked."""
    weston = forwarding.weston
    arguments = [weston.socket, str(weston.program.pid), *weston.protocols]
    return run(forwarding.cockpit, "open", PROGRAMS / "held_pipes.py", *arguments)


def run(cockpit: Cockpit, domain: str, *command: str | Path) -> Program:
    """A program that is told of memory that never comes. Until it says that it has sent it."""
    under = [sys.executable, PROGRAMS / "stuck_page.py", sys.executable]
    holder = cockpit.run(domain, [*under, *command], **python_env(), TMPDIR=str(cockpit.folder))
    wait_for(lambda: "sent" in holder.stdout or not holder.is_running(), "it to hold a lock")
    if "# SKIP" in holder.stdout:
        pytest.skip(holder.stdout)
    assert holder.is_running(), holder.stderr
    return holder
