# SPDX-License-Identifier: MIT
"""Streams and subscriptions: names, and who hears what when one side is gone."""

import errno
import os
import socket
from collections.abc import Callable

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import (
    LOWER_SIDE,
    PAGE_SIZE,
    RING_SIZE,
    SUBSCRIBED,
    SUBSCRIBER,
    WAIT,
    Connection,
    memfd,
)
from lib.outcome import NO_STREAM, number
from lib.program import PATIENCE, wait_for
from subscribing import PLACES, ended, subscribe_live

from lab.domains.configuration import configuration

EPIPE = -errno.EPIPE


@pytest.mark.parametrize("places", PLACES)
def test_ring_page_and_doorbell_arrive(cockpit: Cockpit, places: tuple[str, str]) -> None:
    with cockpit.connect(places[0]) as producer, cockpit.connect(places[1]) as consumer:
        error, stream, _ = producer.publish("camera/rear")
        assert error == 0
        page, (bell, far_bell) = memfd(PAGE_SIZE), socket.socketpair()
        answer = consumer.subscribe(
            7, "camera/rear", places[0], credit=63, flags=1, fds=[page, far_bell.fileno()]
        )
        assert answer == (0, 1, "")
        asked = producer.event(SUBSCRIBER)
        subscription, *rest = asked.values
        assert subscription & LOWER_SIDE
        assert rest == [stream, consumer.domain, 63, 1, 0, 0, 0]
        assert os.fstat(asked.fds[0]).st_ino == os.fstat(page).st_ino
        os.write(asked.fds[1], b"ring")
        assert bell.recv(16) == b"ring"
        ring = memfd(RING_SIZE)
        producer.accept(subscription, ring)
        live = consumer.event(SUBSCRIBED)
        assert live.values == (7, producer.domain, 0)
        assert os.fstat(live.fds[0]).st_ino == os.fstat(ring).st_ino
        far_bell.close()
        asked.close()
        live.close()
        # Nobody else keeps the producer's end of the doorbell: its end would not be noticed.
        bell.settimeout(PATIENCE)
        assert bell.recv(16) == b""
        bell.close()
        for fd in (page, ring):
            os.close(fd)


# --- names and leave ---

NARROW = configuration(
    {"open": "local=meter", "cluster": "", "hud": ""},
    {"open cluster": "movie camera/* safety/tell*", "open hud": "map"},
)


@pytest.mark.cockpit(NARROW)
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("movie", "0"),
        ("camera/rear", "0"),
        ("camera/a/b", "0"),
        ("safety/telltale", "0"),
        ("map", "0"),
        ("meter", "0"),
        ("movie2", "EPERM"),
        ("Movie", "EPERM"),
        ("camera", "EPERM"),
        ("safety/other", "EPERM"),
    ],
)
def test_only_configured_streams_are_published(cockpit: Cockpit, name: str, error: str) -> None:
    with cockpit.connect("open") as producer:
        got, _, words = producer.publish(name)
        assert got == number(error)
        if got:
            assert words == (
                f"the cockpit's configuration has no stream {name} of domain open: add it to "
                "streams= of a share, or to local= of the domain"
            )


