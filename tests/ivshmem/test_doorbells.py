# SPDX-License-Identifier: MIT
"""Doorbells between machines past both gidds: the test is a guest's machine and its gidd.

It has that machine's place at the server of doorbell devices as its QEMU would, and at the hub.
"""

import contextlib
import mmap
import os
import select
import signal
import socket
import statistics
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from lib.bells import Bells
from lib.cockpit import Cockpit
from lib.company import IS_LONG
from lib.gidwire import (
    ACCEPT,
    ALLOC,
    BELL,
    DEVICE,
    DOORBELL,
    HEARING,
    PAGE_SIZE,
    RESULT,
    RING_SIZE,
    SUBSCRIBE,
    SUBSCRIBED,
    TAKES_DOORBELLS,
    TAKES_VECTORS,
    VECTOR,
    Connection,
    Message,
    pack,
)
from lib.machines import CONFIG, link, window, windows
from lib.peer import LIVE, Peer, produce
from lib.peer import PEER as PEER_PROGRAM
from lib.program import PATIENCE, wait_for
from member import Member

HOST = 3
RING, PAGE = 4096, 5 * 4096  # where they lie in the window of open
RING_MAGIC = int.from_bytes(b"gidring2", "little")
ASLEEP, TAIL = 16, 64  # in a ring
PAGE_ASLEEP, HEAD, RELEASE_TAIL, RELEASES = 8, 64, 128, 448  # in a page
PLACE = (1 << 40) - 1  # of an offset; above it the number of its window
HEAR, RING_IT = 0, 1  # ways of DOORBELL
BURST, BURST_SECONDS = 64, 0.01
LATE_SECONDS = 0.002


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    cockpit.start("host")
    return cockpit


@contextlib.contextmanager
def guest(machines: Cockpit, takes: int = TAKES_VECTORS) -> Iterator[tuple[Member, Bells]]:
    """The machine `open`, whose gidd has met the host's and has the device, too."""
    path = machines.runtime / "bell" / "open.sock"
    with Bells(path) as bells, Member(machines, "open") as member:
        member.join()
        assert member.wait(lambda: HOST in member.epochs)
        member.send(HOST, pack(DEVICE, bells.cookie, serial=takes))
        member.greet(HOST)
        assert member.wait(lambda: link(machines, "host", "open")["state"] == "up")
        yield member, bells


def doorbells(machines: Cockpit) -> dict:
    return link(machines, "host", "open")["doorbells"]


def is_rung(fd: int, timeout: float = 0) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(timeout * 1000))


def vector_of(bells: Bells, index: int) -> int:
    """What hears the host where it rings that vector: the pool of the one before lies before."""
    return bells.vectors[bells.count + (bells.count - 1) * bells.pool + index - 1]


@dataclass
class Raw:
    """A subscription of a client of the host, which the test is as well."""

    client: Connection
    member: Member
    number: int  # on the link
    bell: socket.socket
    page: Message
    own: int = 7

    def doorbell(self, way: int) -> int:
        message = self.client.event(DOORBELL)
        assert message.values == (self.own, way)
        return message.fds[0]

    def hear(self) -> tuple[int, int]:
        """The eventfd that the other machine rings, and what that calls it."""
        fd = self.doorbell(HEAR)
        self.client.send_raw(pack(HEARING, self.own, 1))
        told = self.member.wait_for(HOST, VECTOR)
        assert told.values[0] == self.number
        return fd, told.values[1]


def accept(machines: Cockpit, member: Member) -> int:
    ring = struct.pack("<QII", RING_MAGIC, 64, 0) + bytes(RING_SIZE - 16)
    with window(machines, "open") as memory:
        memory[RING : RING + len(ring)] = ring
    request = member.wait_for(HOST, SUBSCRIBE)
    member.send(HOST, pack(RESULT, 0, 1, b"", serial=request.serial))
    member.send(HOST, pack(ACCEPT, request.values[0], 0, RING))
    return request.values[0]


