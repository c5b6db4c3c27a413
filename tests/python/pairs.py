# SPDX-License-Identifier: MIT
"""A producer and its consumer, of two domains, in one program; and the end of other programs."""

import signal

import gid
from lib.program import Program, wait_for

LEASE = 60.0  # seconds: a busy machine takes more than the second that it is


def make_pair(
    sends: gid.Domain, reads: gid.Domain, format: str = "R8", slots: int = 4, **how: object
) -> tuple[gid.Producer, gid.Consumer]:
    producer = sends.producer("test", format, 8, 4, slots=slots, lease=LEASE)
    consumer = reads.consumer("test", sends.name, **how)
    wait_for(lambda: producer.consumers, "the consumer to have subscribed")
    return producer, consumer


def send(producer: gid.Producer, value: int, **said: object) -> None:
    with producer.slot(**said) as picture:
        picture[...] = value


def stop(*programs: Program) -> None:
    """They run until they are told to end, and end well then."""
    for program in programs:
        assert program.is_running(), program.stderr
        program.signal(signal.SIGTERM)
    for program in programs:
        assert program.wait() == 0, program.stderr
