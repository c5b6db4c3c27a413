# SPDX-License-Identifier: MIT
"""Messages from one domain to another (5.1.5), and doorbells."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..plan import Context, Goal, Plan
from ..result import Figure

SIZES = (16, 128, 1024, 4096, 65536)  # bytes
EVENTFD = "wake-up of another core and back"


@contextmanager
def _echo() -> Iterator[None]:
    """A program of the domain cluster that sends back what open sends."""
    environment = os.environ | {"GID_DOMAIN": "cluster"}
    command = ["gid-probe", "message", "echo", "open"]
    null = subprocess.DEVNULL
    echo = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, env=environment)
    try:
        yield
    finally:
        echo.terminate()
        echo.wait(10)


def _messages(context: Context) -> list[Figure]:
    figures = []
    with context.cockpit():
        time.sleep(0.5)  # gidd's sockets
        with _echo():
            sizes = [str(size) for size in SIZES]
            figures = context.probe(context.native, "message", "ping", "cluster", *sizes)
    bare = [one for one in context.probe(context.native, "calls") if one.name == EVENTFD]
    trips = [one.value for one in figures if one.name.endswith("there and back")]
    worst = max(trips) / bare[0].value
    figures += bare
    source = "gid-probe message, gid-probe calls"
    figures.append(
        Figure(
            "slowest round trip, ratio to a bare eventfd", worst, "", len(trips), (0, worst), source
        )
    )
    context.notes.append(
        "Both sides sleep before each message, write all of its bytes and read all of them. "
        "The bare eventfd carries nothing."
    )
    return figures


PLANS = [
    Plan(
        "5.1.5",
        "Messages between domains",
        "A program of one domain writes a message into a slot of its memory and sends the slot's "
        "number; a program of another reads it where it lies and answers.",
        _messages,
        goals=(Goal("slowest round trip, ratio to a bare eventfd", 1.1),),
        document=(("16 bytes", "5.67 µs"), ("1024 bytes", "5.54 µs"), ("64 KB", "5.54 µs")),
    ),
]