@contextlib.contextmanager
def subscription(
    machines: Cockpit, member: Member, takes: int = TAKES_DOORBELLS, own: int = 7
) -> Iterator[Raw]:
    path = machines.runtime / "host" / "gidd.sock"
    with Connection(path, "raw", takes=takes) as client:
        page = client.request(ALLOC, PAGE_SIZE, 0, 0, b"")
        bell, other = socket.socketpair()
        with bell, other:
            values = (own, 0, 1, 0, b"open", b"movie", page.values[0])
            client.send_raw(pack(SUBSCRIBE, *values, serial=99), [page.fds[0], bell.fileno()])
            number = accept(machines, member)
            client.event(SUBSCRIBED).close()
            yield Raw(client, member, number, other, page, own)
        page.close()


# --- ways past gidd -------------------------------------------------------------------------------


def test_both_ways(machines: Cockpit) -> None:
    """Each goes from one client to the other, and gidd hears neither."""
    with guest(machines) as (member, bells), subscription(machines, member) as raw:
        hear, vector = raw.hear()
        assert 1 <= vector <= len(bells.to[HOST]) - 1 and not is_rung(hear)
        bells.ring(HOST, vector)
        assert is_rung(hear, PATIENCE)
        member.send(HOST, pack(VECTOR, raw.number, 5))
        ring = raw.doorbell(RING_IT)
        os.eventfd_write(ring, 1)
        assert is_rung(vector_of(bells, 5), PATIENCE)
        assert [is_rung(fd) for fd in bells.vectors].count(True) == 1
        now = doorbells(machines)
        assert (now["way"], now["direct"]) == ("device", 1)
        assert now["heard_by_device"] == now["heard_by_link"] == 0
        assert now["rung_by_device"] == now["rung_by_link"] == 0


def test_nobody_rings_before_the_client_listens(machines: Cockpit) -> None:
    with guest(machines) as (member, _), subscription(machines, member) as raw:
        raw.doorbell(HEAR)
        end = time.monotonic() + 0.5
        while (left := end - time.monotonic()) > 0:
            got = member.receive(left)
            assert got is None or got[1].type != VECTOR
        raw.client.send_raw(pack(HEARING, 7, 1))
        member.wait_for(HOST, VECTOR)


def says_nothing(raw: Raw) -> None:
    """No message of these is on its way, when gidd has answered something else."""
    raw.client.status()
    assert not any(event.type in (DOORBELL, HEARING) for event in raw.client.events)


@pytest.mark.parametrize("old", ["client", "gidd"])
def test_who_is_older_is_rung_by_gidd(machines: Cockpit, old: str) -> None:
    takes_vectors = 0 if old == "gidd" else TAKES_VECTORS
    takes_doorbells = 0 if old == "client" else TAKES_DOORBELLS
    with (
        guest(machines, takes_vectors) as (member, bells),
        subscription(machines, member, takes_doorbells) as raw,
    ):
        member.send(HOST, pack(VECTOR, raw.number, 1))
        says_nothing(raw)
        sleep(raw, 1)
        put_tail(machines, 1)
        bells.ring(HOST)
        assert is_rung(raw.bell.fileno(), PATIENCE)
        assert doorbells(machines)["direct"] == 0


