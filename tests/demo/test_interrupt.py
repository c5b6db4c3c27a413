# SPDX-License-Identifier: MIT
"""What the demo does when it is interrupted while machines run: it says so, and can be hurried."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from gid_vm.guest import why_not
from lib.program import BUILD, PATIENCE, TOP, wait_for

from demo.demo import Demo
from lab.domains import cockpit as cockpits

LOOK_SECONDS = 0.5  # between looks at all programs of this machine


class Place:
    """A domain that takes long to end, unless it is killed."""

    def __init__(self, seconds: float = 0) -> None:
        self.seconds = seconds
        self.asked, self.ended = threading.Event(), threading.Event()
        self.others: list[Place] = []  # whom it waits for to be asked as well
        self.killed = False

    def stop_all(self) -> None:
        self.asked.set()
        assert all(other.asked.wait(PATIENCE) for other in self.others)
        self.ended.wait(self.seconds)

    def kill(self) -> None:
        self.killed = True
        self.ended.set()


class Progress:
    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    update = done = say


@pytest.fixture
def cockpit() -> cockpits.Cockpit:
    cockpit = cockpits.Cockpit.__new__(cockpits.Cockpit)
    cockpit._guests = {"open", "cluster"}
    cockpit._places = {"host": Place(), "cluster": Place(), "open": Place()}
    return cockpit


def interrupt_once(places: list[Place]) -> None:
    """All of these are asked to end."""

    def wait_and_interrupt() -> None:
        for place in places:
            place.asked.wait()
        time.sleep(0.3)  # whoever asked them waits now
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait_and_interrupt).start()


def test_guests_end_side_by_side(cockpit: cockpits.Cockpit) -> None:
    guests = [cockpit._places[name] for name in ("cluster", "open")]
    for one, other in (guests, guests[::-1]):
        one.others = [other]
    cockpit.close()
    assert not any(place.killed for place in cockpit._places.values())


def test_another_interruption_kills_what_is_waited_for(cockpit: cockpits.Cockpit) -> None:
    guests = [cockpit._places[name] for name in ("cluster", "open")]
    for guest in guests:
        guest.seconds = 3600  # longer than a test may take
    interrupt_once(guests)
    with pytest.raises(KeyboardInterrupt):
        cockpit.close()
    assert all(place.killed for place in cockpit._places.values())


def test_it_says_what_it_waits_for(cockpit: cockpits.Cockpit, tmp_path: Path) -> None:
    demo = Demo.__new__(Demo)
    demo.progress, demo.cockpit = Progress(), cockpit

    def start() -> None:
        raise KeyboardInterrupt

    demo._start = start
    with pytest.raises(KeyboardInterrupt):
        demo.run()
    assert demo.progress.said == [
        "interrupted: waiting for cluster and open to power off; Ctrl-C again kills them"
    ]


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_nothing_is_left_of_a_guest_that_boots(tmp_path: Path) -> None:
    """Interrupted before it answers, the demo ends it all the same."""
    mark = f"GIDWAY_INTERRUPTED={tmp_path}".encode()
    demo = subprocess.Popen(
        [TOP / "run", "demo", "--vm", f"--out={tmp_path}"],
        env=os.environ | {"GIDWAY_BUILD": str(BUILD), "GIDWAY_INTERRUPTED": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(lambda: running("qemu-system-x86_64", mark), "the guest", pause=LOOK_SECONDS)
    finally:
        os.killpg(demo.pid, signal.SIGINT)
    assert demo.wait(PATIENCE) != 0
    wait_for(lambda: not running("", mark), "nothing of it to run", pause=LOOK_SECONDS)


def running(name: str, mark: bytes) -> list[str]:
    """The programs of this name, or any, that have this in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if mark in (folder / "environ").read_bytes() and name in words[0].decode():
                found.append(words[0].decode())
    return found
