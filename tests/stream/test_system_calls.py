# SPDX-License-Identifier: MIT
"""No system call a frame while the other side is awake."""

import re
from pathlib import Path

from lib.cockpit import Cockpit
from lib.peer import PEER, Peer, options
from lib.program import PATIENCE, wait_for

FRAMES = 20000

# What an awake end does now and then: look after gidd (ten times a second), set its lease's timer
# (once a lease), and make up for what the other end slept through on a busy machine.
SELDOM = FRAMES // 50


def traced(
    cockpit: Cockpit, domain: str, trace: Path, *arguments: object, **values: object
) -> Peer:
    command = ["strace", "-f", "-o", str(trace), PEER, *arguments, *options(values)]
    return Peer(cockpit.run(domain, command, str(arguments[0])))


def calls_between_marks(trace: Path) -> list[str]:
    lines = trace.read_text().splitlines()
    marks = [i for i, line in enumerate(lines) if re.search(r'write\(2, "(begin|end)\\n"', line)]
    assert len(marks) == 2, f"{len(marks)} marks in the trace"
    return lines[marks[0] + 1 : marks[1]]


def test_no_call_a_frame(cockpit: Cockpit, tmp_path: Path) -> None:
    producer_trace, consumer_trace = tmp_path / "producer", tmp_path / "consumer"
    values = {"frames": FRAMES, "mark": True, "credit": 60}
    producer = traced(
        cockpit, "open", producer_trace, "produce", "movie", slots=64, quiet=True, **values
    )
    wait_for(lambda: producer.lines, "the producer to publish")
    consumer = traced(
        cockpit, "cluster", consumer_trace, "consume", "open", "movie", spin_us=1000000, **values
    )
    assert producer.program.wait(2 * PATIENCE) == 0, producer.program.stderr
    done = next(line for line in producer.lines if line["event"] == "done")
    assert done["delivered"] == FRAMES
    assert consumer.program.wait(2 * PATIENCE) == 0, consumer.program.stderr
    assert consumer.last["frames"] == FRAMES and consumer.last["torn"] == 0
    for trace in (producer_trace, consumer_trace):
        calls = calls_between_marks(trace)
        assert len(calls) <= SELDOM, f"{len(calls)} calls for {FRAMES} frames: {calls[:20]}"
