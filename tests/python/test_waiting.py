# SPDX-License-Identifier: MIT
"""How readers in Python wait: over the ring while frames flow, and for descriptors else."""

import re
import signal
import sys
import threading
import time
from pathlib import Path

import gid
import pytest
from lib.cockpit import Cockpit
from lib.program import wait_for
from pairs import LEASE, make_pair, send

FRAMES = 200
# What is done now and then: gidd is heard, and a busy machine makes one sleep twice.
SELDOM = FRAMES // 2

SEND = f"""
import os, time, gid
with gid.Domain() as domain, domain.producer("test", "R8", 8, 4, lease={LEASE}) as producer:
    while not producer.consumers:
        time.sleep(0.01)
    for number in range({FRAMES + 50}):
        if number == 25:
            os.write(2, b"begin\\n")
        with producer.slot() as picture:
            picture[...] = 1
        time.sleep(0.01)
        if number == {FRAMES + 24}:
            os.write(2, b"end\\n")
"""
READ = f"""
import os, gid
with gid.Domain() as domain:
    for number, frame in enumerate(domain.consumer("test", "open")):
        if number == 20:
            os.write(2, b"begin\\n")
        with frame as picture:
            assert picture.any()
        if number == {FRAMES + 19}:
            os.write(2, b"end\\n")
"""


def calls_of(trace: Path) -> list[str]:
    lines = trace.read_text().splitlines()
    marks = [i for i, line in enumerate(lines) if re.search(r'write\(2, "(begin|end)\\n"', line)]
    assert len(marks) == 2, f"{len(marks)} marks in the trace"
    return [line for line in lines[marks[0] + 1 : marks[1]] if "resumed>" not in line]


def test_a_frame_takes_each_side_one_system_call(cockpit: Cockpit, tmp_path: Path) -> None:
    """The reader's sleep, and the producer's ring, which here sleeps between its frames, too."""
    strace = ["strace", "-f", "-o"]
    program = [sys.executable, "-c"]
    reader = cockpit.run("cluster", [*strace, str(tmp_path / "reader"), *program, READ], "reader")
    sender = cockpit.run("open", [*strace, str(tmp_path / "sender"), *program, SEND], "sender")
    assert sender.wait() == 0, sender.stderr
    assert reader.wait() == 0, reader.stderr
    for name, each in (("reader", 1), ("sender", 2)):
        calls = calls_of(tmp_path / name)
        assert len(calls) <= each * FRAMES + SELDOM, f"{name}: {len(calls)} calls: {calls[:20]}"


def flow(producer: gid.Producer, consumer: gid.Consumer) -> None:
    """A frame has just come: who waits now does so over the ring."""
    send(producer, 1)
    consumer.frame(60).release()


class Waiter(threading.Thread):
    """One more thread that waits for a frame."""

    def __init__(self, consumer: gid.Consumer, timeout: float | None = 60) -> None:
        super().__init__()
        self._consumer, self._timeout = consumer, timeout
        self.frames: list[gid.Frame] = []
        self.errors: list[BaseException] = []
        self.start()

    def run(self) -> None:
        try:
            self.frames.append(self._consumer.frame(self._timeout))
        except BaseException as error:
            self.errors.append(error)


def test_what_flows_may_stop_and_go_on(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    """Whoever waits is woken, in whichever way it waits by then."""
    producer, consumer = pair
    for pause in (0.0, 0.03, 0.2) * 3:
        flow(producer, consumer)
        waiter = Waiter(consumer)
        time.sleep(pause)
        send(producer, 7)
        waiter.join(60)
        assert [int(frame.picture[0, 0]) for frame in waiter.frames] == [7], waiter.errors
        waiter.frames.clear()


def test_a_time_limit_holds_in_either_way(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    producer, consumer = pair
    for limit in (0.0, 0.02, 0.3):
        flow(producer, consumer)
        begin = time.monotonic()
        with pytest.raises(gid.GidTimeoutError, match="its producer sent none"):
            consumer.frame(limit)
        assert limit <= time.monotonic() - begin < limit + 30


def test_threads_join_one_that_sleeps(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    producer, consumer = pair
    for _ in range(3):
        flow(producer, consumer)
        waiters = [Waiter(consumer) for _ in range(3)]
        for value in range(3):
            time.sleep(0.01)
            send(producer, value)
        for waiter in waiters:
            waiter.join(60)
        got = [int(frame.picture[0, 0]) for waiter in waiters for frame in waiter.frames]
        assert sorted(got) == [0, 1, 2], [waiter.errors for waiter in waiters]
        del waiters


def test_closing_wakes_who_sleeps(domains: tuple[gid.Domain, gid.Domain]) -> None:
    """And the stream is left, by whoever comes last."""
    producer, consumer = make_pair(*domains)
    flow(producer, consumer)
    waiter = Waiter(consumer, None)
    time.sleep(0.03)
    consumer.close()
    waiter.join(60)
    assert "is closed" in str(waiter.errors[0])
    wait_for(lambda: not producer.consumers, "its subscription to end")


def test_the_end_wakes_who_sleeps(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    producer, consumer = pair
    flow(producer, consumer)
    waiter = Waiter(consumer)
    time.sleep(0.03)
    producer.close()
    waiter.join(60)
    assert isinstance(waiter.errors[0], gid.EndOfStream)


class Interrupt(Exception):
    """Raised by a signal's handler."""


def test_an_interrupt_ends_a_sleep_and_no_more(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    producer, consumer = pair

    def interrupt(*_: object) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(20):
            flow(producer, consumer)
            with pytest.raises(Interrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.02)
                consumer.frame(60)
    finally:
        signal.signal(signal.SIGALRM, before)
    waiter = Waiter(consumer)  # another thread may go on with it
    send(producer, 9)
    waiter.join(60)
    assert [int(frame.picture[0, 0]) for frame in waiter.frames] == [9], waiter.errors


def test_what_cannot_be_said_costs_no_slot(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    producer, _ = pair
    for _ in range(9):  # more often than there are slots
        with pytest.raises((OverflowError, TypeError)):
            producer.slot(1).submit(pts=-1)
    send(producer, 5)
