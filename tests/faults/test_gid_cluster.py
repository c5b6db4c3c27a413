# SPDX-License-Identifier: MIT
"""gid-cluster with each of its system calls failing once, from the connection to gidd on: it shows
the role, lets it go by its deadline and shows it again, or ends with a word, to be started again.
"""

import resource
import socket
from collections.abc import Callable

import pytest
from injected import Calls, Fault, Traced, faults, is_ready_or_ended, learn, sample, try_each
from lib.cockpit import Cockpit
from lib.company import waited_ms
from lib.display import DISPLAY, Display, start_telltale, with_deadline
from lib.program import BUILD, Program, wait_for

from lab.domains.here import ask

MOST_OF_A_NAME = 12
IN_CI = 10
DEADLINE_MS = 1000


def start(cockpit: Cockpit, fault: Fault | None) -> Traced:
    config, status = cockpit.folder / "cluster.conf", cockpit.folder / "cluster.sock"
    config.write_text(DISPLAY + with_deadline(DEADLINE_MS))
    status.unlink(missing_ok=True)
    command = [BUILD / "cluster" / "gid-cluster", "--headless", "--config", config]
    command += ["--status", status]
    return Traced(cockpit, "cluster", command, fault)


def state(cockpit: Cockpit) -> str:
    """What the display says of its role; nothing where it cannot be asked."""
    try:
        return ask(cockpit.folder / "cluster.sock", 2)["roles"][0]["state"]
    except (OSError, ValueError):
        return ""


def start_shown_telltale(cockpit: Cockpit) -> Program:
    """A producer of the role's stream, which needs no compositor."""
    found = start_telltale(cockpit, "--stream", "safety/telltale", "--cycle", "40")
    wait_for(lambda: cockpit.status("open")["streams"], "the telltale's stream")
    return found


def learn_calls(cockpit: Cockpit) -> Calls:
    """With those of the threads that connect, where gidd comes later than the display.

    Such a thread is another one each time, whose first calls a fault would hit again and again.
    """
    first = start(cockpit, None)
    assert is_ready_or_ended(first, lambda: state(cockpit) == "live"), first.stderr
    assert first.end() == 0, first.stderr
    calls = learn(first, "gidd.sock")
    cockpit.kill("cluster")
    late = start(cockpit, None)
    late.wait_output("Trying again")
    cockpit.start("cluster")
    cockpit.wait_links()
    assert is_ready_or_ended(late, lambda: state(cockpit) == "live"), late.stderr
    assert late.end() == 0, late.stderr
    calls.others |= learn(late, "gidd.sock").others
    return calls


class Tries:
    def __init__(self, cockpit: Cockpit) -> None:
        self.cockpit = cockpit
        self.telltale = start_shown_telltale(cockpit)

    def run(self, fault: Fault) -> None:
        display = start(self.cockpit, fault)
        try:
            if not self._goes_on(display, lambda: state(self.cockpit) == "live"):
                return
            self.telltale.kill()
            if not self._goes_on(display, lambda: state(self.cockpit) not in ("", "live")):
                return
            wait_for(lambda: not self.cockpit.status("open")["streams"], "the end of its stream")
            self.telltale = start_shown_telltale(self.cockpit)
            if not self._goes_on(display, lambda: state(self.cockpit) == "live"):
                return
            assert display.end() in (0, 1), display.stderr
        finally:
            display.kill()
            if not self.telltale.is_running():
                self.telltale = start_shown_telltale(self.cockpit)

    def _goes_on(self, display: Traced, ready: Callable[[], bool]) -> bool:
        """False where it has ended, and well."""

        def is_so() -> bool:
            # Its status may be what the fault has hit: then it cannot be asked what it shows.
            return ready() or "no socket for the status" in display.stderr

        try:
            if is_ready_or_ended(display, is_so):
                return True
        except AssertionError:
            if display.hit_what_cannot_fail():
                return False
            raise
        display.check_ended_well()
        return False


@pytest.mark.timeout(6000)
def test_each_call_fails_once(cockpit: Cockpit) -> None:
    tries = Tries(cockpit)
    all_of_them = [
        fault
        for fault in faults(learn_calls(cockpit), MOST_OF_A_NAME)
        if (fault.call, fault.nth) != ("recvmsg", 1)  # the welcome, in each of those threads
    ]
    assert len(all_of_them) > IN_CI
    try_each(sample(all_of_them, IN_CI), tries.run)


def test_full_disk(cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points of the timeline find no room, in the telltale neither: frames come all the same."""
    monkeypatch.setenv("GID_TIMELINE", "/dev/full")
    display = Display(cockpit, with_deadline(DEADLINE_MS))
    telltale = start_shown_telltale(cockpit)
    before = display.wait_role("live")["shown_frames"]
    wait_for(lambda: display.role()["shown_frames"] > before + 20, "more frames")
    telltale.kill()
    display.wait_role("lost")
    wait_for(lambda: not cockpit.status("open")["streams"], "the end of its stream")
    start_shown_telltale(cockpit)
    display.wait_role("live")
    assert display.program.stop() == 0, display.program.stderr


def test_no_descriptors_left(cockpit: Cockpit) -> None:
    """The role is let go in time, and a new stream is shown as soon as there are some again."""
    display = Display(cockpit, with_deadline(DEADLINE_MS))
    telltale = start_shown_telltale(cockpit)
    display.wait_role("live")
    pid = display.program.pid
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    before = waited_ms(display.program)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, usual[1]))
    telltale.kill()
    wait_for(lambda: not cockpit.status("open")["streams"], "the end of its stream")
    start_shown_telltale(cockpit)
    assert display.program.is_running(), display.program.stderr
    resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)

    def let_go() -> dict | None:
        found = [one for one in display.role()["transitions"] if one["from"] == "live"]
        return found[0] if found and found[0]["shown_ns"] else None

    change = wait_for(let_go, "the role to be let go")
    took = (change["shown_ns"] - change["last_frame_ns"]) / 1e6
    waited, bound = waited_ms(display.program) - before, display.role()["fallback_bound_ns"] / 1e6
    print(f"let go after {took:.1f} ms, of which {waited:.1f} ms it waited for others")
    assert took - waited <= DEADLINE_MS + bound
    display.wait_role("live")
    fds = display.program.open_fds()
    for _ in range(3):
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, usual[1]))
        for _ in range(4):
            with socket.socket(socket.AF_UNIX) as asking:
                asking.connect(str(display.status_path))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
        display.wait_role("live")
    wait_for(lambda: display.program.open_fds() <= fds, "the descriptors to be as before")
    assert display.program.stop() == 0, display.program.stderr
