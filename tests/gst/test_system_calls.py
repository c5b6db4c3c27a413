# SPDX-License-Identifier: MIT
"""What a frame costs in system calls: none that waits for anybody, one to wake and one to sleep."""

import re
from pathlib import Path

from lib.cockpit import Cockpit
from lib.pipeline import gst_env
from lib.program import PATIENCE, Program

FRAMES = 6000
# What starting and ending a pipeline takes, and a wake now and then on a busy machine.
BESIDES = 2000
SLOW_FRAMES = 1500
CALLS = re.compile(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", re.M)

# Those by which threads and processes wait and wake.
WAITING = {
    *("futex", "futex_waitv", "poll", "ppoll", "epoll_wait", "epoll_pwait", "read", "write"),
    *("recvfrom", "recvmsg", "sendto", "sendmsg", "clock_nanosleep"),
}


def start(cockpit: Cockpit, domain: str, *command: str) -> Program:
    env = gst_env(cockpit.env(domain), cockpit.folder / "registry.bin")
    return Program(command, env, cockpit.folder, name=f"{command[0]}-{domain}")


def traced(cockpit: Cockpit, domain: str, trace: Path, pipeline: str) -> Program:
    strace = ("strace", "-f", "-c", "-o", str(trace))
    return start(cockpit, domain, *strace, "gst-launch-1.0", "-q", *pipeline.split())


def calls(trace: Path) -> dict[str, int]:
    summary = trace.read_text()
    found = {name: int(count) for count, name in CALLS.findall(summary)}
    assert found.get("futex"), summary
    return found


def waiting(trace: Path) -> int:
    return sum(count for name, count in calls(trace).items() if name in WAITING)


def test_at_most_one_call_a_frame(cockpit: Cockpit, tmp_path: Path) -> None:
    """Small frames, sent without a pause. The consumer may sleep before each of them, or not."""
    receiving = "gidsrc domain=open stream=movie ! fakesink sync=false"
    receiver = traced(cockpit, "cluster", tmp_path / "receiver", receiving)
    sending = (
        f"videotestsrc pattern=black num-buffers={FRAMES} ! video/x-raw,width=64,height=64 "
        "! gidsink stream=movie sync=false wait-for-connection=true"
    )
    sender = traced(cockpit, "open", tmp_path / "sender", sending)
    for program in (sender, receiver):
        assert program.wait(2 * PATIENCE) == 0, program.stderr
    assert waiting(tmp_path / "sender") <= FRAMES + BESIDES
    assert waiting(tmp_path / "receiver") <= FRAMES + BESIDES


def test_a_loop_does_not_wake_itself(cockpit: Cockpit, tmp_path: Path) -> None:
    """A sender that waits for a slow consumer hears of what comes back, by two looks each time. It
    would write to its own loop as often, if that stopped to poll the descriptor meanwhile."""
    receiving = "gidsrc domain=open stream=movie ! identity sleep-time=1000 ! fakesink sync=false"
    env = gst_env(cockpit.env("cluster"), cockpit.folder / "registry.bin")
    receiver = Program(("gst-launch-1.0", "-q", *receiving.split()), env, cockpit.folder)
    sending = (
        f"videotestsrc pattern=black num-buffers={SLOW_FRAMES} ! video/x-raw,width=64,height=64 "
        "! gidsink stream=movie leaky=false sync=false wait-for-connection=true"
    )
    sender = traced(cockpit, "open", tmp_path / "sender", sending)
    for program in (sender, receiver):
        assert program.wait(2 * PATIENCE) == 0, program.stderr
    found = calls(tmp_path / "sender")
    looks = found.get("epoll_wait", 0) + found.get("epoll_pwait", 0)
    assert looks >= SLOW_FRAMES / 4
    assert found["write"] < looks / 2
