# SPDX-License-Identifier: MIT
"""Consumers and producers that lie in shared memory or on the doorbell, beside honest ones."""

import contextlib
import errno
import fcntl
import mmap
import os
import random
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import (
    PAGE_SIZE,
    RING_SIZE,
    SUBSCRIBED,
    SUBSCRIBER,
    SUBSCRIPTION_END,
    memfd,
    read_only,
)
from lib.peer import LIVE, Peer, consume, produce
from lib.program import wait_for

# Where things are in a page and in a ring: docs/wire-ring.md.
PAGE_ASLEEP, PAGE_HEAD, PAGE_RELEASE_TAIL, PAGE_RELEASES = 8, 64, 128, 448
RING_PLACES, RING_ASLEEP, RING_TAIL, RING_FLOOR = 8, 16, 64, 72
RING_ENTRIES, RING_MORE = 192, 192 + 64 * 64  # of 64 bytes each
MAGIC = 0x32676E6972646967
EPROTO = -errno.EPROTO


def shared(size: int) -> tuple[mmap.mmap, int]:
    """Memory of ours as libgid makes it, and the descriptor that the other side gets."""
    fd = memfd(size, seals=0, writable=True)
    memory = mmap.mmap(fd, size)
    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 0x10  # F_SEAL_FUTURE_WRITE
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    struct.pack_into("<Q", memory, 0, MAGIC)
    return memory, read_only(fd)


def get(memory: mmap.mmap, offset: int) -> int:
    return struct.unpack_from("<Q", memory, offset)[0]


def put(memory: mmap.mmap, offset: int, value: int) -> None:
    struct.pack_into("<Q", memory, offset, value & (2**64 - 1))


# --- consumers that lie ------------------------------------------------------------------------


class Liar:
    """A consumer by the raw wire, live, whose page the test writes."""

    def __init__(self, cockpit: Cockpit, credit: int = 4) -> None:
        self.connection = cockpit.connect("cluster", "liar")
        self.page, fd = shared(PAGE_SIZE)
        self.bell, far_bell = socket.socketpair()
        far_bell.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)  # full after a few rings
        answer = self.connection.subscribe(
            1, "movie", "open", credit=credit, fds=[fd, far_bell.fileno()]
        )
        assert answer == (0, 1, "")
        os.close(fd)
        far_bell.close()
        live = self.connection.event(SUBSCRIBED)
        self.ring = mmap.mmap(live.fds[0], RING_SIZE, prot=mmap.PROT_READ)
        live.close()

    def wait_entries(self, count: int) -> None:
        wait_for(lambda: get(self.ring, RING_TAIL) >= count, f"{count} entries")

    def close(self) -> None:
        self.connection.close()
        self.bell.close()


@contextmanager
def bystander(cockpit: Cockpit, lease_ms: int = 600_000) -> Iterator[tuple[Peer, Peer]]:
    """A producer and an honest consumer, which must not notice anything."""
    # Enough in hand for the pauses of a busy machine: three seconds.
    producer = produce(cockpit, "movie", fps=20, slots=80, credit=60, lease_ms=lease_ms)
    honest = consume(cockpit, "movie", hold=1, credit=60)
    honest.wait_frames(5)
    yield producer, honest
    line = honest.wait_frames(8)
    assert line["state"] == LIVE and line["torn"] == 0 and line["missed"] == 0
    assert producer.program.is_running()


def release(liar: Liar, index: int) -> None:
    tail = get(liar.page, PAGE_RELEASE_TAIL)
    (places,) = struct.unpack_from("<I", liar.ring, RING_PLACES)
    put(liar.page, PAGE_RELEASES + 8 * (tail % (4 * places)), index)
    put(liar.page, PAGE_RELEASE_TAIL, tail + 1)


def claim_the_future(liar: Liar) -> None:
    put(liar.page, PAGE_HEAD, get(liar.ring, RING_TAIL) + 1000)
    release(liar, 0)


