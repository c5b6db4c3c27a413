# SPDX-License-Identifier: MIT
"""gidsink and gidsrc with each of their system calls failing once, from the connection on: the
pipeline plays to its end, or ends with an error; gidd and the other end are none the worse.
"""

import pytest
from injected import Fault, Traced, faults, learn, sample, try_each
from lib.cockpit import Cockpit
from lib.peer import PEER
from lib.pipeline import gst_env
from lib.program import PATIENCE, wait_for

MOST_OF_A_NAME = 12
IN_CI = 10
# GLib ends a program that gets no memory or no thread; and wakes itself by an eventfd, which has
# always room.
NOT_OURS = {"brk", "clone", "clone3", "mmap", "mremap", "write"}
SINK = (
    "videotestsrc num-buffers=15 ! video/x-raw,format=BGRx,width=64,height=64,framerate=60/1 "
    "! gidsink stream=movie"
)
SRC = "gidsrc domain=open stream=movie num-buffers=15 ! fakesink"


def play(cockpit: Cockpit, domain: str, text: str, fault: Fault | None) -> Traced:
    env = gst_env({}, cockpit.folder / "registry.bin")
    words = ["env", *map("=".join, env.items()), "gst-launch-1.0", "-q", *text.split()]
    return Traced(cockpit, domain, words, fault)


@pytest.mark.parametrize(
    ("domain", "text"), [("open", SINK), ("cluster", SRC)], ids=["sink", "src"]
)
@pytest.mark.timeout(6000)
def test_each_call_fails_once(cockpit: Cockpit, domain: str, text: str) -> None:
    gidd = cockpit.gidds[domain]
    other = None
    if domain == "cluster":
        other = cockpit.run("open", [PEER, "produce", "movie"])
        wait_for(lambda: cockpit.status("open")["streams"], "the stream")
    play(cockpit, domain, text, None).wait()  # makes GStreamer's registry
    first = play(cockpit, domain, text, None)
    assert first.wait() == 0, first.stderr
    all_of_them = [
        fault
        for fault in faults(learn(first, "gidd.sock"), MOST_OF_A_NAME, threads=True)
        if fault.call not in NOT_OURS
    ]
    assert len(all_of_them) > IN_CI

    def withstand(fault: Fault) -> None:
        pipeline = play(cockpit, domain, text, fault)
        try:
            pipeline.wait(PATIENCE)
            pipeline.check_ended_well()
        finally:
            pipeline.kill()
        assert gidd.is_running(), gidd.stderr
        assert other is None or other.is_running(), other.stderr

    try_each(sample(all_of_them, IN_CI), withstand)
    # The next one has all that there is.
    assert play(cockpit, domain, text, None).wait() == 0