@pytest.mark.cockpit(NARROW)
def test_a_stream_that_may_not_be_read_looks_like_none(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as producer, cockpit.connect("hud") as consumer:
        for name in ("movie", "meter", "map"):
            assert producer.publish(name)[0] == 0
        refused = (number("ENOENT"), 0, NO_STREAM)
        assert consumer.subscribe(1, "movie", "open") == refused
        assert consumer.subscribe(1, "movie", "open", flags=WAIT) == refused
        assert consumer.subscribe(1, "meter", "open") == refused
        assert consumer.subscribe(1, "no-such", "open") == refused
        assert consumer.subscribe(1, "map", "cluster") == refused
        assert consumer.subscribe(1, "map", "no-such-domain") == refused
        assert consumer.subscribe(1, "map", "open") == (0, 1, "")
        producer.event(SUBSCRIBER).close()
        assert producer.events == []


@pytest.mark.cockpit(NARROW)
def test_nobody_waits_for_what_is_never_published(cockpit: Cockpit) -> None:
    """As somebody does who has forgotten to name the stream's domain."""
    with cockpit.connect("cluster") as consumer:
        error, _, words = consumer.subscribe(1, "movie", flags=WAIT)
        assert error == number("ENOENT")
        assert words == (
            "the cockpit's configuration has no stream movie of domain cluster, which is this "
            "program's own: check its name, or name its domain"
        )
        assert consumer.subscribe(1, "movie", "open", flags=WAIT) == (0, 0, "")
    with cockpit.connect("open") as consumer:
        assert consumer.subscribe(1, "meter", flags=WAIT) == (0, 0, "")


def test_there_is_one_producer_of_a_stream(cockpit: Cockpit) -> None:
    with cockpit.connect("open", "first") as first, cockpit.connect("open", "second") as second:
        error, stream, _ = first.publish("movie")
        assert error == 0
        why = f"stream movie is published already by first (pid {os.getpid()}, uid {os.getuid()})"
        assert second.publish("movie") == (number("EEXIST"), 0, why)
        assert first.publish("movie") == (number("EEXIST"), 0, why)
        assert second.unpublish(stream)[0] == number("ENOENT")
        with cockpit.connect("cluster") as other:
            assert other.publish("movie")[0] == 0  # another domain's is another stream
        assert first.unpublish(stream) == (0, 0, "")
        assert first.unpublish(stream)[0] == number("ENOENT")
        assert second.publish("movie")[0] == 0


# --- waiting ---


@pytest.mark.parametrize("places", PLACES)
def test_without_waiting_there_must_be_a_stream(cockpit: Cockpit, places: tuple[str, str]) -> None:
    with cockpit.connect(places[1]) as consumer:
        assert consumer.subscribe(1, "movie", places[0]) == (number("ENOENT"), 0, NO_STREAM)


@pytest.mark.parametrize("places", PLACES)
def test_a_subscription_can_wait_for_its_stream(cockpit: Cockpit, places: tuple[str, str]) -> None:
    with cockpit.connect(places[1]) as consumer, cockpit.connect(places[0]) as producer:
        assert consumer.subscribe(1, "movie", places[0], flags=WAIT) == (0, 0, "")
        assert producer.publish("movie")[0] == 0
        asked = producer.event(SUBSCRIBER)
        assert len(asked.fds) == 2
        asked.close()
        producer.accept(asked.values[0])
        consumer.event(SUBSCRIBED).close()


@pytest.mark.parametrize("places", PLACES)
def test_a_waiting_subscription_can_be_given_up(cockpit: Cockpit, places: tuple[str, str]) -> None:
    with cockpit.connect(places[1]) as consumer, cockpit.connect(places[0]) as producer:
        assert consumer.subscribe(1, "movie", places[0], flags=WAIT) == (0, 0, "")
        consumer.end(1)
        assert consumer.subscribe(2, "other", places[0], flags=WAIT) == (0, 0, "")
        wait_for(
            lambda: [s["stream"] for s in cockpit.status(places[0])["subscriptions"]] == ["other"],
            "the first subscription to be forgotten",
        )
        assert producer.publish("movie")[0] == 0
        assert producer.events == []


# --- one side ends ---


@pytest.mark.parametrize("places", PLACES)
def test_a_producer_may_refuse(cockpit: Cockpit, places: tuple[str, str]) -> None:
    with cockpit.connect(places[0]) as producer, cockpit.connect(places[1]) as consumer:
        producer.publish("movie")
        assert consumer.subscribe(1, "movie", places[0]) == (0, 1, "")
        asked = producer.event(SUBSCRIBER)
        asked.close()
        producer.end(asked.values[0], -errno.EDQUOT)
        ended(consumer, 1, -errno.EDQUOT)


def unpublish(cockpit: Cockpit, producer: Connection, stream: int) -> None:
    producer.unpublish(stream)


def die(cockpit: Cockpit, producer: Connection, stream: int) -> None:
    producer.close()


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize(("finish", "reason"), [(unpublish, 0), (die, EPIPE)])
@pytest.mark.parametrize("places", PLACES)
def test_consumers_hear_of_the_end_of_a_stream(
    cockpit: Cockpit, places: tuple[str, str], finish: Callable, reason: int, live: bool
) -> None:
    with cockpit.connect(places[0]) as producer, cockpit.connect(places[1]) as consumer:
        stream = producer.publish("movie")[1]
        if live:
            subscribe_live(producer, consumer, "movie")
        else:
            assert consumer.subscribe(1, "movie", places[0]) == (0, 1, "")
        finish(cockpit, producer, stream)
        ended(consumer, 1, reason)
        # The number may be used again, also while its end was on its way.
        with cockpit.connect(places[0]) as second:
            assert second.publish("movie")[0] == 0
            subscribe_live(second, consumer, "movie")


def leave(consumer: Connection) -> None:
    consumer.end(1)


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize(("finish", "reason"), [(leave, 0), (Connection.close, EPIPE)])
@pytest.mark.parametrize("places", PLACES)
def test_producers_hear_of_the_end_of_a_consumer(
    cockpit: Cockpit, places: tuple[str, str], finish: Callable, reason: int, live: bool
) -> None:
    with cockpit.connect(places[0]) as producer, cockpit.connect(places[1]) as consumer:
        producer.publish("movie")
        if live:
            subscription = subscribe_live(producer, consumer, "movie")
        else:
            assert consumer.subscribe(1, "movie", places[0]) == (0, 1, "")
            asked = producer.event(SUBSCRIBER)
            subscription = asked.values[0]
            asked.close()
        finish(consumer)
        ended(producer, subscription, reason)
        # What crossed it on its way does no harm.
        producer.accept(subscription)
        producer.end(subscription)
        with cockpit.connect(places[1]) as second:
            subscribe_live(producer, second, "movie")


def test_a_process_may_be_both_sides(cockpit: Cockpit) -> None:
    """The same number in both directions of one connection means two subscriptions."""
    with cockpit.connect("open") as one, cockpit.connect("cluster") as other:
        one.publish("to-cluster")
        other.publish("to-open")
        to_one = subscribe_live(other, one, "to-open")
        to_other = subscribe_live(one, other, "to-cluster")
        one.end(1)
        ended(other, to_one, 0)
        assert one.events == other.events == []
        one.end(to_other, EPIPE)
        ended(other, 1, EPIPE)
