# SPDX-License-Identifier: MIT
"""A Weston whose user has as many threads as he may have: no helper closes anything."""

from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.forwarding import ROLE, Forwarding
from lib.program import BUILD, wait_for

NO_THREADS = BUILD / "tests/safety/no_threads.so"
CLIENTS = 20
TOLD = "gid: no thread can be started"


def come_and_go(forwarding: Forwarding) -> None:
    for _ in range(CLIENTS):
        with forwarding.connection() as connection:
            connection.roundtrip()


def test_from_the_start(cockpit: Cockpit) -> None:
    """That is told. A telltale goes on; what clients leave is closed once there can be a thread."""
    preload, none = Preload(NO_THREADS), cockpit.folder / "none"
    none.touch()
    forwarding = Forwarding(cockpit, ROLE, environment=preload.env | {"NO_THREADS": str(none)})
    preload.check("weston")
    assert TOLD in forwarding.weston.read_log()
    forwarding.telltale("--cycle", "5")
    forwarding.display.wait_role("live")
    few = len(forwarding.weston.descriptors()) + 4
    come_and_go(forwarding)
    assert len(forwarding.weston.descriptors()) > few
    none.unlink()
    come_and_go(forwarding)
    wait_for(lambda: len(forwarding.weston.descriptors()) <= few, "all to be closed")
    assert [t["reason"] for t in forwarding.display.role()["transitions"]] == ["none"]


def test_later(cockpit: Cockpit) -> None:
    """One that has begun has a helper already, and needs no other."""
    preload, none = Preload(NO_THREADS), cockpit.folder / "none"
    forwarding = Forwarding(cockpit, ROLE, environment=preload.env | {"NO_THREADS": str(none)})
    none.touch()
    preload.check("weston")
    few = len(forwarding.weston.descriptors()) + 4
    come_and_go(forwarding)
    wait_for(lambda: len(forwarding.weston.descriptors()) <= few, "its clients to be closed")
    assert TOLD not in forwarding.weston.read_log()
