# SPDX-License-Identifier: MIT
"""gid-cockpit run: its command in the guest ends with it. The guest is one that the test plays."""

import base64
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from lib.program import PATIENCE
from test_cockpit import Tool, tool  # noqa: F401

from lab.domains.configuration import configuration

GUEST = configuration(
    {"host": "kind=host", "open": "kind=guest"}, {"open host": "movie"}, runtime="{runtime}"
)


class Agent:
    """The end of a guest's agent that is in the guest."""

    def __init__(self, tool: Tool) -> None:  # noqa: F811
        folder = tool.runtime / "open"
        folder.mkdir(parents=True)
        self.sockets = [socket.socket(socket.AF_UNIX) for _ in range(2)]
        for one, name in zip(self.sockets, ("monitor.sock", "agent.sock"), strict=True):
            one.settimeout(PATIENCE)
            one.bind(str(folder / name))
            one.listen()

    def await_command(self, begin: Callable[[], None] = lambda: None) -> int:
        """Its number. `begin` comes before the guest answers."""
        port, _ = self.sockets[1].accept()
        port.settimeout(PATIENCE)
        self.port, self.lines = port, port.makefile("rb")
        assert self.hear() == {"hello": True}
        begin()
        self.say(ready="6.12")
        return self.hear()["id"]

    def hear(self) -> dict:
        while (line := self.lines.readline()) == b"\n":
            pass
        assert line != b"", "gid-cockpit has hung up"
        return json.loads(line)

    def say(self, **message: object) -> None:
        self.port.sendall(json.dumps(message).encode() + b"\n")

    def close(self) -> None:
        for one in (*self.sockets, self.lines, self.port):
            one.close()


@pytest.fixture
def agent(tool: Tool) -> Iterator[Agent]:  # noqa: F811
    tool.write(GUEST)
    agent = Agent(tool)
    yield agent
    agent.close()


@contextmanager
def start(tool: Tool, **streams: object) -> Iterator[subprocess.Popen]:  # noqa: F811
    words = ["gid-cockpit", "--config", str(tool.config), "run", "open", "yes"]
    with subprocess.Popen(words, env=tool.env, **streams) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_the_commands(tool: Tool, agent: Agent, number: signal.Signals) -> None:  # noqa: F811
    with start(tool, stdout=subprocess.PIPE) as process:
        command = agent.await_command()
        agent.say(id=command, out=base64.b64encode(b"y\n").decode())
        assert process.stdout.readline() == b"y\n"
        process.send_signal(number)
        assert agent.hear() == {"id": command, "signal": number}
        agent.say(id=command, exit=-number)
        assert process.wait(PATIENCE) == 128 + number


def test_who_waits_is_told_why(tool: Tool, agent: Agent) -> None:  # noqa: F811
    """A guest takes one command at a time, and a second one waits for its turn."""
    with start(tool, stderr=subprocess.PIPE) as process:

        def read() -> None:
            told = process.stderr.readline().decode()
            assert told.startswith("open does not answer yet: it still boots, or another command")
            assert "one at a time" in told

        agent.say(id=agent.await_command(read), exit=7)
        assert process.wait(PATIENCE) == 7


def test_nobody_reads_what_it_prints(tool: Tool, agent: Agent) -> None:  # noqa: F811
    """As of `gid-cockpit run open yes | head -1`."""
    ours, theirs = os.pipe()
    os.close(ours)
    with start(tool, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        command = agent.await_command()
        agent.say(id=command, out=base64.b64encode(b"y\n").decode())
        assert agent.hear() == {"id": command, "signal": signal.SIGPIPE}
        agent.say(id=command, out=base64.b64encode(b"y\n").decode())
        agent.say(id=command, exit=-signal.SIGPIPE)
        assert process.wait(PATIENCE) == 128 + signal.SIGPIPE
        assert process.stderr.read() == b""
