# SPDX-License-Identifier: MIT
"""Streams and subscriptions: names, descriptors, and who hears what when one side is gone."""

import errno
import os
import socket
from collections.abc import Callable

import pytest
from cockpit import Cockpit
from gidwire import (
    LIVE,
    LOWER_SIDE,
    PAGE_SIZE,
    RING_SIZE,
    SUBSCRIBED,
    SUBSCRIBER,
    SUBSCRIPTION_END,
    WAIT,
    Closed,
    Connection,
    memfd,
)
from outcome import NO_STREAM, expect_violation, number, untouched
from program import wait_for

EPIPE = -errno.EPIPE

# Where the producer is, and where the consumer: in one domain, or across the link, either way.
PLACES = [("open", "open"), ("open", "cluster"), ("cluster", "open")]


def subscribe_live(producer: Connection, consumer: Connection, name: str, number_: int = 1) -> int:
    """Makes a live subscription to a stream of the producer's; the producer's number for it."""
    assert consumer.subscribe(number_, name, producer.domain_name) == (0, 1, "")
    asked = producer.event(SUBSCRIBER)
    asked.close()
    producer.accept(asked.values[0])
    answer = consumer.event(SUBSCRIBED)
    assert answer.values == (number_, producer.domain, 0)
    answer.close()
    return asked.values[0]


def ended(connection: Connection, number_: int, reason: int) -> None:
    assert connection.event(SUBSCRIPTION_END, timeout=2).values == (number_, reason)


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
        assert rest == [stream, consumer.domain, 63, 1, 0, 0]
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
        bell.settimeout(2)
        assert bell.recv(16) == b""
        bell.close()
        for fd in (page, ring):
            os.close(fd)


# --- names and leave ---

NARROW = """
[domain open]
number=1
local=meter
[domain cluster]
number=2
[domain hud]
number=3
[share open cluster]
streams=movie camera/* safety/tell*
[share open hud]
streams=map
"""


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


# --- descriptors ---


def pipe() -> int:
    reader, writer = os.pipe()
    os.close(writer)
    return reader


def stream_socket() -> int:
    near, far = socket.socketpair()
    far.close()
    return near.detach()


UNSEALED = (
    "the memfd is not sealed: it needs F_SEAL_SHRINK, and where gidway shares its own memory "
    "F_SEAL_FUTURE_WRITE"
)
WRITABLE = "the memfd is writable: pass a read-only description of it"
TOO_SMALL = "the descriptor's memory is smaller than what it is said to hold"
NOT_MEMFD = "the descriptor is not a memfd"
NO_BELL = "the doorbell is not a connected SOCK_STREAM unix socket"

SHARED: dict[str, tuple[Callable[[int], int], str, str]] = {
    "a pipe": (lambda size: pipe(), "EBADF", NOT_MEMFD),
    "a folder": (lambda size: os.open("/", os.O_RDONLY), "EBADF", NOT_MEMFD),
    "unsealed": (lambda size: memfd(size, seals=0), "EPERM", UNSEALED),
    "not sealed against writing": (lambda size: memfd(size, seals=2), "EPERM", UNSEALED),
    "not sealed against shrinking": (lambda size: memfd(size, seals=16), "EPERM", UNSEALED),
    "writable": (lambda size: memfd(size, writable=True), "EACCES", WRITABLE),
    "too small": (lambda size: memfd(size - 1), "ERANGE", TOO_SMALL),
    "empty": (lambda size: memfd(0), "ERANGE", TOO_SMALL),
}


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("reader", ["open", "cluster"])
def test_pages_that_are_none(cockpit: Cockpit, name: str, reader: str) -> None:
    make, error, words = SHARED[name]
    fds = [make(PAGE_SIZE), stream_socket()]
    near, far = socket.socketpair()
    with untouched(cockpit) as producer, cockpit.connect(reader) as consumer:
        answer = consumer.subscribe(1, "bystander", "open", fds=[fds[0], near.fileno()])
        assert answer == (number(error), 0, words)
        subscription = subscribe_live(producer, consumer, "bystander")
        consumer.end(1)
        ended(producer, subscription, 0)
    for fd in fds:
        os.close(fd)
    near.close()
    far.close()


