# SPDX-License-Identifier: MIT
"""Subscriptions that are older than gidd: their producers tell of them, and it can end them."""

import os
from collections.abc import Callable, Iterator

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import LIVE, LOWER_SIDE, PAGE_SIZE, RING_SIZE, SUBSCRIBER, Connection, memfd, pack
from lib.outcome import expect_violation, number, untouched
from lib.program import wait_for
from reloading import reload_well
from subscribing import ended

from lab.domains.configuration import configuration

DOMAINS = configuration({"open": "local=*", "cluster": "local=*"})
CONFIG = DOMAINS + "[share open cluster]\nstreams=movie camera/*\nheld=10\n"
OPEN, CLUSTER = 1, 2


@pytest.fixture
def cockpit(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    cockpit.start_all()
    return cockpit


@pytest.fixture
def fds() -> Iterator[list[int]]:
    """Page and ring."""
    fds = [memfd(PAGE_SIZE), memfd(RING_SIZE)]
    yield fds
    for fd in fds:
        os.close(fd)


def publish(producer: Connection, name: str = "movie") -> int:
    error, stream, words = producer.publish(name)
    assert error == 0, words
    return stream


def tell(
    producer: Connection,
    fds: list[int],
    stream: int,
    reader: int = CLUSTER,
    subscription: int = 5,
    credit: int = 4,
    flags: int = LIVE,
) -> None:
    """As a producer that was there before gidd."""
    values = (subscription, stream, reader, credit, flags, 0, 0, 0)
    producer.send_raw(pack(SUBSCRIBER, *values), fds)


def shown(cockpit: Cockpit, domain: str = "open") -> list[tuple]:
    return [
        (one["state"], one["stream"], one["domain"], one["reader"], one["credit"])
        for one in cockpit.status(domain)["subscriptions"]
    ]


def test_it_is_shown_until_its_producer_ends_it(cockpit: Cockpit, fds: list[int]) -> None:
    with cockpit.connect("open") as producer:
        tell(producer, fds, publish(producer))
        one = ("live", "movie", "open", "cluster", 4)
        wait_for(lambda: shown(cockpit) == [one], "it to be shown")
        assert [s["subscriptions"] for s in cockpit.status("open")["streams"]] == [1]
        producer.end(5)
        wait_for(lambda: not shown(cockpit), "its end")
        assert producer.events == []


def test_it_ends_with_its_share(cockpit: Cockpit, fds: list[int]) -> None:
    """What the last gidd has let begin goes no further than what this one may let."""
    with cockpit.connect("open") as producer:
        tell(producer, fds, publish(producer))
        tell(producer, fds, publish(producer, "camera/rear"), subscription=6)
        wait_for(lambda: len(shown(cockpit)) == 2, "them to be shown")
        reload_well(cockpit, CONFIG.replace("movie ", ""), "open")
        ended(producer, 5, number("ENOENT"))
        assert [one[1] for one in shown(cockpit)] == ["camera/rear"]


def test_it_ends_with_its_stream_and_its_client(cockpit: Cockpit, fds: list[int]) -> None:
    with cockpit.connect("open") as producer:
        stream = publish(producer)
        tell(producer, fds, stream)
        assert producer.unpublish(stream)[0] == 0
        assert not shown(cockpit)
        tell(producer, fds, publish(producer), subscription=6)
        wait_for(lambda: shown(cockpit), "it to be shown")
    wait_for(lambda: not shown(cockpit), "its end")


REFUSED = {
    "of no stream": ({"stream": 77}, "ENOENT"),
    "for no domain": ({"reader": 9}, "ENOENT"),
    "over the limit": ({"credit": 11}, "EDQUOT"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_not_be_is_ended(cockpit: Cockpit, fds: list[int], name: str) -> None:
    values, error = REFUSED[name]
    with untouched(cockpit), cockpit.connect("open") as producer:
        tell(producer, fds, **({"stream": publish(producer)} | values))
        ended(producer, 5, number(error))
        assert not shown(cockpit)


def test_what_is_not_shared_is_ended(cockpit: Cockpit, fds: list[int]) -> None:
    with untouched(cockpit), cockpit.connect("cluster") as producer:
        tell(producer, fds, publish(producer), reader=OPEN)
        ended(producer, 5, number("ENOENT"))


FEW = CONFIG.replace("local=*\n", "local=*\nsubscriptions=8\nclient-subscriptions=5\n")


@pytest.mark.parametrize("reader", [OPEN, CLUSTER])
def test_a_producer_pays_for_what_it_tells(
    make_cockpit: Callable[..., Cockpit], fds: list[int], reader: int
) -> None:
    """It could invent as many as it likes, each of which is memory of gidd's."""
    cockpit = make_cockpit(FEW)
    cockpit.start_all()
    with untouched(cockpit), cockpit.connect("open") as producer:
        stream = publish(producer)
        for subscription in range(1, 8):
            tell(producer, fds, stream, reader, subscription, credit=1)
        for subscription in (6, 7):
            ended(producer, subscription, number("EDQUOT"))
        assert len(shown(cockpit)) == 5
        producer.end(1)
        wait_for(lambda: len(shown(cockpit)) == 4, "its end")
        tell(producer, fds, stream, reader, 8, credit=1)
        wait_for(lambda: len(shown(cockpit)) == 5, "that there is room again")
    wait_for(lambda: not shown(cockpit), "their end")


def test_invented_readers_take_nothing_from_real_ones(cockpit: Cockpit, fds: list[int]) -> None:
    with cockpit.connect("open") as liar, cockpit.connect("open") as producer:
        tell(liar, fds, publish(liar), credit=10)
        wait_for(lambda: shown(cockpit), "it to be shown")
        stream = publish(producer, "camera/rear")
        with cockpit.connect("cluster") as consumer:
            # All ten frames that `cluster` may hold are there for those that ask.
            assert consumer.subscribe(1, "camera/rear", "open", credit=10) == (0, 1, "")
            producer.event(SUBSCRIBER).close()
            # And another producer may tell of as many.
            tell(producer, fds, stream, credit=10)
            wait_for(lambda: len(shown(cockpit)) == 3, "all of them to be shown")


@pytest.mark.parametrize("which", [0, 1])
def test_memory_that_is_none(cockpit: Cockpit, fds: list[int], which: int) -> None:
    with untouched(cockpit), cockpit.connect("open") as producer:
        stream = publish(producer)
        for bad, error in ((memfd(16), "ERANGE"), (memfd(RING_SIZE, 2, writable=True), "EPERM")):
            given = list(fds)
            given[which] = bad
            tell(producer, given, stream)
            ended(producer, 5, number(error))
            os.close(bad)


def test_what_no_producer_says(cockpit: Cockpit, fds: list[int]) -> None:
    words = "a subscription's number is in use, or this side may not choose it"
    with untouched(cockpit):
        for number_ in (0, LOWER_SIDE | 5):
            with cockpit.connect("open") as producer:
                tell(producer, fds, publish(producer), subscription=number_)
                expect_violation(cockpit, producer, words)
        with cockpit.connect("open") as producer:
            stream = publish(producer)
            tell(producer, fds, stream)
            tell(producer, fds, stream)
            expect_violation(cockpit, producer, words)
        with cockpit.connect("open") as producer:
            tell(producer, fds, publish(producer), flags=0)
            expect_violation(cockpit, producer, "a message that no client sends")


@pytest.mark.parametrize("first", ["producer", "consumer"])
@pytest.mark.parametrize("end", ["producer", "consumer", "share"])
def test_both_tell_of_one(cockpit: Cockpit, fds: list[int], first: str, end: str) -> None:
    """Two clients of one gidd: it is one subscription, and either hears from it of the end."""
    with cockpit.connect("open") as producer, cockpit.connect("open") as consumer:
        stream = publish(producer)
        if first == "producer":
            tell(producer, fds, stream, reader=OPEN)
            wait_for(lambda: shown(cockpit), "it to be shown")
        assert consumer.subscribe(7, "movie", "open", 4, LIVE, fds) == (0, 1, "")
        if first == "consumer":
            tell(producer, fds, stream, reader=OPEN)
        wait_for(lambda: cockpit.status("open")["streams"][0]["subscriptions"] == 1, "the stream's")
        assert shown(cockpit) == [("live", "movie", "open", "open", 4)]
        used = {q["name"]: q["used"] for q in cockpit.status("open")["quotas"]}
        assert (used["subscriptions"], used["held"]) == (1, 4)
        if end == "producer":
            producer.end(5)
            ended(consumer, 7, 0)
        elif end == "consumer":
            consumer.end(7)
            ended(producer, 5, 0)
        else:
            assert producer.unpublish(stream)[0] == 0
            ended(consumer, 7, 0)
        wait_for(lambda: not shown(cockpit), "its end")


def test_pages_of_two(cockpit: Cockpit, fds: list[int]) -> None:
    """The same name and other memory: these are two."""
    others = [memfd(PAGE_SIZE), memfd(RING_SIZE)]
    with cockpit.connect("open") as producer, cockpit.connect("open") as consumer:
        tell(producer, fds, publish(producer), reader=OPEN)
        assert consumer.subscribe(7, "movie", "open", 4, LIVE, others) == (0, 1, "")
        wait_for(lambda: len(shown(cockpit)) == 2, "both to be shown")
    for fd in others:
        os.close(fd)
