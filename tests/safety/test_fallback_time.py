# SPDX-License-Identifier: MIT
"""How long a role's fallback lets wait for it: what gid-cluster --check promises follows from the
configuration and from what a frame takes, and what it counts is what it did.
That the promise is kept is asked by test_times.py."""

import math
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.display import DISPLAY, Display, start_telltale, with_deadline
from lib.length import at_length_but
from lib.program import BUILD, PATIENCE, Program, wait_for

DEADLINE_MS = 400
REFRESH_NS = 1e9 / 60
COSTLY = BUILD / "tests" / "hostile" / "programs" / "hostile-costly"
DEAR = "[layer dear]\ndomain=open\nstream=safety/dear\ny=120\nwidth=320\nheight=120\n"


def waited_ns(display: Display) -> int:
    """By the display's thread until now: ready to run, and not run."""
    pid = display.program.pid
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1])


@contextmanager
def busy(cockpit: Cockpit, programs: int) -> Iterator[None]:
    loops = [
        Program([sys.executable, "-c", "while True: pass"], None, cockpit.folder)
        for _ in range(programs)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()


@contextmanager
def stopped(*programs: Program) -> Iterator[None]:
    """They hang: whoever asks them waits, and no connection ends."""
    for program in programs:
        program.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for program in programs:
            program.signal(signal.SIGCONT)


def promised_ns(display: Display) -> int:
    """By the table of --check, after the last good frame."""
    check = Program(
        [BUILD / "cluster" / "gid-cluster", "--check", "--config", display.config],
        log_dir=display.folder,
    )
    assert check.wait() == 0, check.stderr
    lines = check.stdout.splitlines()
    (row,) = (line for line in lines if re.match("telltale .* after the last good frame", line))
    return int(float(row.split()[5]) * 1e6)


HANGING = "gidds that hang"
OTHERS = ("nobody else", "busy programs", "a dear layer", HANGING)


def fall_back(cockpit: Cockpit, others: str, rounds: int) -> tuple[Display, list[float]]:
    """A producer stops, again and again; by how many ns the fallback comes later each time than
    promised."""
    display = Display(cockpit, with_deadline(DEADLINE_MS) + DEAR)
    promised = promised_ns(display)
    telltale = start_telltale(cockpit, "--cycle", "20")
    if others == "a dear layer":
        cockpit.run("open", [COSTLY, "safety/dear", "XR30", "1080", "1920", "1"], name="dear")
        wait_for(lambda: display.status()["layers"][0]["shown_frames"] > 3, "its pictures")
    over = []
    with busy(cockpit, 4 if others == "busy programs" else 0):
        for _ in range(rounds):
            display.wait_role("live")
            with stopped(*(cockpit.gidds.values() if others == HANGING else ())):
                over.append(over_promise_ns(display, telltale, promised))
    print(f"{others}: promised {promised / 1e6} ms; after that: {[ns / 1e6 for ns in over]} ms")
    return display, over


# Nothing that it counts is of others' times: test_times.py has how these compare with the promise.
@pytest.mark.parametrize("others", at_length_but(OTHERS, "nobody else", HANGING))
def test_what_it_counts(cockpit: Cockpit, others: str) -> None:
    display, _ = fall_back(cockpit, others, rounds=3)
    role = display.role()
    assert role["fallback_max_ns"] > 0
    late = max(change["shown_ns"] - change["due_ns"] for change in falls(role))
    assert role["fallback_max_ns"] == late


@pytest.mark.parametrize("pacing", ["bound", "off"])
def test_what_is_promised(cockpit: Cockpit, pacing: str) -> None:
    """A refresh and a window, or as many refreshes as two frames take, behind the deadline."""
    display = Display(cockpit, with_deadline(DEADLINE_MS), display=DISPLAY + f"pacing={pacing}\n")
    status = display.status()
    frame, window = status["frame_bound_ns"], status["window_ns"]
    promised = REFRESH_NS + window
    if frame > REFRESH_NS:
        promised = math.ceil(2 * frame / REFRESH_NS) * REFRESH_NS
    assert window >= REFRESH_NS / 2 - 1 and (pacing == "bound" or window >= REFRESH_NS - 1)
    assert display.role()["fallback_bound_ns"] == pytest.approx(promised, abs=1e3)
    behind = (promised_ns(display) - DEADLINE_MS * 1e6) / REFRESH_NS
    assert behind > 2 - 0.01 if pacing == "off" else behind > 1.5 - 0.01


def falls(role: dict) -> list[dict]:
    return [change for change in role["transitions"] if change["from"] == "live"]


def over_promise_ns(display: Display, telltale: Program, promised: int) -> int:
    """The producer of a live role stops: by how much the fallback comes later than promised. It
    goes on then.
    """
    before, count = waited_ns(display), len(falls(display.role()))

    def fallen() -> dict | None:
        found = falls(display.role())
        return found[count] if len(found) > count and found[count]["shown_ns"] else None

    with stopped(telltale):
        change = wait_for(fallen, "the fallback", PATIENCE, pause=0.1)
    waited = waited_ns(display) - before
    assert change["reason"] == "deadline" and change["due_ns"] <= change["decided_ns"]
    assert change["due_ns"] == change["last_frame_ns"] + DEADLINE_MS * 1_000_000
    return change["shown_ns"] - change["last_frame_ns"] - promised - waited
