# SPDX-License-Identifier: MIT
"""A guest's stream is taken from another guest, which has mapped the window and does not let go.

Before other tests fill the window: what they leave there its readers may see.
"""

import signal
import subprocess
import time
from pathlib import Path

import pytest
from gid_vm.guest import why_not
from guests import SECONDS, Machines
from lib.program import BUILD, wait_for

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]

PEER = BUILD / "tests/lib/programs/stream-peer"
LIVE = 2
GIDCTL = BUILD / "tools" / "gidctl" / "gidctl"
LEASE = "lease_ms=600000"
STREAM = "film"  # which both the host and open read


def test_a_reader_that_does_not_let_go(machines: Machines) -> None:
    (path,) = (machines.configuration.runtime / "window" / "cluster").glob("*.1-3")
    index = 256 * int(path.name.partition(".")[0]) + 2
    words = ["produce", STREAM, "fps=20", "lossless=1", LEASE]
    producer = machines.start("cluster", "stream-peer", *words)
    producer.wait_lines("frames", 1)
    consumers = [
        machines.start(domain, program, "consume", "cluster", STREAM)
        for domain, program in (("host", PEER), ("open", "stream-peer"))
    ]
    for consumer in consumers:
        consumer.wait_more(20)
    other, loser = consumers
    spy = machines.start("open", "python3", Path(__file__).with_name("spy.py"), str(index))
    assert spy.wait_lines("sees", 1)[0]["sees"] > 0
    began = time.monotonic()
    command = [GIDCTL, "revoke", "cluster", STREAM, "--from=open"]
    subprocess.run(command, env=machines.host.env("host"), check=True, timeout=SECONDS)
    wait_for(lambda: spy.lines("sees")[-1]["sees"] == 0, "it to see nothing", SECONDS)
    print(f"# it saw nothing {(time.monotonic() - began) * 1000:.0f} ms after the command began")
    other.wait_more(20)
    last = other.lines("frames")[-1]
    assert (last["torn"], last["missed"], last["lost_imports"]) == (0, 0, 0), last
    assert spy.is_running and spy.lines("sees")[-1]["sees"] == 0
    wait_for(lambda: loser.lines("frames")[-1]["state"] != LIVE, "the loser's end", SECONDS)
    for program in (spy, producer, other, loser):
        program.signal(signal.SIGTERM)
        program.finish()
