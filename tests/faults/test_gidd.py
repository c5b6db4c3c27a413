# SPDX-License-Identifier: MIT
"""gidd with each of its system calls failing once: it serves on, or says why it ends."""

import resource
import socket
from collections.abc import Callable

import pytest
from injected import Fault, Traced, faults, is_ready_or_ended, learn, sample, try_each
from lib.cockpit import Cockpit
from lib.gidwire import Closed, Connection, gid
from lib.program import wait_for

from lab.domains.configuration import configuration

CONFIG = configuration({"open": "local=*"})
MOST_OF_A_NAME = 24
IN_CI = 60


def start(cockpit: Cockpit, fault: Fault | None) -> Traced:
    command = cockpit.gidd_command("open")
    return Traced(cockpit, "open", command, fault)


def serves(cockpit: Cockpit) -> bool:
    try:
        with Connection(cockpit.socket("open"), "healthy") as client:
            return client.status()["domain"] == "open"
    except (Closed, OSError, AssertionError):
        return False


def use(cockpit: Cockpit) -> None:
    """All that a program asks of gidd."""
    with cockpit.connect("open", "one") as owner, cockpit.connect("open", "two") as reader:
        slab = owner.export_new()
        owner.grant(slab, 1)
        reader.import_(gid(1, slab)).close()
        error, stream, words = owner.publish("movie")
        assert error == 0, words
        assert reader.subscribe(1, "movie")[0] == 0
        owner.status()
        owner.unpublish(stream)
        owner.unexport(slab)


def idle_fds(cockpit: Cockpit, gidd: Traced) -> int | None:
    """Once it has let go of everything. None: it has ended, by what it was asked for here."""

    def idle() -> bool:
        if not gidd.is_running():
            return True
        try:
            status = cockpit.status("open")
        except (Closed, OSError, AssertionError):
            return False
        others = [client for client in status["clients"] if client["program"] != "status"]
        return not (others or status["slabs"] or status["streams"] or status["subscriptions"])

    wait_for(idle, "gidd to have let go of everything")
    counts: list[int] = []

    def steady() -> bool:
        try:
            counts.append(gidd.inner_fds())
        except OSError:  # it has ended
            counts.append(0)
        return counts[-3:] == counts[-1:] * 3

    wait_for(steady, "the number of its descriptors to stay", pause=0.05)
    return counts[-1] if gidd.is_running() else None


def withstand(make: Callable[[], Cockpit], fault: Fault, clean_fds: int) -> None:
    cockpit = make()
    try:
        gidd = start(cockpit, fault)
        if not is_ready_or_ended(gidd, lambda: serves(cockpit)):
            gidd.check_ended_well()
            return
        # It may hit what is asked for now, or what comes next; then all is as it was.
        for last in (False, False, True):
            went_well = True
            try:
                use(cockpit)
                if gidd.injected():
                    break
            except (Closed, OSError, AssertionError):
                went_well = False
            if not is_ready_or_ended(gidd, lambda: serves(cockpit)):
                gidd.check_ended_well()
                return
            assert went_well or not last, "what it is asked for goes wrong again and again"
        if gidd.hit_what_cannot_fail():
            return
        left = idle_fds(cockpit, gidd)
        if left is None:
            gidd.check_ended_well()
            return
        assert left <= clean_fds, f"{left} descriptors are open, not {clean_fds}\n{gidd.stderr}"
        assert gidd.end() in (0, 1), gidd.stderr
    finally:
        cockpit.close(check=False)


@pytest.mark.timeout(3000)
def test_each_call_fails_once() -> None:
    def make() -> Cockpit:
        return Cockpit(CONFIG)

    cockpit = make()
    gidd = start(cockpit, None)
    assert is_ready_or_ended(gidd, lambda: serves(cockpit)), gidd.stderr
    use(cockpit)
    use(cockpit)
    clean_fds = idle_fds(cockpit, gidd)
    assert clean_fds is not None and gidd.end() == 0, gidd.stderr
    calls = learn(gidd, "cockpit.conf")
    cockpit.close(check=False)
    all_of_them = faults(calls, MOST_OF_A_NAME)
    assert len(all_of_them) > IN_CI
    try_each(sample(all_of_them, IN_CI), lambda fault: withstand(make, fault, clean_fds))


def test_no_descriptors_left(cockpit: Cockpit) -> None:
    """Programs that come while there are none are served when there are some again."""
    gidd = cockpit.gidds["open"]
    resource.prlimit(gidd.pid, resource.RLIMIT_NOFILE, (gidd.open_fds() + 2, 4096))
    waiting = []
    for _ in range(6):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        client.connect(str(cockpit.socket("open")))
        waiting.append(client)
    for client in waiting:
        client.close()
    resource.prlimit(gidd.pid, resource.RLIMIT_NOFILE, (4096, 4096))
    with cockpit.connect("open") as client:
        client.export_new()
