# SPDX-License-Identifier: MIT
"""Messages from one domain to another (5.1.5)."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from ..plan import Cockpit, Context, Goal, Plan
from ..result import Figure

SIZES = (16, 128, 1024, 4096, 65536)  # bytes
DEAREST = "dearest size, ratio to a bare futex with the same bytes"


@contextmanager
def _echo(cockpit: Cockpit) -> Iterator[None]:
    """A program of the domain cluster that sends back what open sends."""
    environment = os.environ | cockpit.environment("cluster")
    command = ["gid-probe", "message", "echo", "open"]
    null = subprocess.DEVNULL
    echo = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, env=environment)
    try:
        yield
    finally:
        echo.terminate()
        echo.wait(10)


def _messages(context: Context) -> list[Figure]:
    with context.cockpit() as cockpit, _echo(cockpit):
        sizes = [str(size) for size in SIZES]
        figures = context.probe(cockpit.open, "message", "ping", "cluster", *sizes)
    by_name = {one.name: one.value for one in figures}
    ratios = [
        by_name[f"{size} bytes, there and back"] / by_name[f"{size} bytes, by a bare futex"]
        for size in SIZES
    ]
    spread = (min(ratios), max(ratios))
    figures.append(Figure(DEAREST, max(ratios), "", len(ratios), spread, "gid-probe message"))
    context.notes.append(
        "Both sides sleep before each message, write all of its bytes and read all of them. By a "
        "bare futex the same bytes go through memory that two processes share, in turn with the "
        "messages of gid; no gid is checked there, no credit counted and no slot given back."
    )
    return figures


PLANS = [
    Plan(
        "5.1.5",
        "Messages between domains",
        "A program of one domain writes a message into a slot of its memory and sends the slot's "
        "number; a program of another reads it where it lies and answers.",
        _messages,
        goals=(Goal(DEAREST, 1.1),),
        minutes=(0.2, 0.2),
    ),
]