def sleep(raw: Raw, asleep: int) -> None:
    """The client says in its page that it does."""
    whole = mmap.PAGESIZE * -(-PAGE_SIZE // mmap.PAGESIZE)
    offset = raw.page.values[0] & PLACE
    with mmap.mmap(raw.page.fds[0], whole, offset=offset) as page:
        struct.pack_into("<Q", page, PAGE_ASLEEP, asleep)


def put_tail(machines: Cockpit, tail: int) -> None:
    with window(machines, "open") as memory:
        struct.pack_into("<Q", memory, RING + TAIL, tail)


def test_vectors_that_are_not_there(machines: Cockpit) -> None:
    """A machine names one that is none of its own, or for a subscription of nobody."""
    with guest(machines) as (member, bells), subscription(machines, member) as raw:
        raw.hear()
        assert bells.pool < 64
        for number, vector in ((raw.number, bells.pool + 1), (raw.number, 64), (99, 1), (0, 1)):
            member.send(HOST, pack(VECTOR, number, vector))
        member.send(HOST, pack(BELL, raw.number, 0))
        says_nothing(raw)
        member.send(HOST, pack(VECTOR, raw.number, 3))
        ring = raw.doorbell(RING_IT)
        member.send(HOST, pack(VECTOR, raw.number, 4))  # it has one
        says_nothing(raw)
        os.eventfd_write(ring, 1)
        assert is_rung(vector_of(bells, 3)) and not is_rung(vector_of(bells, 4))
        assert link(machines, "host", "open")["faults"] == 0


def test_a_client_says_what_it_does_not_hear(machines: Cockpit) -> None:
    with guest(machines) as (member, _), subscription(machines, member, takes=0) as raw:
        for number in (7, 8, 1 << 31 | 1):
            for on in (0, 1):
                raw.client.send_raw(pack(HEARING, number, on))
        says_nothing(raw)
        assert doorbells(machines)["direct"] == 0


def test_what_ends_gives_its_vector_back(machines: Cockpit) -> None:
    """By its end, by the client's death, and by that of the other machine's gidd."""
    with guest(machines) as (member, bells):
        seen = set()
        for end in ("client", "word", "machine"):
            with subscription(machines, member) as raw:
                _, vector = raw.hear()
                seen.add(vector)
                assert doorbells(machines)["direct"] == 1
                if end == "word":
                    raw.client.end(7)
                    wait_for(lambda: doorbells(machines)["direct"] == 0, "its vector")
                elif end == "machine":
                    member.join()
                    member.greet(HOST)
                    wait_for(lambda: doorbells(machines)["direct"] == 0, "its vector")
            wait_for(lambda: doorbells(machines)["direct"] == 0, "its vector")
        assert len(seen) == 1, "the same one, which is free again"


# --- programs -------------------------------------------------------------------------------------


def film_page(machines: Cockpit, member: Member) -> None:
    with window(machines, "open") as memory:
        memory[PAGE : PAGE + PAGE_SIZE] = bytes(PAGE_SIZE)
        struct.pack_into("<QQ", memory, PAGE, RING_MAGIC, 1)  # asleep
    answer = member.request(HOST, RESULT, SUBSCRIBE, 1 << 31 | 9, HOST, 1, 0, b"", b"film", PAGE)
    assert answer.values[0] == 0


def test_a_producer_past_gidd(machines: Cockpit) -> None:
    """Its frames and their releases: nothing but the eventfds wakes either side."""
    film = produce(machines, "film", "host", fps=100, slots=2, credit=1, lossless=True)
    with guest(machines) as (member, bells):
        film_page(machines, member)
        ring = member.wait_for(HOST, ACCEPT).values[2]
        vector = member.wait_for(HOST, VECTOR).values[1]
        member.send(HOST, pack(VECTOR, 1 << 31 | 9, 2))
        path = next(p for p in windows(machines, "host") if f"/{ring >> 40}." in p)
        own = vector_of(bells, 2)
        with open(path, "rb") as file, window(machines, "open") as memory:
            with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as other:
                for k in range(40):
                    wait_for(
                        lambda k=k: struct.unpack_from("<Q", other, (ring & PLACE) + TAIL)[0] > k,
                        f"frame {k}",
                    )
                    if k >= 10:  # the way to ring it has come meanwhile
                        assert is_rung(own, PATIENCE)
                        os.eventfd_read(own)
                    struct.pack_into("<Q", memory, PAGE + HEAD, k + 1)
                    struct.pack_into("<Q", memory, PAGE + RELEASES + 8 * (k % 64), k)
                    struct.pack_into("<Q", memory, PAGE + PAGE_ASLEEP, 2 * k + 3)
                    struct.pack_into("<Q", memory, PAGE + RELEASE_TAIL, k + 1)
                    bells.ring(HOST, vector)
        assert film.wait_frames(0)["frames"] >= 40
        now = doorbells(machines)
        assert now["direct"] == 1 and now["heard_by_device"] == now["heard_by_link"] == 0


def consumer_of(machines: Cockpit, member: Member) -> tuple[Peer, int]:
    """A program of the host that hears us past gidd, and the vector."""
    consumer = Peer(machines.run("host", [PEER_PROGRAM, "consume", "open", "movie"], "consumer"))
    accept(machines, member)
    vector = member.wait_for(HOST, VECTOR).values[1]
    consumer.wait(lambda line: line["state"] == LIVE, "it to be live")
    return consumer, vector


@contextlib.contextmanager
def storm(bells: Bells, vector: int) -> Iterator[None]:
    """Rings without end, in a process of its own."""
    child = os.fork()
    if child == 0:
        while True:
            bells.ring(HOST, vector)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_storm_that_a_program_hears(machines: Cockpit) -> None:
    """It soon stops to listen. What others hear meanwhile, by either way, is not late."""
    with guest(machines) as (member, bells), subscription(machines, member) as raw:
        hear, calm = raw.hear()
        consumer, vector = consumer_of(machines, member)
        poll = select.poll()
        poll.register(hear, select.POLLIN)
        late = []
        with storm(bells, vector):
            wait_for(lambda: doorbells(machines)["direct"] == 1, "the storm to be noticed")
            for _ in range(200):
                time.sleep(0.003)
                begin = time.monotonic()
                bells.ring(HOST, calm)
                assert poll.poll(PATIENCE * 1000)
                late.append(time.monotonic() - begin)
                os.eventfd_read(hear)
        print(f"another one is rung within {statistics.median(late) * 1e6:.0f} µs (median)")
        assert statistics.median(late) < LATE_SECONDS or not IS_LONG
        machines.wait_log("host", "open rings for nothing: heard by gidd from now on")
        assert consumer.program.is_running() and consumer.last["state"] == LIVE
        # It is heard still, by way of gidd, and sees what is not a frame.
        put_tail(machines, 1)
        bells.ring(HOST, vector)
        consumer.wait(lambda line: line["state"] != LIVE, "it to look at its ring")


def test_a_storm_that_nobody_minds(machines: Cockpit) -> None:
    """The client that is rung could be in league with who rings: gidd looks by itself."""
    with guest(machines) as (member, bells), subscription(machines, member) as raw:
        _, vector = raw.hear()
        with storm(bells, vector):
            assert raw.client.event(HEARING).values == (7, 0)
            before, begin = doorbells(machines), time.monotonic()
            assert before["direct"] == 0
            time.sleep(1)
            wait_for(
                lambda: doorbells(machines)["heard_by_device"] > before["heard_by_device"],
                "gidd to hear it",
            )
            after, seconds = doorbells(machines), time.monotonic() - begin
        heard = after["heard_by_device"] - before["heard_by_device"]
        assert heard <= (seconds / BURST_SECONDS + 2) * BURST
        machines.wait_log("host", "times too often: heard by gidd from now on")
        assert link(machines, "host", "open")["state"] == "up"


def test_with_relay_nothing_goes_past_gidd(make_cockpit: Callable[..., Cockpit]) -> None:
    machines = make_cockpit(CONFIG.replace("kind=host\n", "kind=host\ndoorbell=relay\n"))
    machines.start("host")
    with guest(machines) as (member, bells), subscription(machines, member) as raw:
        member.send(HOST, pack(VECTOR, raw.number, 1))
        says_nothing(raw)
        sleep(raw, 1)
        put_tail(machines, 1)
        bells.ring(HOST)
        assert is_rung(raw.bell.fileno(), PATIENCE)
        assert doorbells(machines)["way"] == "device"


def test_when_the_pool_is_empty(machines: Cockpit) -> None:
    """The last one is rung by gidd, and gets a vector where it asks anew and one is free."""
    with guest(machines) as (member, bells), contextlib.ExitStack() as all_of_them:
        for _ in range(len(bells.to[HOST]) - 1):
            all_of_them.enter_context(subscription(machines, member)).hear()
        with subscription(machines, member) as raw:
            says_nothing(raw)
            sleep(raw, 1)
            put_tail(machines, 1)
            bells.ring(HOST)
            assert is_rung(raw.bell.fileno(), PATIENCE)
        all_of_them.close()
        wait_for(lambda: doorbells(machines)["direct"] == 0, "all vectors")
        with subscription(machines, member) as raw:
            raw.hear()