BELLS: dict[str, Callable[[], int]] = {
    "a pipe": pipe,
    "an eventfd": lambda: os.eventfd(0),
    "a memfd": lambda: memfd(4096),
    "a hung up socket": lambda: socket.socket(socket.AF_UNIX).detach(),
    "a datagram socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).detach(),
    "an internet socket": lambda: socket.socket().detach(),
}


@pytest.mark.parametrize("name", BELLS)
def test_doorbells_that_are_none(cockpit: Cockpit, name: str) -> None:
    bell, page = BELLS[name](), memfd(PAGE_SIZE)
    with untouched(cockpit), cockpit.connect("open") as consumer:
        answer = consumer.subscribe(1, "bystander", fds=[page, bell])
        assert answer == (number("EBADF"), 0, NO_BELL)
    os.close(bell)
    os.close(page)


@pytest.mark.parametrize("name", SHARED)
def test_rings_that_are_none(cockpit: Cockpit, name: str) -> None:
    make, _, words = SHARED[name]
    ring = make(RING_SIZE)
    with untouched(cockpit), cockpit.connect("cluster") as consumer:
        with cockpit.connect("open", "liar") as producer:
            producer.publish("movie")
            assert consumer.subscribe(1, "movie", "open") == (0, 1, "")
            asked = producer.event(SUBSCRIBER)
            asked.close()
            producer.accept(asked.values[0], ring)
            expect_violation(cockpit, producer, words)
        ended(consumer, 1, EPIPE)
    os.close(ring)


# --- those that are live already, of which a gidd that came later is told ---


@pytest.mark.parametrize("places", PLACES)
def test_live_already(cockpit: Cockpit, places: tuple[str, str]) -> None:
    """Counted and shown; no producer is asked, neither now nor when the stream appears."""
    fds = [memfd(PAGE_SIZE), memfd(RING_SIZE)]
    with cockpit.connect(places[1]) as consumer, cockpit.connect(places[0]) as producer:
        assert consumer.subscribe(5, "movie", places[0], 7, LIVE, fds) == (0, 1, "")
        (shown,) = cockpit.status(places[1])["subscriptions"]
        assert (shown["state"], shown["stream"], shown["credit"]) == ("live", "movie", 7)
        assert shown["domain"] == places[0] and shown["producer_counts"]["frames"] == 0
        error, stream, _ = producer.publish("movie")
        assert error == 0
        assert producer.unpublish(stream)[0] == 0
        assert not producer.events and not consumer.events
        consumer.end(5)
        wait_for(lambda: not cockpit.status(places[1])["subscriptions"], "its end")
    for fd in fds:
        os.close(fd)


@pytest.mark.parametrize("name", SHARED)
def test_live_already_with_a_ring_that_is_none(cockpit: Cockpit, name: str) -> None:
    make, error, words = SHARED[name]
    page, ring = memfd(PAGE_SIZE), make(RING_SIZE)
    with untouched(cockpit), cockpit.connect("open") as consumer:
        answer = consumer.subscribe(1, "bystander", flags=LIVE, fds=[page, ring])
        assert answer == (number(error), 0, words)
    os.close(ring)
    os.close(page)


def test_live_already_is_for_those_who_may_read(make_cockpit: Callable[..., Cockpit]) -> None:
    """And within their limits."""
    cockpit = make_cockpit(
        "[domain open]\nnumber=1\nlocal=own\nsubscriptions=1\nclient-subscriptions=1\n"
    )
    cockpit.start_all()
    fds = [memfd(PAGE_SIZE), memfd(RING_SIZE)]
    with cockpit.connect("open") as consumer:
        answer = consumer.subscribe(1, "movie", "cluster", flags=LIVE, fds=fds)
        assert answer == (number("ENOENT"), 0, NO_STREAM)
        assert consumer.subscribe(2, "own", flags=LIVE, fds=fds) == (0, 1, "")
        assert consumer.subscribe(3, "own", flags=LIVE, fds=fds)[0] == number("EDQUOT")
    for fd in fds:
        os.close(fd)


