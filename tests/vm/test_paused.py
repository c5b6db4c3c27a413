# SPDX-License-Identifier: MIT
"""A guest whose machine is paused while its film crosses, as QEMU does it for a snapshot: what it
shows falls back in time and comes back, and the other domains go on.
"""

import signal
import time
from collections.abc import Iterator

import pytest
from display import Display, with_deadline
from gid_vm.guest import why_not
from gid_vm.monitor import Monitor
from guests import SECONDS, Machines, Running
from program import BUILD, wait_for

DEADLINE_MS = 2000
LATE_MS = 3000  # that a busy machine may need beside the deadline

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1200),
]


@pytest.fixture
def machines() -> Iterator[Machines]:
    machines = Machines()
    try:
        machines.boot("open", "cluster")
        yield machines
    finally:
        machines.close()


def stream(machines: Machines, owner: str, reader: str, name: str) -> tuple[Running, Running]:
    """A film without end from one domain to another: who reads it, and who sends it."""
    source = "videotestsrc is-live=true ! video/x-raw,width=64,height=64,framerate=20/1"
    reading = machines.play(
        reader, f"gidsrc domain={owner} stream={name} ! fakesink name=watch sync=false"
    )
    sending = machines.play(owner, f"{source} ! identity name=watch ! gidsink stream={name}")
    reading.wait_lines("frame", 10)
    return reading, sending


def goes_on(reading: Running, frames: int = 20) -> None:
    reading.wait_lines("frame", len(reading.lines("frame")) + frames)


def test_paused(machines: Machines) -> None:
    display = Display(machines.host, with_deadline(DEADLINE_MS), domain="host")
    telltale = machines.start("open", BUILD / "clients/gid-telltale", "--cycle", "40")
    film, film_sender = stream(machines, "open", "cluster", "film")
    other, other_sender = stream(machines, "cluster", "host", "other")
    wait_for(lambda: display.role()["state"] == "live", "the telltale", SECONDS)
    ups = machines.link("cluster")["ups"]
    with Monitor(machines.guests["open"].machine.monitor) as monitor:
        monitor.execute("stop")
        paused = time.monotonic_ns()
        role = display.wait_role("lost")
        assert role["shows"] == "fallback"
        gone = next(t for t in reversed(role["transitions"]) if t["from"] == "live")
        took = (gone["shown_ns"] - paused) / 1e6
        print(f"from the pause to the fallback: {took:.0f} ms; deadline {DEADLINE_MS} ms")
        assert took < DEADLINE_MS + LATE_MS
        goes_on(other, 40)
        assert display.role()["state"] != "live"
        monitor.execute("cont")
    wait_for(lambda: display.role()["state"] == "live", "the telltale again", SECONDS)
    assert display.role()["shows"] == "frame"
    goes_on(film)
    goes_on(other)
    assert machines.link("cluster")["ups"] == ups
    machines.wait_link("open", "up")
    for program in (telltale, film, film_sender, other, other_sender):
        assert program.is_running, program.err
        program.signal(signal.SIGTERM)
        program.finish()
    assert display.program.stop() == 0
