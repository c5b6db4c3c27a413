# SPDX-License-Identifier: MIT
"""The descriptors of a subscription: page, ring and doorbell, good and none."""

import errno
import os
import socket
from collections.abc import Callable

import pytest
from lib import hollow
from lib.cockpit import Cockpit
from lib.gidwire import (
    LIVE,
    PAGE_SIZE,
    RING_SIZE,
    SUBSCRIBED,
    SUBSCRIBER,
    memfd,
)
from lib.outcome import NO_STREAM, expect_unwritable, expect_violation, number, untouched
from lib.program import wait_for
from subscribing import PLACES, ended, subscribe_live

from lab.domains.configuration import configuration

EPIPE = -errno.EPIPE


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
    "the memfd is not sealed: it needs F_SEAL_SHRINK, and F_SEAL_FUTURE_WRITE or F_SEAL_WRITE"
)
TOO_SMALL = "the descriptor's memory is smaller than stated"
NOT_MEMFD = "the descriptor is not a memfd with ordinary pages"
NO_BELL = "the doorbell is not a connected SOCK_STREAM unix socket"

HOLLOW = (
    "the memfd has holes, or lets nobody see whether it has some: write all of it, and leave its "
    "mode as it is"
)


SHARED: dict[str, tuple[Callable[[int], int], str, str]] = {
    "a pipe": (lambda size: pipe(), "EBADF", NOT_MEMFD),
    "a folder": (lambda size: os.open("/", os.O_RDONLY), "EBADF", NOT_MEMFD),
    "unsealed": (lambda size: memfd(size, seals=0), "EPERM", UNSEALED),
    "not sealed against writing": (lambda size: memfd(size, seals=2), "EPERM", UNSEALED),
    "not sealed against shrinking": (lambda size: memfd(size, seals=16), "EPERM", UNSEALED),
    "writable for ever": (lambda size: memfd(size, 2, writable=True), "EPERM", UNSEALED),
    "too small": (lambda size: memfd(size - 1), "ERANGE", TOO_SMALL),
    "empty": (lambda size: memfd(0), "ERANGE", TOO_SMALL),
}
if hollow.is_told():
    SHARED["without a page"] = (lambda size: memfd(size, hollow=True), "ENODATA", HOLLOW)


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


@pytest.mark.parametrize("places", PLACES)
def test_writable_memory_is_opened_again(cockpit: Cockpit, places: tuple[str, str]) -> None:
    """Of who has no /proc, and cannot do so itself."""
    page, ring = (memfd(size, writable=True) for size in (PAGE_SIZE, RING_SIZE))
    with cockpit.connect(places[1]) as consumer, cockpit.connect(places[0]) as producer:
        producer.publish("movie")
        bell = socket.socketpair()
        assert consumer.subscribe(1, "movie", places[0], fds=[page, bell[0].fileno()]) == (0, 1, "")
        asked = producer.event(SUBSCRIBER)
        producer.accept(asked.values[0], ring)
        answer = consumer.event(SUBSCRIBED)
        for given, made in ((asked.fds[0], page), (answer.fds[0], ring)):
            expect_unwritable(given)
            assert os.fstat(given).st_ino == os.fstat(made).st_ino
        for message in (asked, answer):
            message.close()
        for end in bell:
            end.close()
    os.close(page)
    os.close(ring)


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
        configuration({"open": "local=own subscriptions=1 client-subscriptions=1"})
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