LIES: dict[str, Callable[[Liar], None]] = {
    "claims what was never sent": claim_the_future,
    "releases what was never sent": lambda liar: release(liar, 2**63),
    "releases what it did not claim": lambda liar: release(liar, 0),
    "floods releases": lambda liar: put(liar.page, PAGE_RELEASE_TAIL, 2**40),
    "unsays releases": lambda liar: put(liar.page, PAGE_RELEASE_TAIL, -1),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_consumer_that_lies_ends_its_own_subscription(cockpit: Cockpit, lie: str) -> None:
    with bystander(cockpit) as (producer, _):
        liar = Liar(cockpit)
        liar.wait_entries(4)
        LIES[lie](liar)
        assert liar.connection.event(SUBSCRIPTION_END).values == (1, EPROTO)
        producer.wait(lambda line: line["consumers"] == 1, "the liar to be put out")
        liar.close()


def test_a_consumer_that_never_listens_is_left_alone(cockpit: Cockpit) -> None:
    """It sleeps anew all the time, and never drains its doorbell: no ring blocks."""
    with bystander(cockpit) as (producer, _):
        liar = Liar(cockpit)
        before, asleep = producer.last["doorbells"], count(1, 2)

        def rung() -> bool:
            put(liar.page, PAGE_ASLEEP, next(asleep))
            tail = get(liar.ring, RING_TAIL)
            for index in range(get(liar.page, PAGE_HEAD), tail):
                put(liar.page, PAGE_HEAD, index + 1)
                release(liar, index)
            return producer.last["doorbells"] - before > 100

        wait_for(rung, "a hundred rings", pause=0.001)
        assert producer.last["consumers"] == 2
        liar.close()
        producer.wait(lambda line: line["consumers"] == 1, "the liar to be gone")


def test_a_consumer_that_takes_and_keeps_is_held_to_its_credit(cockpit: Cockpit) -> None:
    with bystander(cockpit, lease_ms=3000) as (producer, _):
        liar = Liar(cockpit, credit=3)
        liar.wait_entries(3)
        put(liar.page, PAGE_HEAD, 3)
        time.sleep(0.5)
        assert get(liar.ring, RING_TAIL) == 3
        producer.wait(lambda line: line["leases_expired"] >= 3, "its leases to run out")
        liar.close()


def test_random_pages(cockpit: Cockpit) -> None:
    """Consumers whose pages are noise, one after the other."""
    noise = random.Random(7)
    with bystander(cockpit) as (producer, _):
        for _round in range(30):
            liar = Liar(cockpit, credit=noise.randrange(1, 64))
            end = time.monotonic() + 0.15
            while time.monotonic() < end:
                offset = noise.choice([PAGE_HEAD, PAGE_RELEASE_TAIL, PAGE_ASLEEP, None])
                if offset is None:
                    offset = noise.randrange(PAGE_SIZE // 8) * 8
                value = noise.choice([noise.randrange(70), noise.getrandbits(64)])
                put(liar.page, offset, value)
            liar.close()
        producer.wait(lambda line: line["consumers"] == 1, "all liars to be gone")


# --- producers that lie ------------------------------------------------------------------------


class LyingProducer:
    """A producer by the raw wire with one consumer, whose ring the test writes."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.connection = cockpit.connect("open", "liar")
        self.slab = self.connection.export_new(8)
        assert self.connection.grant(self.slab, 2)[0] == 0
        assert self.connection.publish("camera/rear")[0] == 0

    def accept(self) -> None:
        asked = self.connection.event(SUBSCRIBER)
        self.number = asked.values[0]
        self.page = mmap.mmap(asked.fds[0], PAGE_SIZE, prot=mmap.PROT_READ)
        self.bell = socket.socket(fileno=asked.fds[1])
        os.close(asked.fds[0])
        self.ring, fd = shared(RING_SIZE)
        struct.pack_into("<I", self.ring, RING_PLACES, 64)
        self.connection.accept(self.number, fd)
        os.close(fd)

    def send(self, **changes: int) -> None:
        """The next entry: a good one, with these changes."""
        index = get(self.ring, RING_TAIL)
        fields = {
            "index": index,
            "gid": 1 << 56 | self.slab << 32,
            "sequence": index + 1,
            "submit_time": time.monotonic_ns(),
            "capture_time": 2**64 - 1,  # none
            "pts": 0,
            "flags": 0,
            "damage": 0,
            # the second line: 0 is none of it
            "present_time": 0,
            "dts": 0,
            "duration": 0,
            "offset": 0,
            "offset_end": 0,
            "content_hash": 0,
            "crop": 0,
            "note": 0,  # its size is in the upper half, and where metadata lies
        }
        fields |= changes
        words = [*fields.values()]
        assert len(words) == 16
        words[6] |= any(words[8:]) << 48
        place = 64 * (index % 64)
        struct.pack_into("<8Q", self.ring, RING_ENTRIES + place, *words[:8])
        struct.pack_into("<8Q", self.ring, RING_MORE + place, *words[8:])
        put(self.ring, RING_TAIL, index + 1)

    def wake(self) -> None:
        self.bell.send(b"\0")


BAD_ENTRIES: dict[str, dict[str, int]] = {
    "another domain's gid": {"gid": 2 << 56 | 1 << 32},
    "a gid that names nothing": {"gid": 1 << 56},
    "another entry's index": {"index": 5},
    "a box past the largest picture": {"damage": 0xFFFF << 32 | 0xFFFF},
    "a box of what is shown past it": {"crop": 0xFFFF << 32 | 0xFFFF},
    "a time past the last one": {"pts": 2**63},
    "the same, inverted": {"dts": 2**63 - 1},
    "a third line": {"flags": 2 << 48},
    "an unknown flag": {"flags": 1 << 31},
    "an unknown transform": {"flags": 8 << 32},
    "an end with a picture": {"flags": 1 << 4},
    "a note of more bytes than there are": {"note": 257 << 32},
    "metadata without a picture": {"note": 1 << 48, "gid": 0, "flags": 1 << 4},
}


def lied_to(cockpit: Cockpit, lie: Callable[[LyingProducer], None]) -> dict:
    """What becomes of a consumer that a producer tells this, while another one goes on."""
    with bystander(cockpit):
        liar = LyingProducer(cockpit)
        consumer = consume(cockpit, "camera/rear")
        liar.accept()
        consumer.wait_state(LIVE)
        liar.send()
        liar.wake()
        consumer.wait(lambda line: line["frames"] == 1, "the good frame")
        lie(liar)
        with contextlib.suppress(BrokenPipeError):  # where the lie itself has woken it
            liar.wake()
        line = consumer.wait(lambda line: line["state"] == 3, "it to be over")
        assert consumer.program.wait() == 0
        assert liar.connection.event(SUBSCRIPTION_END).values == (liar.number, EPROTO)
        liar.connection.close()
        return line


@pytest.mark.parametrize("entry", BAD_ENTRIES)
def test_an_entry_that_no_producer_writes(cockpit: Cockpit, entry: str) -> None:
    line = lied_to(cockpit, lambda liar: liar.send(**BAD_ENTRIES[entry]))
    assert line["reason"] == EPROTO and line["frames"] == 1


RING_LIES: dict[str, Callable[[LyingProducer], None]] = {
    "takes back what was never sent": lambda liar: put(liar.ring, RING_FLOOR, 100),
    "unsends": lambda liar: put(liar.ring, RING_TAIL, 0),
    "says that everything was sent": lambda liar: put(liar.ring, RING_TAIL, 2**64 - 1),
    "rings without being asked": lambda liar: liar.bell.send(b"\0" * 1000),
}


@pytest.mark.parametrize("lie", RING_LIES)
def test_a_ring_that_lies(cockpit: Cockpit, lie: str) -> None:
    assert lied_to(cockpit, RING_LIES[lie])["reason"] == EPROTO


def test_gids_of_slabs_that_cannot_be_read(cockpit: Cockpit) -> None:
    """Not a breach of the protocol: a slab may be revoked at any time. The import says so."""
    with bystander(cockpit):
        liar = LyingProducer(cockpit)
        consumer = consume(cockpit, "camera/rear")
        liar.accept()
        consumer.wait_state(LIVE)
        liar.send(gid=1 << 56 | 77 << 32)
        liar.wake()
        line = consumer.wait(lambda line: line["frames"] == 1, "the frame")
        assert line["lost_imports"] == 1 and line["state"] == LIVE
        liar.connection.close()


def test_random_rings(cockpit: Cockpit) -> None:
    """Producers whose rings are noise: the consumer comes back again and again, and lives."""
    noise = random.Random(8)
    with bystander(cockpit):
        liar = LyingProducer(cockpit)
        consumer = consume(cockpit, "camera/rear", reconnect=True, spin_us=2000)
        for _round in range(12):
            liar.accept()
            end = time.monotonic() + 0.2
            while time.monotonic() < end:
                offset = noise.choice([RING_TAIL, RING_FLOOR, RING_ASLEEP, None])
                if offset is None:
                    offset = noise.randrange(RING_SIZE // 8) * 8
                put(liar.ring, offset, noise.choice([noise.randrange(70), noise.getrandbits(64)]))
            liar.bell.close()
        assert consumer.program.is_running(), consumer.program.stderr
        liar.connection.close()
