# SPDX-License-Identifier: MIT
"""Readers that give nothing back, and say all the time that they live: others get what is new."""

import signal
from collections.abc import Callable
from contextlib import ExitStack

import numpy
import pytest
from lib.cockpit import GIDCTL, Cockpit
from lib.display import Display, start_telltale, telltale_picture
from lib.program import BUILD, wait_for
from lib.stream_reader import keeper

from lab.domains.configuration import configuration

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


def slabs_of_the_screen(cockpit: Cockpit) -> list[str]:
    slabs = cockpit.status("cluster")["slabs"]
    return [slab["gid"] for slab in slabs if slab["description"] == "gid-cluster"]


def take_memory_of_the_screen(cockpit: Cockpit) -> None:
    (before,) = wait_for(lambda: slabs_of_the_screen(cockpit), "the screen's memory")
    revoke = cockpit.run("cluster", [GIDCTL, "revoke", "cluster", before], "revoke")
    assert revoke.wait() == 0, revoke.stderr
    wait_for(lambda: before not in slabs_of_the_screen(cockpit), "it to be left")
    wait_for(lambda: slabs_of_the_screen(cockpit), "other memory")


@pytest.mark.parametrize("memory", ["64M", "4M"])
def test_the_screen_in_other_memory(make_cockpit: Callable[..., Cockpit], memory: str) -> None:
    """Its memory is taken from readers, again and again. With 4M it has no room for twice as much:
    then it cannot move, and is made anew.
    """
    limits = f"local=* memory={memory} client-memory={memory}"
    shares = {"open cluster": "*", "cluster open": "*"}
    cockpit = make_cockpit(configuration({"open": "local=*", "cluster": limits}, shares))
    cockpit.start_all()
    display = Display(cockpit)
    start_telltale(cockpit, "--state", "5", "--cycle", "20")
    display.wait_role("live")
    for _ in range(4):
        with keeper(LIBGID, cockpit.socket("cluster"), "screen"):
            take_memory_of_the_screen(cockpit)
        assert display.screenshot().any()


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
