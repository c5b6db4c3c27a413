# SPDX-License-Identifier: MIT
"""Descriptors whose close never returns, or late: each stays open in gidd, so it takes only so many
at a time.
"""

import json
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import Closed, Connection
from lib.program import Program, python_env, wait_for

STUCK_FILE = Path(__file__).with_name("programs") / "stuck_file.py"
CANNOT = 77
COUNT = 1000
# 64, the 16 messages that gidd reads in one go, and one of each connection that was there.
MOST = 90
LATE_COUNT, LATE_MS = 200, 20


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
