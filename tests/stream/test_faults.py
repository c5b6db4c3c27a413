# SPDX-License-Identifier: MIT
"""What a stopped, killed or missing process does to the others: nothing that they cannot bear."""

import errno
import os
import signal
import time

import pytest
from lib.cockpit import Cockpit
from lib.peer import ENDED, LIVE, WAITING, consume, produce
from lib.program import wait_for


def test_frames_arrive_whole(cockpit: Cockpit) -> None:
    producer = produce(cockpit, "movie", fps=500)
    consumers = [
        consume(cockpit, "movie"),
        consume(cockpit, "movie", hold=3),
        consume(cockpit, "movie", domain="open"),
        consume(cockpit, "movie", drop_old=True, spin_us=200),
    ]
    producer.wait(lambda line: line["consumers"] == 4, "four consumers")
    for consumer in consumers:
        consumer.wait_frames(500)
        assert consumer.last["torn"] == 0 and consumer.last["lost_imports"] == 0


def test_a_stopped_consumer_disturbs_nobody(cockpit: Cockpit) -> None:
    """For eight seconds, with frames in its hands and a lease of four seconds."""
    # Six seconds in the other's hand, for the pauses of a busy machine.
    producer = produce(cockpit, "movie", fps=10, slots=80, credit=60, lease_ms=4000)
    other = consume(cockpit, "movie", hold=1, credit=60)
    stopped = consume(cockpit, "movie", hold=1)
    late = consume(cockpit, "movie", drop_old=True, hold=1)
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
    assert producer.memory_kib() <= memory + 64 and producer.maps() <= maps
    for consumer in (stopped, late):
        consumer.program.signal(signal.SIGCONT)
        line = consumer.wait_frames(20)
        assert line["state"] == LIVE and line["torn"] == 0
        assert line["discont"] >= 1 and line["missed"] >= 15


def test_a_killed_consumer_gives_its_frames_back(
    cockpit: Cockpit, capsys: pytest.CaptureFixture[str]
) -> None:
    """At once, though its lease is an hour. How soon that is is printed: machines are shared."""
    producer = produce(cockpit, "movie", fps=100, slots=8, credit=4, lease_ms=3600_000)
    took_ms = []
    for _ in range(5):
        consumer = consume(cockpit, "movie", hold=4, credit=4)
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


def test_a_killed_producer_is_missed(cockpit: Cockpit) -> None:
    producer = produce(cockpit, "movie")
    consumer = consume(cockpit, "movie", hold=2)
    waiting = consume(cockpit, "movie", hold=2, reconnect=True)
    for peer in (consumer, waiting):
        peer.wait_frames(50)
    producer.program.signal(signal.SIGKILL)
    line = consumer.wait_state(ENDED)
    assert line["reason"] == -errno.EPIPE
    assert consumer.program.wait() == 0
    line = waiting.wait_state(WAITING)
    assert line["reason"] == -errno.EPIPE and line["torn"] == 0


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_consumer_finds_a_producer_that_returns(cockpit: Cockpit, end: signal.Signals) -> None:
    consumer = consume(cockpit, "movie", hold=2, reconnect=True)
    assert consumer.last["state"] == WAITING
    for round_ in range(3):
        producer = produce(cockpit, "movie")
        # A dead producer's slabs are revoked: what was unread then cannot be imported any more.
        lost = consumer.wait_state(LIVE)["lost_imports"]
        line = consumer.wait_frames(50)
        assert line["reconnects"] == round_ and line["torn"] == 0 and line["lost_imports"] == lost
        producer.program.signal(end)
        producer.program.wait()
        assert consumer.wait_state(WAITING)["reason"] == (
            -errno.EPIPE if end == signal.SIGKILL else 0
        )


def test_a_producer_that_returns_at_once(cockpit: Cockpit) -> None:
    """The next one may publish before gidd has told anybody that the last one died."""
    producer = produce(cockpit, "movie")
    consumer = consume(cockpit, "movie", reconnect=True)
    consumer.wait_frames(20)
    for _round in range(5):
        again = consumer.last["reconnects"] + 1
        producer.program.signal(signal.SIGKILL)
        producer.program.wait()
        producer = produce(cockpit, "movie")
        consumer.wait(lambda line, again=again: line["reconnects"] == again, "it to come back")
        line = consumer.wait_frames(20)
        assert line["torn"] == 0


def test_a_sleeper_hears_of_the_end_from_gidd(cockpit: Cockpit) -> None:
    """While it sleeps on its doorbell; again and again, so that it may not ask anew at once."""
    producer = produce(cockpit, "movie", fps=1)
    consumer = consume(cockpit, "movie", reconnect=True)
    for _round in range(6):
        consumer.wait_state(LIVE)
        consumer.wait_frames(1)
        consumer.program.signal(signal.SIGSTOP)
        producer.program.signal(signal.SIGKILL)
        wait_for(lambda: not cockpit.status("open")["streams"], "gidd to miss the producer")
        wait_for(lambda: not cockpit.status("cluster")["subscriptions"], "the subscription's end")
        consumer.program.signal(signal.SIGCONT)
        consumer.wait_state(WAITING)
        producer = produce(cockpit, "movie", fps=20)


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


def test_waiting_consumers_outlive_gidd(cockpit: Cockpit) -> None:
    consumer = consume(cockpit, "movie", reconnect=True)
    for domain in ("open", "cluster"):
        cockpit.restart(domain)
    consumer.wait(lambda line: line["connected"], "it to find its gidd again")
    produce(cockpit, "movie")
    consumer.wait_state(LIVE)
    consumer.wait_frames(50)


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


def test_cycles_of_processes_leave_nothing(cockpit: Cockpit) -> None:
    """Fifty consumers that come and are killed; a thousand that leave are in test_stream.c."""
    producer = produce(cockpit, "movie", fps=200, slots=8, credit=2)
    fds = len(os.listdir(f"/proc/{producer.pid}/fd"))
    maps = producer.maps()
    for round_ in range(50):
        consumer = consume(cockpit, "movie", hold=2, reconnect=True)
        consumer.wait(lambda line: line["frames"] >= 1, "a frame")
        consumer.program.kill() if round_ % 2 else consumer.program.stop()
    producer.wait(lambda line: line["consumers"] == 0 and line["held"] == 0, "all to be gone")
    wait_for(
        lambda: len(os.listdir(f"/proc/{producer.pid}/fd")) == fds, "its descriptors to be closed"
    )
    assert producer.maps() == maps
