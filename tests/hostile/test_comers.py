# SPDX-License-Identifier: MIT
"""Readers that come and go as fast as they can, and programs that ask for much at once: their
producer, other readers, and the link between their domains stay."""

import fcntl
import os
import signal
import socket
import struct
import termios
import time
from contextlib import ExitStack

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import (
    IMPORT,
    IMPORTED,
    PAGE_SIZE,
    REVOKED,
    SUBSCRIBE,
    SUBSCRIBED,
    SUBSCRIBER,
    WAIT,
    Connection,
    Export,
    gid,
    memfd,
    pack,
)
from lib.outcome import untouched
from lib.program import wait_for
from subscribing import subscribe_live

from lab.domains.configuration import configuration

COMINGS = 2000
AT_ONCE = 64  # of one reader, before it is let through in turn
EVERY_S = 0.005
PLACES = ["open", "cluster"]  # where the reader is; the producer is in `open`


def come_and_go(reader: Connection, name: str, count: int = COMINGS) -> float:
    """In how many seconds."""
    began = time.monotonic()
    for number in range(1, count + 1):
        error, _, words = reader.subscribe(number, name, "open", credit=1, flags=WAIT)
        assert error == 0, words
        reader.end(number)
    return time.monotonic() - began


def count_comers(producer: Connection) -> int:
    """Of whom it has heard."""
    comers = [event for event in producer.events if event.type == SUBSCRIBER]
    for event in comers:
        event.close()
    producer.events = []
    return len(comers)


@pytest.mark.parametrize("place", PLACES)
def test_a_busy_producer_keeps_its_gidd(cockpit: Cockpit, place: str) -> None:
    """It looks at what gidd says when it has time, as after a frame."""
    with untouched(cockpit), cockpit.connect("open", "producer") as producer:
        assert producer.publish("movie")[0] == 0
        with cockpit.connect(place, "hostile") as reader:
            passed = come_and_go(reader, "movie")
            assert producer.publish("other")[0] == 0
            assert count_comers(producer) <= AT_ONCE + passed / EVERY_S + 1
        with cockpit.connect("cluster", "honest") as honest:
            subscribe_live(producer, honest, "movie")


@pytest.mark.parametrize("place", PLACES)
def test_others_need_not_wait(cockpit: Cockpit, place: str) -> None:
    """Those whom a reader has put off are its own."""
    with cockpit.connect("open") as producer, cockpit.connect(place, "hostile") as reader:
        assert producer.publish("movie")[0] == 0
        for number in range(1, 120):
            assert reader.subscribe(number, "movie", "open", credit=1, flags=WAIT)[0] == 0
        with cockpit.connect("open", "honest") as honest:
            assert honest.subscribe(1, "movie") == (0, 1, "")


def test_each_comes_in_its_turn(cockpit: Cockpit) -> None:
    """Who waits is let through, also without saying that it waits."""
    count = 2 * AT_ONCE
    with cockpit.connect("open") as producer, cockpit.connect("open") as reader:
        assert producer.publish("movie")[0] == 0
        for number in range(1, count + 1):
            flags = WAIT if number % 2 else 0
            assert reader.subscribe(number, "movie", credit=1, flags=flags)[0] == 0
        for _ in range(count):
            asked = producer.event(SUBSCRIBER)
            asked.close()
            producer.accept(asked.values[0])
        seen = set()
        for _ in range(count):
            event = reader.event(SUBSCRIBED)
            seen.add(event.values[0])
            event.close()
        assert seen == set(range(1, count + 1))


def subscribe_at_once(reader: Connection, numbers: range) -> None:
    """Without waiting for answers."""
    bell, other = socket.socketpair()
    page = memfd(PAGE_SIZE)
    for number in numbers:
        message = pack(SUBSCRIBE, number, 0, 1, WAIT, b"", b"movie", 0, serial=number)
        reader.send_raw(message, [page, bell.fileno()])
    for one in (bell, other):
        one.close()
    os.close(page)


