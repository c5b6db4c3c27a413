# SPDX-License-Identifier: MIT
"""What streams do over every kind of link: frames come whole and in order, and who is stopped,
killed or missing does nothing to others that they cannot bear."""

import errno
import os
import signal
import time
from collections.abc import Callable

import pytest
from lib.cockpit import Cockpit
from lib.links import KINDS, WAYS, Linked, link
from lib.peer import ENDED, LIVE, WAITING
from lib.program import EMULATOR_KIB, wait_for


@pytest.fixture(params=KINDS)
def linked(request: pytest.FixtureRequest, make_cockpit: Callable[..., Cockpit]) -> Linked:
    return link(make_cockpit, request.param)


@pytest.mark.parametrize("way", WAYS)
def test_300_frames(make_cockpit: Callable[..., Cockpit], way: str) -> None:
    linked = link(make_cockpit, way)
    producer = linked.produce(fps=300, lossless=True)
    last = linked.consume().wait_frames(300)
    assert last["torn"] == 0 and last["lost_imports"] == 0 and last["missed"] == 0
    assert producer.last["dropped"] == 0
    (slab,) = linked.cockpit.status(linked.owner)["slabs"]
    assert slab["memory"] == linked.memory


def test_an_idle_stream_wakes_its_consumer(linked: Linked) -> None:
    """Each frame comes by a doorbell, and each release goes back by one."""
    producer = linked.produce(fps=10, slots=2, credit=1, lossless=True)
    consumer = linked.consume(credit=1)
    producer.wait(lambda line: line["doorbells"] >= 20, "doorbells")
    last = consumer.wait_frames(1)
    assert last["frames"] >= 20 and last["missed"] == 0 and producer.last["no_slot"] == 0


def test_frames_arrive_whole(linked: Linked) -> None:
    producer = linked.produce(fps=500)
    consumers = [
        linked.consume(),
        linked.consume(hold=3),
        linked.consume(domain=linked.owner),
        linked.consume(drop_old=True, spin_us=200),
    ]
    producer.wait(lambda line: line["consumers"] == 4, "four consumers")
    for consumer in consumers:
        consumer.wait_frames(500)
        assert consumer.last["torn"] == 0 and consumer.last["lost_imports"] == 0


def test_a_stopped_consumer_disturbs_nobody(linked: Linked) -> None:
    """For eight seconds, with frames in its hands and a lease of four seconds."""
    # Six seconds in the other's hand, for the pauses of a busy machine.
    producer = linked.produce(fps=10, slots=80, credit=60, lease_ms=4000)
    other = linked.consume(hold=1, credit=60)
    stopped = linked.consume(hold=1)
    late = linked.consume(drop_old=True, hold=1)
    for consumer in (other, stopped, late):
        consumer.wait_frames(10)
    before, memory, maps = producer.last, producer.memory_kib(), producer.maps()
    received = other.last
    for consumer in (stopped, late):
        consumer.program.signal(signal.SIGSTOP)
    after = producer.wait(
        lambda line: line["frames"] >= before["frames"] + 80 and line["leases_expired"] >= 1,
        "frames to go out, and a lease",
    )
    heard = other.wait(lambda line: line["frames"] >= received["frames"] + 75, "them to arrive")
    assert heard["missed"] == received["missed"] and heard["torn"] == 0
    assert after["held"] <= 60 + 4 + 4 and after["no_slot"] == 0
    assert after["consumers"] == 3
    assert producer.memory_kib() <= memory + 64 + EMULATOR_KIB and producer.maps() <= maps
    for consumer in (stopped, late):
        consumer.program.signal(signal.SIGCONT)
        line = consumer.wait_frames(20)
        assert line["state"] == LIVE and line["torn"] == 0
        assert line["discont"] >= 1 and line["missed"] >= 15


def test_a_killed_consumer_gives_its_frames_back(
    linked: Linked, capsys: pytest.CaptureFixture[str]
) -> None:
    """At once, though its lease is an hour. How soon that is is printed: machines are shared."""
    producer = linked.produce(fps=100, slots=8, credit=4, lease_ms=3600_000)
    took_ms = []
    for _ in range(5):
        consumer = linked.consume(hold=4, credit=4)
        consumer.wait(lambda line: line["held"] == 4, "its hands to be full")
        producer.wait(lambda line: line["held"] == 4, "its frames to be held")
        said = len(producer.lines)
        killed = time.monotonic_ns()
        consumer.program.signal(signal.SIGKILL)
        left = producer.wait(
            lambda line: line["event"] == "left", "the consumer to be missed", since=said
        )
        assert left["held"] == 0 and left["consumers"] == 0
        took_ms.append((left["t"] - killed) / 1e6)
        consumer.program.wait()
    with capsys.disabled():
        print(f"kill to release, ms: median {sorted(took_ms)[2]:.1f} of {len(took_ms)}")


