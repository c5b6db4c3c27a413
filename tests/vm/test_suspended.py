# SPDX-License-Identifier: MIT
"""A guest that suspends itself while streams flow, and is woken. Its programs stand still in the
midst of what they do, and its drivers throw away what is on its way to them.

Streams come back by themselves, and no reader is shown a picture that was not sent so.
"""

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from both_ways import FRAMES, NOTHING, PROGRAMS, Streams, bad, has_failed_since
from gid_vm.agent import Command
from gid_vm.guest import Guest, why_not
from guests import SECONDS
from lib.display import with_deadline
from lib.program import wait_for
from saved import Savable, with_guest

ROUNDS = int(os.environ.get("GIDWAY_ROUNDS", 1))
DEADLINE_MS = 2000
STILL_SECONDS = 5.0  # without a frame: it sleeps
WAKE_SECONDS = 1.0
SUSPENDED = "the hub: lost: this machine was suspended"
LOG = Path("/var/log/gidd.log")
SUCCESS = Path("/sys/power/suspend_stats/success")
KEYBOARD = "/sys/devices/platform/i8042/serio0"

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(600 + 120 * ROUNDS),
]


@pytest.fixture(params=["s2idle", "deep"])
def how(request: pytest.FixtureRequest) -> str:
    """As /sys/power/mem_sleep has it: with the machine on, or off but for its memory."""
    return request.param


@pytest.fixture
def machines(how: str) -> Iterator[Savable]:
    machines = Savable(with_guest(), PROGRAMS, s3=how == "deep")
    try:
        machines.boot("open")
        yield machines
    finally:
        machines.close()


def suspend(guest: Guest, how: str) -> Command:
    """Whoever asks it for anything while it falls asleep may wait for ever: that is lost."""
    script = [f"echo {how} >/sys/power/mem_sleep", "sleep 1", "echo mem >/sys/power/state"]
    if how == "s2idle":
        script.insert(0, f"echo enabled >{KEYBOARD}/power/wakeup")
    return guest.start(["sh", "-c", " && ".join(script)])


@contextmanager
def waking(machines: Savable, how: str) -> Iterator[None]:
    """Again and again: who is told so before he sleeps does not hear it."""
    done = threading.Event()

    def wake() -> None:
        while not done.wait(WAKE_SECONDS):
            with machines.monitor("open") as monitor:
                if how == "s2idle":
                    monitor.execute("send-key", keys=[{"type": "qcode", "data": "shift"}])
                elif monitor.execute("query-status")["status"] == "suspended":
                    monitor.execute("system_wakeup")

    thread = threading.Thread(target=wake)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def frames(streams: Streams) -> int:
    """Of the guest, that the host's reader had."""
    return streams.reader.lines("t")[-1]["frames"]


def wait_asleep(command: Command, streams: Streams) -> None:
    """Until no frame comes, and who suspended the machine is there no more than others."""

    def sleeps() -> bool:
        assert command.code is None, f"{command.code}: {command.texts['err'].decode()}"
        before = frames(streams)
        time.sleep(STILL_SECONDS)
        return frames(streams) == before

    wait_for(sleeps, "it to sleep", SECONDS)


def wake_up(machines: Savable, streams: Streams, how: str) -> None:
    asleep = frames(streams)
    with waking(machines, how):
        wait_for(lambda: frames(streams) > asleep + FRAMES, "frames", SECONDS)


def test_a_guest_that_suspends_itself(machines: Savable, tmp_path: Path, how: str) -> None:
    """The display has the telltale's fallback meanwhile."""
    streams = Streams(machines, tmp_path, with_deadline(DEADLINE_MS))
    dice = random.Random(36)
    now = streams.wait_anew([NOTHING, NOTHING])
    seen = bad(now, [NOTHING, NOTHING])
    rounds = ROUNDS if how == "s2idle" else 1  # QEMU 10.0 hears of no second sleep of that kind
    for number in range(rounds):
        time.sleep(dice.uniform(0, 1))
        before, faults, began = now, machines.link("open")["faults"], time.monotonic_ns()
        command = suspend(machines.guests["open"], how)
        wait_asleep(command, streams)
        assert has_failed_since(streams, began)
        assert streams.display.role()["state"] in ("late", "lost")
        wake_up(machines, streams, how)
        assert command.wait(SECONDS).code == 0
        now = streams.wait_anew(before)
        seen.update(found := bad(now, before))
        print(f"{how}, {number + 1} of {rounds}: {dict(found)}", flush=True)
        machines.wait_link("open", "up")
        assert machines.link("open")["faults"] == faults, "it is nobody's fault"
    slept = machines.guests["open"].read(SUCCESS, SECONDS)
    assert int(slept) == rounds
    assert not +seen
    assert SUSPENDED in (machines.guests["open"].read(LOG, SECONDS) or b"").decode()
    streams.end()
