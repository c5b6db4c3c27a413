# SPDX-License-Identifier: MIT
"""A restart of gidd, after which another program takes the number of a light's memory."""

import os
import signal

from lib.cockpit import Cockpit
from lib.display import Display, start_telltale
from lib.gidwire import Export, memfd
from lib.program import wait_for


def test_another_program_was_first(cockpit: Cockpit) -> None:
    """The light gets another number, and goes on."""
    display = Display(cockpit)
    telltale = start_telltale(cockpit, "--cycle", "50")
    display.wait_role("live")
    (slab,) = cockpit.status("open")["slabs"]
    number = int(slab["gid"].partition(":")[2].partition(".")[0])
    telltale.signal(signal.SIGSTOP)
    cockpit.kill("open")
    cockpit.start("open")
    with cockpit.connect("open") as other:
        fd = memfd(8192)
        assert other.export(Export(slab=number), fd) == (0, number, "")
        os.close(fd)
        assert other.grant(number, 2)[0] == 0
        telltale.signal(signal.SIGCONT)
        display.wait_role("live")
        cockpit.wait_log("open", "publishes stream safety/telltale")
        before = display.role()["shown_frames"]
        wait_for(lambda: display.role()["shown_frames"] > before + 20, "more of the light")
        assert display.role()["state"] == "live" and telltale.is_running()