# --- numbers ---


@pytest.mark.parametrize("credit", [0, 64, 2**32 - 1])
def test_credit_has_limits(cockpit: Cockpit, credit: int) -> None:
    with untouched(cockpit), cockpit.connect("open") as consumer:
        with pytest.raises(Closed):
            consumer.subscribe(1, "movie", credit=credit, flags=WAIT)
        expect_violation(cockpit, consumer, "the domain or the credit is out of range")


@pytest.mark.parametrize("flags", [4, 16, 1 << 31])
def test_unknown_flags(cockpit: Cockpit, flags: int) -> None:
    with untouched(cockpit), cockpit.connect("open") as consumer:
        with pytest.raises(Closed):
            consumer.subscribe(1, "movie", flags=flags)
        expect_violation(cockpit, consumer, "a flag is unknown")


def test_a_number_names_one_subscription(cockpit: Cockpit) -> None:
    why = "a subscription's number is in use, or not its to give"
    with untouched(cockpit):
        with cockpit.connect("open") as consumer:
            assert consumer.subscribe(1, "movie", flags=WAIT)[0] == 0
            with pytest.raises(Closed):
                consumer.subscribe(1, "other", flags=WAIT)
            expect_violation(cockpit, consumer, why)


def test_a_client_does_not_give_gidds_numbers(cockpit: Cockpit) -> None:
    why = "a subscription's number is in use, or not its to give"
    with cockpit.connect("open") as consumer:
        with pytest.raises(Closed):
            consumer.subscribe(LOWER_SIDE | 1, "movie", flags=WAIT)
        expect_violation(cockpit, consumer, why)


def test_nobody_accepts_what_others_were_asked_for(cockpit: Cockpit) -> None:
    with untouched(cockpit), cockpit.connect("open") as consumer:
        with cockpit.connect("open") as producer, cockpit.connect("open") as thief:
            producer.publish("movie")
            assert consumer.subscribe(1, "movie") == (0, 1, "")
            asked = producer.event(SUBSCRIBER)
            asked.close()
            thief.accept(asked.values[0])
            thief.end(asked.values[0])
            thief.end(1)
            assert thief.status()["domain"] == "open"  # still there, and all it said was handled
            producer.accept(asked.values[0])
            assert consumer.event(SUBSCRIBED).values == (1, 1, 0)


def test_a_consumer_accepts_nothing(cockpit: Cockpit) -> None:
    with untouched(cockpit), cockpit.connect("open") as consumer:
        consumer.accept(1)
        expect_violation(cockpit, consumer, "it accepts a subscription that nobody asked it for")


def test_a_subscription_is_accepted_once(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as producer, cockpit.connect("cluster") as consumer:
        producer.publish("movie")
        subscription = subscribe_live(producer, consumer, "movie")
        producer.accept(subscription)
        expect_violation(cockpit, producer, "the subscription is live already")
        ended(consumer, 1, EPIPE)


def test_many_cycles_leave_nothing(cockpit: Cockpit) -> None:
    """The fixture then compares descriptors and everything that gidd still holds."""
    with cockpit.connect("open") as producer, cockpit.connect("cluster") as consumer:
        producer.publish("movie")
        subscription = subscribe_live(producer, consumer, "movie")
        consumer.end(1)
        ended(producer, subscription, 0)
        before = {name: gidd.open_fds() for name, gidd in cockpit.gidds.items()}
        maps = {name: _maps(gidd.pid) for name, gidd in cockpit.gidds.items()}
        for _ in range(300):
            subscription = subscribe_live(producer, consumer, "movie")
            consumer.end(1)
            ended(producer, subscription, 0)
        for name, gidd in cockpit.gidds.items():
            wait_for(lambda g=gidd, n=name: g.open_fds() <= before[n], "descriptors to be closed")
            wait_for(lambda g=gidd, n=name: _maps(g.pid) <= maps[n], "rings to be unmapped")


def _maps(pid: int) -> int:
    """Mappings of rings and pages."""
    with open(f"/proc/{pid}/maps") as maps:
        return sum("memfd:" in line for line in maps)