def test_the_stream_ends_meanwhile(cockpit: Cockpit) -> None:
    """Who was put off waits for the next one."""
    count = 0
    with cockpit.connect("open") as producer, cockpit.connect("open") as reader:
        stream = producer.publish("movie")[1]

        def is_put_off() -> bool:
            """One of some more. All of those are let through whom a late gidd hears one by one."""
            nonlocal count
            numbers = range(count + 1, count + AT_ONCE + 41)
            subscribe_at_once(reader, numbers)
            answers = [Connection.result(reader.receive()) for _ in numbers]
            assert {error for error, _, _ in answers} == {0}
            count += len(numbers)
            if 0 in [value for _, value, _ in answers]:
                return True
            for number in numbers:  # it may have so many and no more
                reader.end(number)
            return False

        wait_for(is_put_off, "one to be put off", pause=0)
        producer.unpublish(stream)
        comers = count_comers(producer)
        assert comers < count
        assert producer.publish("movie")[0] == 0
        for _ in range(count - comers):
            asked = producer.event(SUBSCRIBER)
            asked.close()
            producer.accept(asked.values[0])
            reader.event(SUBSCRIBED).close()


# --- memory ---

MANY = configuration({"open": "local=* slabs=8192 memory=64M"}, {})
SLABS = 4000


@pytest.mark.cockpit(MANY)
def test_all_memory_goes_at_once(cockpit: Cockpit) -> None:
    """Who has imported it hears of each, and is busy just then, as a compositor that draws."""
    with cockpit.connect("open", "importer") as importer:
        with cockpit.connect("open", "owner") as owner:
            memory = memfd(4096)
            for _ in range(SLABS):
                error, slab, words = owner.export(Export(generations=0), memory)
                assert error == 0, words
                importer.import_(gid(1, slab)).close()
            os.close(memory)
        wait_for(lambda: not cockpit.status("open")["slabs"], "gidd to have said it all")
        gone = {importer.event(REVOKED).values[0] for _ in range(SLABS)}
        assert len(gone) == SLABS
        assert importer.publish("movie")[0] == 0


# --- a link ---


def unsent(connection: Connection) -> int:
    """Bytes that its gidd has not read yet."""
    answer = fcntl.ioctl(connection.socket, termios.TIOCOUTQ, struct.pack("i", 0))
    return struct.unpack("i", answer)[0]


def link_ups(cockpit: Cockpit) -> int:
    """How often it came up."""
    (link,) = cockpit.status("cluster")["links"]
    return link["ups"]


PROGRAMS, QUESTIONS = 8, 64  # of each, as many as it may have on their way


def test_many_programs_ask_at_once(cockpit: Cockpit) -> None:
    """The answers have descriptors, for which a connection has little room: they come in turns."""
    opened, cluster = cockpit.gidds["open"], cockpit.gidds["cluster"]
    with cockpit.connect("open", "owner") as owner, ExitStack() as stack:
        slab = owner.export_new()
        owner.grant(slab, 2)
        programs = [stack.enter_context(cockpit.connect("cluster")) for _ in range(PROGRAMS)]
        ups = link_ups(cockpit)
        opened.signal(signal.SIGSTOP)
        for program in programs:
            for serial in range(1, QUESTIONS + 1):
                program.send_raw(pack(IMPORT, gid(1, slab), serial=serial))
        for program in programs:
            wait_for(lambda program=program: unsent(program) == 0, "gidd to have read them")
        cluster.signal(signal.SIGSTOP)
        opened.signal(signal.SIGCONT)
        time.sleep(0.5)  # in which it answers all that it was asked
        cluster.signal(signal.SIGCONT)
        for program in programs:
            for _ in range(QUESTIONS):
                answer = program.receive()
                assert answer.type == IMPORTED, answer
                answer.close()
        assert link_ups(cockpit) == ups
