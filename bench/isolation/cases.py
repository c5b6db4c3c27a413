# SPDX-License-Identifier: MIT
"""What befalls the domain `open` while the cluster's frames are measured."""

import json
import signal
import time

from domains import Cockpit
from limit import Limit
from processes import Process

OPEN_NUMBER = 1
LEAK_LIMIT = 400 << 20  # bytes: four seconds of it, beside the slabs
BEGIN_AFTER = 0.5  # seconds of the measurement before what happens once


class Case:
    """begin(), then the cluster's frames are measured while within() runs, then end()."""

    name: str
    what: str
    seconds = 0.0  # that the measurement must take at least

    def begin(self, cockpit: Cockpit) -> None:
        pass

    def within(self, cockpit: Cockpit, seconds: float) -> None:
        pass

    def end(self, cockpit: Cockpit) -> dict:
        """Returns what was done, for the report."""
        return {}


def _ended(process: Process) -> dict:
    """The line of JSON that a hostile program ends with."""
    text = process.stop()
    return json.loads(text) if text else {"status": process.process.returncode}


class Undisturbed(Case):
    name = "undisturbed"
    what = "nothing happens"


class Flood(Case):
    name = "flood"
    what = "commits to Weston and frames of a role, as fast as they are taken"

    def begin(self, cockpit: Cockpit) -> None:
        self._process = cockpit.open.processes.start("flood", "hostile-flood", "safety/flood")

    def end(self, cockpit: Cockpit) -> dict:
        return _ended(self._process)


class Leak(Case):
    name = "leak"
    what = "memory and slabs leak, up to the limit and gidd's quota"
    seconds = 5.0

    def begin(self, cockpit: Cockpit) -> None:
        self._limit = Limit(LEAK_LIMIT)
        command = self._limit.command("hostile-leak")
        self._process = cockpit.open.processes.start("leak", *command)

    def end(self, cockpit: Cockpit) -> dict:
        did = {"limit": self._limit.kind, **_ended(self._process)}
        self._limit.close()
        return did


class Scribble(Case):
    name = "scribble"
    what = "all that open can write and cluster can read is overwritten, with the rings"

    def begin(self, cockpit: Cockpit) -> None:
        pids = [str(pid) for pid in cockpit.open.processes.pids()]
        command = ["hostile-scribble", "safety/scribble", *pids]
        self._process = cockpit.open.processes.start("scribble", *command)

    def end(self, cockpit: Cockpit) -> dict:
        did = _ended(self._process)
        cockpit.open.processes.kill_all()  # as after any such fault, the domain starts anew
        return did


class Restart(Case):
    name = "restart"
    what = "Weston, gidd and all programs of open are killed and started again"

    def within(self, cockpit: Cockpit, seconds: float) -> None:
        time.sleep(BEGIN_AFTER)
        self._killed = len(cockpit.open.processes.pids())
        cockpit.open.processes.kill_all()
        time.sleep(BEGIN_AFTER)
        cockpit.open.start()

    def end(self, cockpit: Cockpit) -> dict:
        return {"killed": self._killed}


class Stop(Case):
    name = "stop"
    what = "everything in open is stopped, and continued"

    def __init__(self, seconds: float) -> None:
        self._stopped = seconds
        self.seconds = seconds + 2 * BEGIN_AFTER

    def within(self, cockpit: Cockpit, seconds: float) -> None:
        time.sleep(BEGIN_AFTER)
        cockpit.open.processes.signal_all(signal.SIGSTOP)
        time.sleep(self._stopped)
        cockpit.open.processes.signal_all(signal.SIGCONT)

    def end(self, cockpit: Cockpit) -> dict:
        return {"stopped_s": self._stopped}


class Messages(Case):
    name = "messages"
    what = "random messages to open's gidd and to Weston, as fast as they are taken"

    def begin(self, cockpit: Cockpit) -> None:
        start = cockpit.open.processes.start
        self._processes = {
            "gidd": start("to-gidd", "hostile-messages", "gidd", str(cockpit.open.gidd_socket)),
            "weston": start(
                "to-weston", "hostile-messages", "wayland", str(cockpit.open.wayland_socket)
            ),
        }

    def end(self, cockpit: Cockpit) -> dict:
        return {name: _ended(process) for name, process in self._processes.items()}


class Link(Case):
    name = "link"
    what = "a captured gidd of open: random messages to the cluster's gidd"

    def begin(self, cockpit: Cockpit) -> None:
        cockpit.open.processes["gidd"].kill()
        command = ["hostile-messages", "link", str(cockpit.open.link_socket), str(OPEN_NUMBER)]
        self._process = cockpit.open.processes.start("to-link", *command)

    def end(self, cockpit: Cockpit) -> dict:
        return _ended(self._process)


def all_cases(stopped: float) -> list[Case]:
    """`stopped`: how long the domain is stopped, in seconds."""
    return [Flood(), Leak(), Scribble(), Restart(), Stop(stopped), Messages(), Link()]
