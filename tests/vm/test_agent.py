# SPDX-License-Identifier: MIT
"""What a hostile guest may send to the host's tools: they say what is wrong, and nobody waits."""

import base64
import errno
import io
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gid_vm import agent as agents
from gid_vm.agent import Agent, GuestError
from gid_vm.boot.agent import Agent as AgentThere
from gid_vm.folder import memory_folder
from lib.program import PATIENCE

Answer = Callable[[socket.socket, dict], None]


class Guest:
    """An agent whose answers to a command are the test's."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="gid-", dir=memory_folder())
        path = Path(self.folder.name, "agent")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(1)
        self.agent = Agent(path, lambda what: f"guest open: {what}")
        self.answer: Answer = lambda port, message: None
        self.asked: list[dict] = []
        self.accepted = threading.Event()  # until then the next one to accept may get our agent
        threading.Thread(target=self.serve, daemon=True).start()
        self.agent.connect(time.monotonic() + PATIENCE, lambda: True)
        assert self.accepted.wait(PATIENCE)

    def serve(self) -> None:
        port, _ = self.listener.accept()
        self.accepted.set()
        with port.makefile("rb") as lines:
            for line in lines:
                if line.strip():
                    self.asked.append(json.loads(line))
                    try:
                        self.answer(port, self.asked[-1])
                    except OSError:
                        return  # the host hung up

    def close(self) -> None:
        self.agent.close()
        self.listener.close()
        self.folder.cleanup()


@pytest.fixture
def guest() -> Iterator[Guest]:
    guest = Guest()
    yield guest
    guest.close()


def tell(port: socket.socket, message: object) -> None:
    port.sendall(json.dumps(message).encode() + b"\n")


WRONG = [
    ["no", "object"],
    "text",
    {"id": "7", "out": ""},
    {"id": [1], "exit": 0},
    {"id": None, "out": "aGk="},
    {"id": 1, "out": 7},
    {"id": 1, "err": {}},
    {"id": 1, "exit": "0"},
    {"id": 1, "exit": True},
    {"ready": 5},
    {"ready": None},
]


@pytest.mark.parametrize("message", WRONG, ids=map(str, WRONG))
def test_wrong_types_end_the_wait_with_a_word(guest: Guest, message: object) -> None:
    def answer(port: socket.socket, asked: dict) -> None:
        if isinstance(message, dict) and message.get("id") == 1:
            message["id"] = asked["id"]
        tell(port, message)

    guest.answer = answer
    with pytest.raises(GuestError, match="guest open: its agent breaks the protocol"):
        guest.agent.start(["true"]).wait(PATIENCE)


@pytest.mark.parametrize("line", [b"{", b"[" * 100_000, b"\xff\xfe", b'{"id": 1' + b"0" * 5000])
def test_what_is_no_json(guest: Guest, line: bytes) -> None:
    guest.answer = lambda port, asked: port.sendall(line + b"\n")
    with pytest.raises(GuestError, match="breaks the protocol"):
        guest.agent.start(["true"]).wait(PATIENCE)


def test_a_line_without_an_end(guest: Guest) -> None:
    def answer(port: socket.socket, asked: dict) -> None:
        while True:  # until the host hangs up
            port.sendall(b"x" * 65536)

    guest.answer = answer
    with pytest.raises(GuestError, match="bytes in a line"):
        guest.agent.start(["true"]).wait(PATIENCE)


def test_output_that_does_not_end(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "OUTPUT_BYTES", 1 << 20)
    piece = base64.b64encode(bytes(60_000)).decode()

    def answer(port: socket.socket, asked: dict) -> None:
        if "run" in asked:
            for _ in range(40):
                tell(port, {"id": asked["id"], "out": piece})

    guest.answer = answer
    command = guest.agent.start(["yes"])
    with pytest.raises(GuestError, match="yes printed over 1 MiB"):
        command.wait(PATIENCE)
    assert len(command.texts["out"]) < (1 << 20) + 65536
    # The agent itself goes on.
    guest.answer = lambda port, asked: tell(port, {"id": asked["id"], "exit": 0})
    assert guest.agent.start(["true"]).wait(PATIENCE).code == 0
    assert [asked["signal"] for asked in guest.asked if "signal" in asked] == [9]


def test_what_is_heard_as_it_comes_is_not_kept(guest: Guest) -> None:
    piece = base64.b64encode(b"y" * 60_000).decode()
    heard: list[int] = []

    def answer(port: socket.socket, asked: dict) -> None:
        for _ in range(20):
            tell(port, {"id": asked["id"], "out": piece})
        tell(port, {"id": asked["id"], "exit": 0})

    guest.answer = answer
    command = guest.agent.start(["yes"], hear=lambda kind, data: heard.append(len(data)))
    assert command.wait(PATIENCE).code == 0
    assert sum(heard) == 1_200_000
    assert len(command.texts["out"]) <= agents.HEARD_BYTES


def answer_clock(port: socket.socket, asked: dict) -> None:
    if asked.get("run") == ["clock"]:
        tell(port, {"id": asked["id"], "out": base64.b64encode(b"noon").decode()})
    elif "run" in asked:
        tell(port, {"id": asked["id"], "exit": 3})


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EPIPE])
def test_one_whose_output_cannot_be_written_ends_alone(guest: Guest, code: int) -> None:
    """The others of its guest were counted as killed."""

    def fail(kind: str, data: bytes) -> None:
        raise OSError(code, os.strerror(code))

    guest.answer = answer_clock
    command = guest.agent.start(["clock"], hear=fail)
    if code == errno.EPIPE:  # whoever read it had enough
        assert command.wait(PATIENCE).code == -signal.SIGPIPE
    else:
        with pytest.raises(GuestError, match="what clock prints cannot be written: No space"):
            command.wait(PATIENCE)
    assert guest.agent.start(["true"]).wait(PATIENCE).code == 3


def test_one_who_hears_nonsense_ends_its_own_command_alone(guest: Guest) -> None:
    guest.answer = answer_clock
    command = guest.agent.start(["clock"], hear=lambda kind, data: int(data))
    with pytest.raises(GuestError, match="clock prints what it should not"):
        command.wait(PATIENCE)
    assert guest.agent.start(["true"]).wait(PATIENCE).code == 3


def test_a_flood_of_hellos_and_of_strangers_outputs_is_not_kept(guest: Guest) -> None:
    def answer(port: socket.socket, asked: dict) -> None:
        for number in range(2000):
            tell(port, {"ready": "6.12"})
            tell(port, {"id": number, "out": "aGk="})
        tell(port, {"id": asked["id"], "exit": 0})

    guest.answer = answer
    assert guest.agent.start(["true"]).wait(PATIENCE).code == 0
    assert guest.agent.ready.qsize() <= 1
    assert guest.agent.commands == {}


def test_one_that_has_no_time_left(guest: Guest) -> None:
    """As it boots: QEMU took the connection in the last moment."""
    with pytest.raises(GuestError, match="did not come up in time"):
        guest.agent.wait_ready(-0.1)


def test_a_file_that_is_read(guest: Guest) -> None:
    files = {"/some": b"\xff\0not a text", "/empty": b""}

    def answer(port: socket.socket, asked: dict) -> None:
        content = files.get(asked["read"])
        if content:
            for data in (content[:4], content[4:]):
                out = base64.b64encode(data).decode()
                tell(port, {"id": asked["id"], "out": out})
        tell(port, {"id": asked["id"], "exit": 1 if content is None else 0})

    guest.answer = answer
    assert guest.agent.read(Path("/some"), PATIENCE) == files["/some"]
    assert guest.agent.read(Path("/empty"), PATIENCE) == b""
    assert guest.agent.read(Path("/none"), PATIENCE) is None
    assert guest.agent.commands == {}


def test_who_hangs_up_lets_the_next_one_in(guest: Guest) -> None:
    """QEMU has one at a time. Whoever powers a guest off is another one."""
    ended = threading.Event()

    def serve() -> None:
        guest_end, _ = guest.listener.accept()
        while guest_end.recv(4096):
            pass
        ended.set()

    threading.Thread(target=serve, daemon=True).start()
    other = Agent(guest.agent.path)
    other.connect(time.monotonic() + PATIENCE, lambda: True)
    other.close()
    assert ended.wait(PATIENCE)


class EndsMeanwhile(dict):
    """Commands that are forgotten as soon as one was looked for."""

    def __contains__(self, number: object) -> bool:
        return self.pop(number, None) is not None


def test_a_command_that_ends_as_it_is_signalled() -> None:
    """In the guest: with its agent the machine would end."""
    process = subprocess.Popen(["true"])
    process.wait()
    there = AgentThere(io.BytesIO())
    there.running = EndsMeanwhile({1: process})
    there.handle({"id": 1, "signal": int(signal.SIGTERM)})
