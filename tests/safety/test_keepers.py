# SPDX-License-Identifier: MIT
"""Readers that give nothing back, and say all the time that they live: others get what is new."""

import signal
from contextlib import ExitStack

import numpy
from lib.cockpit import Cockpit
from lib.display import Display, start_telltale, telltale_picture
from lib.program import BUILD, wait_for
from lib.stream_reader import keeper

LIBGID = BUILD / "libgid" / "libgid.so"
KEEPERS = 3
LIGHTS = range(2, 12)  # more than anybody has slots for


def test_the_screen_can_be_looked_at(cockpit: Cockpit) -> None:
    """While it moves, and when it stands still."""
    display = Display(cockpit)
    telltale = start_telltale(cockpit, "--state", "5", "--cycle", "20")
    display.wait_role("live")
    with ExitStack() as stack:
        for _ in range(KEEPERS):
            stack.enter_context(keeper(LIBGID, cockpit.socket("cluster"), "screen"))
        for _ in range(3):
            assert display.screenshot().any()
        telltale.stop()
        display.wait_role("lost")
        stripes = display.screenshot()
        wait_for(lambda: numpy.array_equal(display.screenshot(), stripes), "what stands still")


def wait_shown(display: Display, picture: numpy.ndarray) -> None:
    wait_for(lambda: numpy.array_equal(display.region(), picture), "the new state")


def test_a_light_changes(cockpit: Cockpit) -> None:
    display = Display(cockpit)
    telltale = start_telltale(cockpit, "--state", str(LIGHTS[0] - 1))
    display.wait_role("live")
    with ExitStack() as stack:
        for state in LIGHTS:
            if state - LIGHTS[0] < KEEPERS:  # each keeps others
                place = (cockpit.socket("cluster"), "safety/telltale", "open")
                stack.enter_context(keeper(LIBGID, *place))
            telltale.signal(signal.SIGUSR1)
            wait_shown(display, telltale_picture(cockpit.folder, state))
