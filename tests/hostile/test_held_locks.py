# SPDX-License-Identifier: MIT
"""Whoever gives gidd a descriptor still has the file, and can lock it in the kernel for good: gidd
asks nothing of it that waits for such a lock.
"""

import os
import sys
from pathlib import Path

import pytest
from cockpit import Cockpit
from gidwire import IMPORTED
from program import Program, wait_for

PROGRAMS = Path(__file__).with_name("programs")


def hold(cockpit: Cockpit, kind: str) -> Program:
    """`kind`: which lock a program of the domain open holds, of what it gives to its gidd."""
    command = [sys.executable, PROGRAMS / "stuck_page.py", sys.executable]
    command += [PROGRAMS / "held_locks.py", cockpit.socket("open"), kind]
    env = os.environ | {"TMPDIR": str(cockpit.folder)}
    holder = Program(command, env, cockpit.folder)
    cockpit.programs.append(holder)
    wait_for(lambda: "sent" in holder.stdout or not holder.is_running(), "it to hold a lock")
    if "# SKIP" in holder.stdout:
        pytest.skip(holder.stdout)
    assert holder.is_running(), holder.stderr
    return holder


@pytest.mark.parametrize("kind", ["position", "epoll", "closed"])
def test_gidd_goes_on(cockpit: Cockpit, kind: str) -> None:
    holder = hold(cockpit, kind)
    assert cockpit.status("open")["domain"] == "open"
    holder.kill()


def test_nor_does_another_domain_wait(cockpit: Cockpit) -> None:
    """It imports what was exported in good order, and locked later."""
    holder = hold(cockpit, "position")
    slab = int(holder.stdout.split()[0])
    with cockpit.connect("cluster") as reader:
        assert reader.import_(slab).type == IMPORTED
    assert cockpit.status("cluster")["domain"] == "cluster"
    holder.kill()
