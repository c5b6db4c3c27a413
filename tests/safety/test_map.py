# SPDX-License-Identifier: MIT
"""A program of OpenGL ES that knows nothing of gids, as a safety surface of another domain."""

import json
import signal
import time

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import HEIGHT, WIDTH
from lib.forwarding import Forwarding
from lib.program import BUILD, wait_for

MAP = BUILD / "clients" / "gid-map"
SIZE = f"{WIDTH}x{HEIGHT}"
KILLS = 2  # test_times.py has more, and their times
# A GL client draws slowly without a GPU: it is alive all the same.
ROLE = f"[gid-safety]\nrole=telltale\nclients={MAP}\nsize={SIZE}\nclient-ms=5000\n"


def here(forwarding: Forwarding) -> numpy.ndarray:
    """The window as Weston shows it."""
    shot = forwarding.weston.screenshot()[..., ::-1]
    lit = numpy.argwhere(shot.any(axis=2))
    top, left = lit.min(axis=0) if len(lit) else (0, 0)
    return shot[top : top + HEIGHT, left : left + WIDTH]


@pytest.mark.parametrize("renderer", ["pixman", "gl"])
def test_bit_exact(cockpit: Cockpit, renderer: str) -> None:
    """One copy of each picture, counted: without a GPU its buffers are shared memory."""
    forwarding = Forwarding(cockpit, ROLE, renderer=renderer)
    still = forwarding.client([MAP, "--role", "telltale", "--size", SIZE, "--still", "700"])
    display = forwarding.display
    display.wait_role("live")
    # llvmpipe rounds some colours to the next when Weston has it draw them here.
    most = 0 if renderer == "pixman" else 1

    def same() -> bool:
        shown = here(forwarding)
        region = display.region().astype(int)
        return shown.shape == region.shape and abs(region - shown).max() <= most

    wait_for(same, "the map")
    assert len(numpy.unique(display.region().reshape(-1, 3), axis=0)) > 4, "roads and houses"
    counts = forwarding.counts()
    assert counts["copied_frames"] == 1
    assert counts["copied_bytes"] == WIDTH * HEIGHT * 4
    assert still.stop() == 0
    report = json.loads(still.stdout)
    assert report["frames"] == 1 and report["shown"] > 0
    assert report["driver"]


def test_moves_and_falls_back(cockpit: Cockpit) -> None:
    """Killed again and again: the fallback comes within the deadline, and the map comes back."""
    forwarding = Forwarding(cockpit, ROLE)
    display = forwarding.display
    for _ in range(KILLS):
        moving = forwarding.client([MAP, "--role", "telltale", "--size", SIZE])
        display.wait_role("live")
        shown = display.role()["shown_frames"]
        wait_for(lambda shown=shown: display.role()["shown_frames"] > shown + 10, "it to move")
        moving.kill()
        role = display.wait_role("lost", "hidden")
        assert (role["shows"], role["detail"]) == ("fallback", "empty")
        fallback = role["transitions"][-1]
        assert fallback["shown_ns"] >= fallback["decided_ns"]


def fallback_times(cockpit: Cockpit, kills: int, deadline_ms: int) -> list[float]:
    """gidd, Weston and the map are killed at once, again and again. How long it took each time to
    the fallback, in ms. Nothing says good-bye; and the next life of the domain is live again.
    """
    forwarding = Forwarding(cockpit, ROLE, deadline_ms=deadline_ms)
    display = forwarding.display
    times = []
    for number in range(kills):
        moving = forwarding.client([MAP, "--role", "telltale", "--size", SIZE])
        display.wait_role("live")
        count = display.role()["transition_count"]
        killed = time.monotonic_ns()
        programs = [cockpit.gidds["open"], forwarding.weston.program, moving]
        for program in programs:
            program.signal(signal.SIGKILL)
        for program in programs:
            program.wait()
        role = display.wait_role("lost")
        assert role["shows"] == "fallback", number
        first = next(one for one in role["transitions"] if one["number"] == count + 1)
        times.append((first["shown_ns"] - killed) / 1e6)
        cockpit.restart("open")
        forwarding.start_weston()
    return times


def test_its_domain_killed(cockpit: Cockpit) -> None:
    """Each time the fallback is there; how soon is asked by test_times.py."""
    assert min(fallback_times(cockpit, kills=KILLS, deadline_ms=10000)) > 0
