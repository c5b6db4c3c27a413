# SPDX-License-Identifier: MIT
"""Whatever a guest's agent sends, the host's tools hear an end of each command, and nothing else.

Guided by the branches that an input takes, and seeded, so that a failure can be repeated.
GIDWAY_FUZZ_TRIES, GIDWAY_FUZZ_SECONDS and GIDWAY_FUZZ_SEED make it try for longer, and otherwise.
"""

import io
import itertools
import os
import random
from pathlib import Path

import pytest
from gid_vm import agent as agents
from gid_vm.agent import Agent, GuestError
from lib.guided import Failure, Fuzzer

TRIES = int(os.environ.get("GIDWAY_FUZZ_TRIES", 4000))
SECONDS = float(os.environ.get("GIDWAY_FUZZ_SECONDS", 0))
SEED = int(os.environ.get("GIDWAY_FUZZ_SEED", 1))
SOURCE = Path(agents.__file__)
OUTPUT_BYTES, LINE_BYTES = 600, 400  # instead of MiB, so that inputs reach them

_START = [
    b'.{"ready": "6.12.0"}\n{"id": 1, "out": "aGk="}\n{"id": 1, "exit": 0}\n'
    b'{"id": 2, "err": "d2h5"}\n{"id": 2, "exit": -9}\n',
    b'!{"id": 3, "out": "MTI="}\n{"id": 3, "exit": 1}\n{"id": 9, "exit": 0}\n',
]
_PIECES = [b"\n", b'"id": ', b'"out": ', b'"err": ', b'"exit": ', b'"ready": ', b'"', b"{", b"}"]
_PIECES += [b", ", b"null", b"true", b"-1", b"1e99", b"9" * 5000, b"[" * 2000, b"\\ud800", b"\xff"]
_PIECES += [b'"aGk="', b'"aGk"', b"3", b'"' + b"QUFB" * 60 + b'"', b"NaN", b"{}"]


class FalsePort:
    """A virtio port whose other end has sent all it ever will, and reads (or does not)."""

    def __init__(self, data: bytes, reads: bool) -> None:
        self.data, self.reads, self.sent = data, reads, 0

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self.data)

    def sendall(self, data: bytes) -> None:
        self.sent += 1
        if not self.reads and self.sent > 3:  # after the commands
            raise BlockingIOError

    def close(self) -> None:
        pass


def listen(data: bytes) -> None:
    agent = Agent(Path("/nowhere"), lambda what: f"guest: {what}")
    agent.port = FalsePort(data[1:], reads=data[:1] != b"!")
    agent.numbers = itertools.count(1)
    heard = []
    commands = [
        agent.start(["one"]),
        agent.start(["two"]),
        agent.start(["clock"], hear=lambda kind, data: heard.append(int(data))),
    ]
    agent._listen()
    for command in commands:
        assert type(command.code) is int, f"{command.words} waits for ever"
        assert sum(map(len, command.texts.values())) <= OUTPUT_BYTES + LINE_BYTES
        try:
            command.wait(0)
        except GuestError as error:
            assert str(error).startswith("guest: ")
    assert 1 <= agent.ready.qsize() <= 2


def mutate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    data = bytearray(data)
    for _ in range(rng.randrange(1, 8)):
        at = rng.randrange(len(data) + 1)
        end = at + rng.randrange(1, 40)
        match rng.randrange(6):
            case 0:
                data[at:at] = rng.choice(_PIECES)
            case 1:
                data[at:end] = rng.choice(_PIECES)
            case 2:
                del data[at:end]
            case 3 if other:
                begin = rng.randrange(len(other))
                data[at:at] = other[begin : begin + rng.randrange(1, 60)]
            case 4 if at < len(data):
                data[at] = rng.randrange(256)
            case _:
                lines = data.splitlines(keepends=True)
                rng.shuffle(lines)
                data = bytearray(b"".join(lines))
    return bytes(data[:6000])


@pytest.mark.timeout(600 + TRIES // 100 + SECONDS)
def test_guided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "OUTPUT_BYTES", OUTPUT_BYTES)
    monkeypatch.setattr(agents, "LINE_BYTES", LINE_BYTES)
    fuzzer = Fuzzer(listen, mutate, [SOURCE], SEED)
    fuzzer.run(_START, len(_START))
    first = len(fuzzer.branches)
    fuzzer.run([], TRIES, SECONDS)
    print(f"seed {SEED}: {fuzzer.tries} inputs, {len(fuzzer.branches)} branches taken")
    assert len(fuzzer.branches) > first


def test_guided_finds_a_planted_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its check of types."""
    monkeypatch.setattr(agents, "check", agents.json.loads)
    with pytest.raises(Failure):
        Fuzzer(listen, mutate, [SOURCE]).run(_START, 4000)
