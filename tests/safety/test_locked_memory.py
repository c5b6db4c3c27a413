# SPDX-License-Identifier: MIT
"""gid-cluster's memory with --realtime: all there and locked from the start. Whatever others send,
its display takes no more of it, and waits for no page.
"""

import re
import signal
from pathlib import Path

import pytest
from cockpit import Cockpit
from display import Display
from program import BUILD, PATIENCE, Program, wait_for
from test_floods import ROLES

LIAR = BUILD / "tests" / "safety" / "liar"
METER = BUILD / "clients" / "gid-meter"
FRAMES = 120  # of the display, that each state of things lasts


def faults(display: Display) -> int:
    """Pages that the display's own thread had to wait for, ever."""
    pid = display.program.pid
    fields = Path(f"/proc/{pid}/task/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[7]) + int(fields[9])


def heap(display: Display) -> int:
    """KiB of all anonymous memory: heaps and stacks, of all threads."""
    rollup = Path(f"/proc/{display.program.pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss_Anon: +(\d+)", rollup, re.M)[1])


def pass_frames(display: Display) -> None:
    end = display.status()["frames"] + FRAMES
    wait_for(lambda: display.status()["frames"] >= end, "frames of the display")


def test_no_memory_and_no_page_while_it_runs(cockpit: Cockpit) -> None:
    display = Display(cockpit, ROLES, ("--realtime",))
    if "memory is not locked" in display.program.stderr:
        pytest.skip("memory cannot be locked here")
    clients = cockpit.env("cluster") | {"WAYLAND_DISPLAY": str(display.wayland)}
    meter = Program([METER, f"--seconds={PATIENCE:.0f}"], clients, cockpit.folder)
    honest = cockpit.run("open", [LIAR, "notes"])
    for name in ("left", "right"):
        display.wait_role("live", name=name)
    # Each slot of a slab comes into memory with the first frame in it.
    wait_for(lambda: min(role["frames"] for role in display.status()["roles"]) > 200, "all slots")
    honest.signal(signal.SIGUSR1)  # entries without a picture, without end
    display.wait_transition("hidden", "left")
    pass_frames(display)
    before = faults(display), heap(display)
    pass_frames(display)
    honest.signal(signal.SIGUSR1)
    for name in ("left", "right"):
        display.wait_role("live", name=name)
    pass_frames(display)
    after = faults(display), heap(display)
    meter.kill()
    print(f"page faults and KiB before {before}, after {after}")
    assert after == before
