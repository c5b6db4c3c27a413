# SPDX-License-Identifier: MIT
"""gid-cluster's memory with --realtime: all there and locked from the start. Whatever others send,
its display takes no more of it, and waits for no page.
"""

import re
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.display import Display, start_telltale
from lib.program import BUILD, PATIENCE, Program, wait_for
from test_floods import ROLES

LIAR = BUILD / "tests/lib/programs/liar"
FRAMES = 120  # of the display, that each state of things lasts
# Something that moves, so that the display shows a frame for each refresh.
FILM = "[layer film]\ndomain=open\ny=160\nwidth=320\nheight=80\n"


def faults(display: Display) -> int:
    """Pages that the display's own thread had to wait for, ever."""
    pid = display.program.pid
    fields = Path(f"/proc/{pid}/task/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[7]) + int(fields[9])


def heap(display: Display) -> int:
    """KiB of all anonymous memory: heaps and stacks, of all threads."""
    rollup = Path(f"/proc/{display.program.pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss_Anon: +(\d+)", rollup, re.M)[1])


def look_until(what: str, condition: Callable[[], object]) -> None:
    """Not often: a helper thread closes the connection of each look, and where that is late and the
    next one comes, another is started, which is memory that is taken for us.
    """
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.3)


def states(display: Display) -> list[str]:
    return [role["state"] for role in display.status()["roles"]]


def pass_frames(display: Display) -> None:
    end = display.status()["frames"] + FRAMES
    time.sleep(FRAMES / 60)
    look_until("frames of the display", lambda: display.status()["frames"] >= end)


def there_and_back(display: Display, honest: Program) -> None:
    """From pictures to entries without one, without end, and to pictures again."""
    honest.signal(signal.SIGUSR1)
    look_until("none is live", lambda: "live" not in states(display))
    pass_frames(display)
    honest.signal(signal.SIGUSR1)
    look_until("all are live", lambda: set(states(display)) == {"live"})
    pass_frames(display)


@pytest.mark.needs_root
def test_no_memory_and_no_page_while_it_runs(cockpit: Cockpit) -> None:
    display = Display(cockpit, ROLES + FILM, ("--realtime",))
    display.status()  # it runs: memory has been locked
    status = Path(f"/proc/{display.program.pid}/status").read_text()
    assert re.search(r"^VmLck:\s+[1-9]", status, re.M), display.program.stderr
    start_telltale(cockpit, "--stream=film", "--cycle=10")
    honest = cockpit.run("open", [LIAR, "notes"])
    for name in ("left", "right"):
        display.wait_role("live", name=name)
    # Each slot of a slab comes into memory with the first frame in it.
    wait_for(lambda: min(role["frames"] for role in display.status()["roles"]) > 200, "all slots")
    there_and_back(display, honest)  # once, so that each thread has done all that it does
    before = faults(display), heap(display)
    there_and_back(display, honest)
    after = faults(display), heap(display)
    print(f"page faults and KiB before {before}, after {after}")
    assert after == before


def locked(display: Display, least: int) -> list[tuple[int, int]]:
    """Of the mappings of others' pictures, of so many KiB at least: their size, what is locked."""
    found, size, name = [], 0, ""
    for line in Path(f"/proc/{display.program.pid}/smaps").read_text().splitlines():
        words = line.split()
        if "-" in words[0]:
            name = line
        elif words[0] == "Size:":
            size = int(words[1])
        elif words[0] == "Locked:" and "memfd:gid" in name and size >= least:
            found.append((size, int(words[1])))
    return found


@pytest.mark.needs_root
def test_what_others_fill_is_not_locked(cockpit: Cockpit) -> None:
    display = Display(cockpit, ROLES, ("--realtime",))
    display.status()  # it runs: memory has been locked
    status = Path(f"/proc/{display.program.pid}/status").read_text()
    assert re.search(r"^VmLck:\s+[1-9]", status, re.M), display.program.stderr
    cockpit.run("open", [LIAR, "flood"])
    for name in ("left", "right"):
        display.wait_role("live", name=name)
    slabs = locked(display, 1024)
    assert slabs and not any(kib for _, kib in slabs), slabs


def test_it_cannot_run_without_end_before_all_others(cockpit: Cockpit) -> None:
    display = Display(cockpit, ROLES, ("--realtime",))
    display.status()
    assert resource.prlimit(display.program.pid, resource.RLIMIT_RTTIME) == (1000000, 2000000)
    display.program.signal(signal.SIGXCPU)  # as the kernel does after the first of them
    assert display.program.wait() == 1
    assert "ran for a second at real-time priority, and never slept" in display.program.stderr


def test_room_for_all_descriptors(cockpit: Cockpit) -> None:
    """To make more of it takes a refresh or two, with all that others send kept open meanwhile."""
    display = Display(cockpit, ROLES, ("--realtime",))
    limit, _ = resource.prlimit(display.program.pid, resource.RLIMIT_NOFILE)
    status = Path(f"/proc/{display.program.pid}/status")

    def room() -> int:
        return int(re.search(r"^FDSize:\s+(\d+)", status.read_text(), re.M)[1])

    wait_for(lambda: room() >= min(limit, 65536), "room for all descriptors")
