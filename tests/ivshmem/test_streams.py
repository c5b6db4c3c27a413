# SPDX-License-Identifier: MIT
"""Streams between machines: whole, in order, not copied; and what becomes of them when one dies."""

from collections.abc import Callable

import pytest
from lib.bells import Bells
from lib.cockpit import Cockpit
from lib.machines import CONFIG, link, start
from lib.peer import LIVE, WAITING, consume, produce
from lib.program import wait_for

from lab.domains.configuration import configuration


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    start(cockpit)
    return cockpit


def test_many_consumers_everywhere(machines: Cockpit) -> None:
    producer = produce(machines, "movie", fps=300)
    consumers = [
        consume(machines, "movie", "host"),
        consume(machines, "movie", "host", hold=2),
        consume(machines, "movie", "cluster", drop_old=True),
        consume(machines, "movie", "hud"),
        consume(machines, "movie", "open"),
    ]
    producer.wait(lambda line: line["consumers"] == 5, "five consumers")
    for consumer in consumers:
        last = consumer.wait_frames(100)
        assert last["torn"] == 0 and last["lost_imports"] == 0


def test_a_consumer_that_was_there_before_the_host(make_cockpit: Callable[..., Cockpit]) -> None:
    """Its gidd has nothing to give it yet: it waits, as for a producer."""
    cockpit = make_cockpit(CONFIG)
    cockpit.start("hud")
    consumer = consume(cockpit, "movie", "hud", "open", reconnect=True)
    consumer.wait(lambda line: line["state"] == WAITING, "it to wait")
    for domain in ("host", "open"):
        cockpit.start(domain)
    produce(cockpit, "movie", fps=100)
    assert consumer.wait_frames(20)["torn"] == 0


def test_death_of_a_machine_ends_what_came_from_it(machines: Cockpit) -> None:
    """Its imports are revoked at once, for its memory may become anything."""
    produce(machines, "movie", fps=100)
    consumer = consume(machines, "movie", "host", hold=3, credit=4, reconnect=True)
    consumer.wait_frames(20)
    assert [slab["importers"] for slab in machines.status("host")["slabs"]] == [1]
    machines.kill("open")
    wait_for(lambda: not machines.status("host")["slabs"], "the imports to be revoked")
    consumer.wait(lambda line: line["state"] != LIVE, "the stream to be lost")
    wait_for(lambda: link(machines, "cluster", "open")["state"] == "down", "its other link's end")
    machines.start("open")
    machines.wait_links()
    consumer.wait_frames(20)  # the producer is there still, and publishes again


def test_the_clock_is_known(machines: Cockpit) -> None:
    """One machine has one clock: the estimate must find that, within its own bound."""
    for domain, peer in (("open", "host"), ("host", "open"), ("cluster", "open")):

        def closely(domain: str = domain, peer: str = peer) -> bool:
            found = link(machines, domain, peer)
            assert abs(found["clock_offset_ns"]) <= found["clock_error_ns"]
            return found["clock_error_ns"] < 1_000_000_000

        wait_for(closely, "a question that was answered within a second")
    assert link(machines, "host", "hud")["clock_error_ns"] == 0


# As under most hypervisors: what the guests share is none of the host's business.
WITHOUT_THE_HOST = configuration(
    {
        "open": "kind=guest window=4M",
        "cluster": "kind=guest window=4M",
        "host": "kind=host",
        "hud": "",
    },
    {"open cluster": "movie", "open hud": "movie"},
)


def test_a_host_that_shares_nothing(make_cockpit: Callable[..., Cockpit]) -> None:
    """It is the hub all the same, and of what its guests' machines are given nothing is missing."""
    cockpit = make_cockpit(WITHOUT_THE_HOST)
    start(cockpit)
    for guest in ("open", "cluster"):
        with Bells(cockpit.runtime / "bell" / f"{guest}.sock") as bells:
            assert bells.count == 1  # the other guest rings it
    assert link(cockpit, "open", "cluster")["state"] == "up"
    assert cockpit.status("host")["links"] == []
    produce(cockpit, "movie", fps=300, lossless=True)
    for reader in ("cluster", "hud"):
        last = consume(cockpit, "movie", reader).wait_frames(100)
        assert last["torn"] == 0 and last["lost_imports"] == 0
