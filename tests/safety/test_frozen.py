# SPDX-License-Identifier: MIT
"""Programs of a cockpit are stopped for up to seconds, one or several at once: what the stream
shows when they go on is on the display soon, whoever it was.

GIDWAY_SEED and GIDWAY_ROUNDS are for more than a few of the possible cases.
"""

import os
import random
import signal
import time

import numpy
import pytest
from lib.cockpit import GIDCTL, Cockpit
from lib.display import Display, start_telltale, telltale_picture, with_deadline
from lib.forwarding import GID_VIEW, Forwarding
from lib.program import Program, wait_for

SEED = int(os.environ.get("GIDWAY_SEED", 1))
ROUNDS = int(os.environ.get("GIDWAY_ROUNDS", 7))
STATES = 16
SECONDS = (0.3, 1.3, 2.5)  # that they are stopped: shorter and longer than a lease


def test_frozen(cockpit: Cockpit) -> None:
    """A camera whose picture stands still most of the time, shown by Weston and by gid-cluster."""
    roles = f"[gid-safety]\nrole=telltale\nclients={GID_VIEW}\n"
    forwarding = Forwarding(cockpit, roles, deadline_ms=1000)
    camera = start_telltale(cockpit, "--stream", "camera/rear", "--state", "0")
    view = forwarding.client([GID_VIEW, "--stream", "camera/rear", "--role", "telltale"])
    display, weston = forwarding.display, forwarding.weston.program
    programs = [camera, view, weston, display.program, *cockpit.gidds.values()]
    dice = random.Random(SEED)
    state = 0

    def wait_right(when: str) -> None:
        picture = telltale_picture(cockpit.folder, state)

        def is_right() -> bool:
            is_live = display.role()["state"] == "live"
            return is_live and numpy.array_equal(display.region(), picture)

        wait_for(is_right, f"state {state} {when}")

    wait_right("at first")
    for number in range(ROUNDS):
        stopped = dice.sample(programs, dice.choice([1, 1, 2, 3]))
        send(stopped, signal.SIGSTOP)
        if dice.random() < 0.7:
            camera.signal(signal.SIGUSR1)
            state = (state + 1) % STATES
        time.sleep(dice.choice(SECONDS))
        dice.shuffle(stopped)
        send(stopped, signal.SIGCONT)
        names = ", ".join(program.name for program in stopped)
        wait_right(f"in round {number} of seed {SEED}: stopped were {names}")


def slabs(cockpit: Cockpit) -> list[str]:
    return [slab["gid"] for slab in cockpit.status("open")["slabs"]]


@pytest.mark.parametrize("who", ["telltale", "display"])
def test_while_memory_is_taken(cockpit: Cockpit, who: str) -> None:
    """It goes on when all is over: its time to leave the memory, and to let go of it."""
    display = Display(cockpit, with_deadline(1000))
    telltale = start_telltale(cockpit, "--state", "3")
    display.wait_role("live")
    (before,) = slabs(cockpit)
    stopped = telltale if who == "telltale" else display.program
    stopped.signal(signal.SIGSTOP)
    revoke = cockpit.run("open", [GIDCTL, "revoke", "open", before], "revoke")
    assert revoke.wait() == 0, revoke.stderr
    wait_for(lambda: before not in slabs(cockpit), "the end of that memory")
    telltale.signal(signal.SIGUSR1)
    stopped.signal(signal.SIGCONT)
    picture = telltale_picture(cockpit.folder, 4)
    display.wait_role("live")
    wait_for(lambda: numpy.array_equal(display.region(), picture), "what is shown since")
    (after,) = wait_for(lambda: slabs(cockpit), "other memory")
    assert after != before and telltale.is_running()


def send(programs: list[Program], number: signal.Signals) -> None:
    for program in programs:
        program.signal(number)
