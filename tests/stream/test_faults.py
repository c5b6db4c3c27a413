# SPDX-License-Identifier: MIT
"""Streams within a kernel go on without the daemons that arranged them."""

import errno
import signal

import pytest
from lib.cockpit import Cockpit
from lib.peer import LIVE, WAITING, consume, produce
from lib.program import wait_for


def is_shown_live(cockpit: Cockpit, domain: str) -> bool:
    (one,) = cockpit.status(domain)["subscriptions"] or [{"state": ""}]
    return one["state"] == "live" and (one["domain"], one["reader"]) == ("open", "cluster")


@pytest.mark.parametrize("killed", [["open"], ["cluster"], ["open", "cluster"]])
def test_frames_flow_without_gidd(cockpit: Cockpit, killed: list[str]) -> None:
    # Four seconds in hand, for the pauses of a busy machine.
    producer = produce(cockpit, "movie", fps=15, slots=80, credit=60, lease_ms=600_000)
    consumer = consume(cockpit, "movie", hold=2, credit=60)
    consumer.wait_frames(15)
    for domain in killed:
        cockpit.kill(domain)
    gone = {"open": producer, "cluster": consumer}
    for domain in killed:
        gone[domain].wait(lambda line: not line["connected"], "it to miss its gidd")
    consumer.wait_frames(30)
    for domain in killed:
        cockpit.start(domain)
    cockpit.wait_links()
    for domain in killed:
        gone[domain].wait(lambda line: line["connected"], "it to find its gidd again")
    wait_for(lambda: cockpit.status("open")["streams"], "the stream to be published again")
    for domain in ("open", "cluster"):  # both gidds know of it again
        wait_for(lambda domain=domain: is_shown_live(cockpit, domain), f"{domain} to show it")
    line = consumer.wait_frames(30)
    assert line["state"] == LIVE and line["missed"] == 0 and line["torn"] == 0
    assert line["lost_imports"] == 0
    newcomer = consume(cockpit, "movie", reconnect=True)
    newcomer.wait_frames(15)
    assert newcomer.last["lost_imports"] == 0
    consumer.program.stop()
    producer.wait(lambda line: line["consumers"] == 1, "the first consumer's end to be heard")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_frames_flow_within_a_domain_without_gidd(cockpit: Cockpit, end: signal.Signals) -> None:
    """Also where gidd ends in good order, as by `systemctl restart`: nothing is over with it."""
    producer = produce(cockpit, "movie", fps=15, slots=80, credit=60, lease_ms=600_000)
    consumer = consume(cockpit, "movie", "open", hold=2, credit=60)
    consumer.wait_frames(15)
    cockpit.kill("open", end)
    for peer in (producer, consumer):
        peer.wait(lambda line: not line["connected"], "it to miss its gidd")
    consumer.wait_frames(30)
    cockpit.start("open")
    for peer in (producer, consumer):
        peer.wait(lambda line: line["connected"], "it to find its gidd again")
    line = consumer.wait_frames(30)
    assert line["state"] == LIVE and line["missed"] == 0 and line["torn"] == 0
    assert line["reconnects"] == 0 and line["lost_imports"] == 0


def test_a_killed_gidd_and_producer(cockpit: Cockpit) -> None:
    """The doorbell tells of a death that no gidd is there to tell."""
    producer = produce(cockpit, "movie")
    consumer = consume(cockpit, "movie", reconnect=True)
    consumer.wait_frames(50)
    cockpit.kill("open")
    cockpit.kill("cluster")
    producer.program.signal(signal.SIGKILL)
    assert consumer.wait_state(WAITING)["reason"] == -errno.EPIPE
    for domain in ("open", "cluster"):
        cockpit.start(domain)
    produce(cockpit, "movie")
    consumer.wait_state(LIVE)
    consumer.wait_frames(50)


def test_a_second_producer_is_refused(cockpit: Cockpit) -> None:
    produce(cockpit, "movie")
    second = produce(cockpit, "movie")
    assert second.program.wait() == 1
    assert second.last == {"event": "failed", "error": -errno.EEXIST}
    assert "movie is published already by producer" in second.program.stderr.replace(
        "stream-peer", "producer"
    )