def test_a_killed_producer_is_missed(linked: Linked) -> None:
    producer = linked.produce()
    consumer = linked.consume(hold=2)
    waiting = linked.consume(hold=2, reconnect=True)
    for peer in (consumer, waiting):
        peer.wait_frames(50)
    producer.program.signal(signal.SIGKILL)
    line = consumer.wait_state(ENDED)
    assert line["reason"] == -errno.EPIPE
    assert consumer.program.wait() == 0
    line = waiting.wait_state(WAITING)
    assert line["reason"] == -errno.EPIPE and line["torn"] == 0


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_consumer_finds_a_producer_that_returns(linked: Linked, end: signal.Signals) -> None:
    consumer = linked.consume(hold=2, reconnect=True)
    assert consumer.last["state"] == WAITING
    for round_ in range(3):
        producer = linked.produce()
        # A dead producer's slabs are revoked: what was unread then cannot be imported any more.
        lost = consumer.wait_state(LIVE)["lost_imports"]
        line = consumer.wait_frames(50)
        assert line["reconnects"] == round_ and line["torn"] == 0 and line["lost_imports"] == lost
        producer.program.signal(end)
        producer.program.wait()
        assert consumer.wait_state(WAITING)["reason"] == (
            -errno.EPIPE if end == signal.SIGKILL else 0
        )


def test_a_producer_that_returns_at_once(linked: Linked) -> None:
    """The next one may publish before gidd has told anybody that the last one died."""
    producer = linked.produce()
    consumer = linked.consume(reconnect=True)
    consumer.wait_frames(20)
    for _round in range(5):
        again = consumer.last["reconnects"] + 1
        producer.program.signal(signal.SIGKILL)
        producer.program.wait()
        producer = linked.produce()
        consumer.wait(lambda line, again=again: line["reconnects"] == again, "it to come back")
        line = consumer.wait_frames(20)
        assert line["torn"] == 0


@pytest.mark.parametrize("way", ["ivshmem", "hub"])
def test_memory_of_the_dead_is_not_taken_for_whole(
    make_cockpit: Callable[..., Cockpit], way: str
) -> None:
    """It is another's before the reader, whose gidd stands still, has heard of its owner's end."""
    linked = link(make_cockpit, way)
    producer = linked.produce()
    consumer = linked.consume(hold=4)
    consumer.wait(lambda line: line["held"] == 4, "its hands to be full")
    gidd = linked.cockpit.gidds[linked.reader]
    gidd.signal(signal.SIGSTOP)
    try:
        producer.program.signal(signal.SIGKILL)
        wait_for(lambda: not linked.cockpit.status(linked.owner)["slabs"], "gidd to miss it")
        linked.produce().wait_frames(20)
        consumer.program.signal(signal.SIGTERM)
        wait_for(lambda: consumer.last["event"] == "ending", "its end")
    finally:
        gidd.signal(signal.SIGCONT)
    assert consumer.last["torn"] == 0 and consumer.last["lost_imports"] == 0


def test_a_sleeper_hears_of_the_end_from_gidd(linked: Linked) -> None:
    """While it sleeps on its doorbell; again and again, so that it may not ask anew at once."""
    producer = linked.produce(fps=1)
    consumer = linked.consume(reconnect=True)
    for _round in range(6):
        consumer.wait_state(LIVE)
        consumer.wait_frames(1)
        consumer.program.signal(signal.SIGSTOP)
        producer.program.signal(signal.SIGKILL)
        wait_for(
            lambda: not linked.cockpit.status(linked.owner)["streams"], "gidd to miss the producer"
        )
        wait_for(
            lambda: not linked.cockpit.status(linked.reader)["subscriptions"],
            "the subscription's end",
        )
        consumer.program.signal(signal.SIGCONT)
        consumer.wait_state(WAITING)
        producer = linked.produce(fps=20)


def test_waiting_consumers_outlive_gidd(linked: Linked) -> None:
    consumer = linked.consume(reconnect=True)
    for domain in (linked.owner, linked.reader):
        linked.cockpit.restart(domain)
    consumer.wait(lambda line: line["connected"], "it to find its gidd again")
    linked.produce()
    consumer.wait_state(LIVE)
    consumer.wait_frames(50)


def test_cycles_of_processes_leave_nothing(linked: Linked) -> None:
    """Fifty consumers that come and are killed; a thousand that leave are in test_stream.c."""
    producer = linked.produce(fps=200, slots=8, credit=2)
    fds = len(os.listdir(f"/proc/{producer.pid}/fd"))
    maps = producer.maps()
    for round_ in range(50):
        consumer = linked.consume(hold=2, reconnect=True)
        consumer.wait(lambda line: line["frames"] >= 1, "a frame")
        consumer.program.kill() if round_ % 2 else consumer.program.stop()
    producer.wait(lambda line: line["consumers"] == 0 and line["held"] == 0, "all to be gone")
    wait_for(
        lambda: len(os.listdir(f"/proc/{producer.pid}/fd")) == fds, "its descriptors to be closed"
    )
    assert producer.maps() == maps
