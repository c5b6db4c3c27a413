# SPDX-License-Identifier: MIT
"""Descriptors whose close never returns, or late: each stays open in gidd, so it takes only so many
at a time.
"""

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import (
    PAGE_SIZE,
    SUBSCRIBE,
    WAIT,
    Closed,
    Connection,
    gid,
    memfd,
    pack,
)
from lib.program import Program, python_env, wait_for
from lib.traps import Traps

STUCK_FILE = Path(__file__).with_name("programs") / "stuck_file.py"
CANNOT = 77
COUNT = 1000
# 64, the 16 messages that gidd reads in one go, and one of each connection that was there.
MOST = 90
LATE_COUNT, LATE_MS = 200, 20
LENT = 80  # more than gidd takes of one that are not closed
STUCK_SECONDS = 6  # a close is late after two, and a link is looked at each second


def threads(gidd: Program) -> int:
    return len(list(Path(f"/proc/{gidd.pid}/task").iterdir()))


def hand_over(cockpit: Cockpit, *arguments: int | str) -> Program:
    command = [sys.executable, STUCK_FILE, cockpit.socket("open"), *map(str, arguments)]
    stuck = cockpit.run("open", command, **python_env(), TMPDIR=str(cockpit.folder))
    wait_for(lambda: stuck.stdout or not stuck.is_running(), "gidd to have had enough")
    if not stuck.is_running() and stuck.wait() == CANNOT:
        pytest.skip(stuck.stderr)
    assert stuck.is_running(), stuck.stderr
    return stuck


@pytest.mark.parametrize("above", [(), ("overlay",)], ids=["itself", "overlay"])
def test_a_file_that_never_answers(cockpit: Cockpit, above: tuple[str, ...]) -> None:
    """Its user is refused more, and comes in again when all of them are closed; gidd serves on."""
    gidd = cockpit.gidds["open"]
    idle, before = gidd.open_fds(), threads(gidd)
    stuck = hand_over(cockpit, COUNT, *above)
    report = json.loads(stuck.stdout)
    if report["end"].startswith("no overlayfs"):
        pytest.skip(report["end"])
    assert 32 < report["exports"] < MOST, report
    assert report["end"].startswith("Closed"), report
    for _ in range(2 * MOST):
        with suppress(Closed, AssertionError):
            Connection(cockpit.socket("open")).close()
    wait_for(lambda: "take too long to be closed" in cockpit.log("open"), "a line of the log")
    assert "violation" not in cockpit.log("open")
    wait_for(lambda: gidd.open_fds() < idle + MOST, "the connections to be closed")
    # Four helpers are held up; those for others are free, and soon gone.
    wait_for(lambda: threads(gidd) <= before + 4, "idle helpers to end")
    links = cockpit.status("cluster")["links"]
    assert [link["state"] for link in links if link["domain"] == "open"] == ["up"]
    stuck.kill()
    wait_for(lambda: gidd.open_fds() <= idle, "all of them to be closed")
    assert cockpit.status("open")["domain"] == "open"


def test_a_file_that_answers_late(cockpit: Cockpit) -> None:
    """As on a slow machine: its user waits, and is refused nothing."""
    gidd = cockpit.gidds["open"]
    idle = gidd.open_fds()
    slow = hand_over(cockpit, LATE_COUNT, LATE_MS)
    report = json.loads(slow.stdout)
    assert report == {"exports": LATE_COUNT, "end": "done"}, cockpit.log("open")
    assert gidd.open_fds() < idle + MOST
    assert "too long to be closed" not in cockpit.log("open")
    slow.kill()
    wait_for(lambda: gidd.open_fds() <= idle, "all of them to be closed")


def test_doorbells_that_another_gidd_had_too(cockpit: Cockpit) -> None:
    """A program asks another domain for a stream, and ends. What waits in its doorbells is its
    own user's: the link between the domains stays, and four helpers wait.
    """
    gidd = cockpit.gidds["open"]
    before = threads(gidd)
    with cockpit.connect("cluster") as reader, Traps() as traps:
        with cockpit.connect("open", "trapper") as trapper:
            page = memfd(PAGE_SIZE)
            for number in range(1, LENT + 1):
                bell, other = traps.doorbell()
                words = (number, 0, 1, WAIT, b"cluster", b"missing", 0)
                with bell, other:
                    trapper.send_raw(pack(SUBSCRIBE, *words), [page, bell.fileno()])
            os.close(page)
            wait_for(lambda: len(reader.status()["subscriptions"]) == LENT, "all to wait there")
        wait_for(lambda: not reader.status()["subscriptions"], "all to be over")
        end = time.monotonic() + STUCK_SECONDS
        while time.monotonic() < end:
            reader.import_(gid(1, 1))  # the link is busy meanwhile
            time.sleep(0.05)
        (link,) = reader.status()["links"]
        assert (link["state"], link["ups"]) == ("up", 1), link["why"]
        wait_for(lambda: threads(gidd) <= before + 4, "other helpers to end")
