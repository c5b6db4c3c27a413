# SPDX-License-Identifier: MIT
"""A still picture that Weston forwards to another machine, whose gidd ends and starts again; and
which machines see it.
"""

from collections.abc import Callable
from contextlib import ExitStack

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import Display, telltale_picture, with_deadline
from lib.forwarding import TELLTALE, ShmBuffers, Window, bytes_of, random_picture
from lib.machines import CONFIG, start, window
from lib.program import wait_for
from lib.weston import Weston

from lab.domains.wayland import Display as Connection

LAMP = "org.example.lamp"
ROLE = "[gid-safety]\nrole=telltale\nsize=320x80\nclient-ms=0\n"
WAYS = {"copied": f"app-id={LAMP}\n", "lent": f"clients={TELLTALE}\n"}


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    start(cockpit)
    return cockpit


@pytest.mark.parametrize("way", WAYS)
def test_it_comes_back(machines: Cockpit, way: str) -> None:
    """Nobody draws anything new: what was taken back by force has to be sent again as it is."""
    display = Display(machines, with_deadline(1000), domain="host")
    weston = Weston(machines.folder, machines.env("open"), "pixman")
    weston.configure(ROLE + WAYS[way])
    weston.start()
    with ExitStack() as stack:
        if way == "copied":  # of an ordinary client
            connection = stack.enter_context(Connection(weston.socket, weston.protocols))
            picture = random_picture(1)
            window = Window(connection, LAMP)
            window.show(ShmBuffers(connection).draw(picture))
        else:
            picture = telltale_picture(machines.folder, 3)
            weston.client([TELLTALE, "--role=telltale", "--state=3"])
        display.wait_role("live")
        for _ in range(3):
            machines.kill("host")
            wait_for(lambda: display.role()["state"] != "live", "the fallback")
            machines.restart("host")
            wait_for(lambda: numpy.array_equal(display.region(), picture), "the picture again")


def test_only_those_who_may_read_it_see_it(machines: Cockpit) -> None:
    """`cluster` reads other streams of this domain: it has a window, but not that of the copies."""
    display = Display(machines, with_deadline(10000), domain="host")
    weston = Weston(machines.folder, machines.env("open"), "pixman")
    weston.configure(ROLE + WAYS["copied"])
    weston.start()
    with Connection(weston.socket, weston.protocols) as connection:
        picture = random_picture(1)
        Window(connection, LAMP).show(ShmBuffers(connection).draw(picture))
        display.wait_role("live")
        row = bytes_of(picture[:1])
        with window(machines, "open", "host", "hud") as theirs, window(machines, "open") as all_of:
            assert theirs.find(row) >= 0
            assert all_of.find(row) < 0
