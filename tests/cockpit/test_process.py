# SPDX-License-Identifier: MIT
"""What gid-cockpit makes of processes that are busy, hang, or end while they are looked at."""

import json
import os
import pwd
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from gid_cockpit import machine, process, start_lock
from gid_cockpit.configuration import CockpitError, Configuration, Domain
from gid_cockpit.reload import Inside, read_again
from gid_cockpit.unit import serve
from gid_vm.agent import Agent, GuestError
from gid_vm.monitor import Monitor, MonitorError
from lib.program import is_alive, wait_for


class Busy:
    """Somebody who listens, and whose queue is full of those who wait."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(path))
        self.server.listen(0)
        self.waiting: list[socket.socket] = []
        with pytest.raises(BlockingIOError):
            while True:
                one = socket.socket(socket.AF_UNIX)
                one.setblocking(False)
                self.waiting.append(one)
                one.connect(str(path))

    def close(self) -> None:
        for one in [self.server, *self.waiting]:
            one.close()


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Busy]:
    busy = Busy(tmp_path / "sock")
    yield busy
    busy.close()


def soon(action: Callable[[], object]) -> None:
    threading.Timer(0.2, action).start()


def test_one_that_is_busy_is_waited_for(busy: Busy) -> None:
    soon(busy.server.accept)
    assert process.listener(busy.path, socket.SOCK_STREAM) == os.getpid()


def test_one_that_ends_meanwhile_is_gone(busy: Busy) -> None:
    soon(busy.server.close)
    assert process.listener(busy.path, socket.SOCK_STREAM) is None


def test_one_that_hangs_is_named(busy: Busy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "BUSY_SECONDS", 0.2)
    with pytest.raises(CockpitError) as error:
        process.listener(busy.path, socket.SOCK_STREAM)
    assert str(error.value) == f"{busy.path}: it takes no connection for 0.2 s"


def test_a_process_that_has_just_ended() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    with pytest.raises(ProcessLookupError), process.handle(ended.pid, "it"):
        pass
    with pytest.raises(ProcessLookupError):
        process.program(ended.pid)


def test_one_that_cannot_be_seen() -> None:
    """So the kernel names those of other containers."""
    with pytest.raises(CockpitError, match="it cannot be seen from here"), process.handle(0, "it"):
        pass


@pytest.mark.parametrize("whose", ["ours", "another's"])
def test_a_start_that_is_held(whose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds it is named. The domain's user, who may hold it for good, is waited for less long
    than a start of our own: each takes the other's place here."""
    us = pwd.getpwuid(os.getuid())
    domain = Domain("open", 1, us.pw_name, frozenset())
    monkeypatch.setattr(start_lock, "TELL_SECONDS", 0.0)
    monkeypatch.setattr(start_lock, "user_of", lambda _: us)
    monkeypatch.setattr(start_lock, "check_place", lambda _: None)
    monkeypatch.setattr(start_lock, "give", lambda path, _: path.mkdir(exist_ok=True))
    waited = {"ours": "START_SECONDS", "another's": "ANOTHERS_SECONDS"}
    monkeypatch.setattr(start_lock, waited[whose], 0.0)
    if whose != "ours":
        monkeypatch.setattr(os, "geteuid", lambda: us.pw_uid + 1)
    path = tmp_path / "open" / "start.lock"
    path.parent.mkdir()
    script = "import fcntl, sys; lock = open(sys.argv[1], 'w'); fcntl.flock(lock, fcntl.LOCK_EX)"
    script += "; print(); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-uc", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        holder.stdout.readline()
        with pytest.raises(CockpitError, match=rf"process {holder.pid} of {us.pw_name} has "):
            with start_lock.start_lock(Configuration(tmp_path, tmp_path, (domain,)), domain):
                pass
        holder.stdin.close()
    with start_lock.start_lock(Configuration(tmp_path, tmp_path, (domain,)), domain):
        pass


@pytest.mark.parametrize("said", [b"", b'{"QM', b'{"QMP": {}}\n', b'{"QMP": {}}\n{"retu'])
def test_a_monitor_that_ends_in_the_middle(tmp_path: Path, said: bytes) -> None:
    path = tmp_path / "monitor"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def answer() -> None:
            connection, _ = server.accept()
            connection.sendall(said)
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(MonitorError), Monitor(path):
            pass
        thread.join()


def test_an_agent_that_is_not_listened_to(busy: Busy) -> None:
    with pytest.raises(GuestError, match="QEMU does not start"):
        Agent(busy.path).connect(time.monotonic() + 0.3, lambda: True)


STATUS = {"pid": 7, "configuration": {"readings": 1, "refused": ""}}
NO_STATUS = {
    "nothing": "",
    "half of one": json.dumps(STATUS)[:-9],
    "a number": "7",
    "a list": "[]",
    "no configuration": '{"pid": 7}',
    "a configuration that is none": json.dumps(STATUS | {"configuration": "cockpit.conf"}),
    "no process": json.dumps(STATUS | {"pid": "-1; reboot"}),
    "no text": json.dumps(STATUS | {"configuration": {"readings": 1, "refused": 7}}),
    "nested too deeply": "[" * 100_000,
}


@pytest.mark.parametrize("said", NO_STATUS)
def test_a_guest_that_says_what_is_no_status(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told; a reload goes on with the other domains."""
    guest = SimpleNamespace(domain=SimpleNamespace(name="open"), folder=Path(), check_up=os.getpid)
    monkeypatch.setattr(Inside, "_run", lambda *_: NO_STATUS[said])
    with pytest.raises(CockpitError) as error:
        read_again(Inside(guest))
    assert str(error.value) == "in the guest open: what gidctl says is no status"


QEMU = """
import socket, sys, time
time.sleep(1)
with socket.socket(socket.AF_UNIX) as monitor:
    monitor.bind(sys.argv[1])
    monitor.listen()
    time.sleep(1000)
"""


def test_a_signal_while_qemu_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It listens to nobody yet: it is ended all the same."""
    domain = Domain("open", 1, None, frozenset(), "guest")
    configuration = Configuration(tmp_path / "cockpit.conf", tmp_path / "r", (domain,))
    configuration.path.touch()
    words = [sys.executable, "-c", QEMU, str(configuration.runtime / "open" / "monitor.sock")]
    made = SimpleNamespace(arguments=lambda: words, accel="tcg", memory_mib=1, windows=[])
    monkeypatch.setattr(machine, "make", lambda *_: made)
    begun: list[int] = []

    def put_into_share(pid: int, *_: object) -> None:
        begun.append(pid)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(machine, "put_into_share", put_into_share)
    serve(configuration, domain)
    try:
        wait_for(lambda: not is_alive(begun[0]), "it to be gone")
    finally:
        if is_alive(begun[0]):
            os.kill(begun[0], signal.SIGKILL)
