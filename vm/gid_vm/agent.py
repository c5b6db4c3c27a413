# SPDX-License-Identifier: MIT
"""The host's end of a guest's agent: runs commands in the guest. All waits are bounded.

The guest is hostile: lines, their types and the size of output are checked and bounded. An agent
that breaks the protocol is disconnected.
"""

import base64
import contextlib
import itertools
import json
import queue
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .sockets import bound_sending, connect

PORT = "org.gidway.agent"
GRACE_SECONDS = 30.0
SEND_SECONDS = 60.0  # for one message, even if the guest is busy
LINE_BYTES = 256 << 10  # of one message; the agent sends 64 KiB of output in each
OUTPUT_BYTES = (
    64 << 20
)  # of a command; with a `hear` callback only HEARD_BYTES are kept, for errors
HEARD_BYTES = 64 << 10


class GuestError(Exception):
    """The guest did not do what it should in time; the text quotes the end of its console."""


# A callback for "out" or "err" and bytes, called from a thread that it must not block.
Hear = Callable[[str, bytes], None]


def show(kind: str, data: bytes) -> None:
    """A Hear that copies a command's output to our own."""
    stream = sys.stdout if kind == "out" else sys.stderr
    stream.buffer.write(data)
    stream.flush()


@dataclass
class Result:
    """The output of a command in the guest, and its exit code (negative: a signal)."""

    code: int
    out: str
    err: str


class Command:
    """A command running in a guest."""

    def __init__(
        self, agent: "Agent", number: int, words: list[str], hear: Hear | None = None
    ) -> None:
        self.agent, self.number, self.words, self.hear = agent, number, words, hear
        self.code: int | None = None
        self.failure: str | None = None  # why the connection to it ended
        self.texts = {"out": bytearray(), "err": bytearray()}
        self.changed = threading.Condition()

    @property
    def out(self) -> str:
        """Its output so far."""
        with self.changed:
            return self.texts["out"].decode(errors="replace")

    def take(self, message: dict[str, str | int]) -> None:
        """Handles a message, already checked."""
        with self.changed:
            for kind in self.texts.keys() & message.keys():
                data = base64.b64decode(message[kind])
                self.texts[kind] += data
                if self.hear is not None:
                    del self.texts[kind][:-HEARD_BYTES]
                    self.hear(kind, data)
            if "exit" in message:
                self.code = message["exit"]
            self.changed.notify_all()
        if sum(map(len, self.texts.values())) > OUTPUT_BYTES:
            self.end(f"{self.words[0]} printed over {OUTPUT_BYTES >> 20} MiB")

    def fail(self, why: str) -> None:
        """Counts it as killed, and wakes those who wait for it."""
        with self.changed:
            self.failure, self.code = why, -signal.SIGKILL
            self.changed.notify_all()

    def end(self, why: str) -> None:
        """The same, and asks the guest to kill it; the guest may ignore that."""
        self.fail(why)
        with contextlib.suppress(GuestError):
            self.signal(signal.SIGKILL)

    def end_unheard(self) -> None:
        """Nobody reads its output any more: it ends as a program does whose pipe is closed."""
        with self.changed:
            self.code = -signal.SIGPIPE
            self.changed.notify_all()
        with contextlib.suppress(GuestError):
            self.signal(signal.SIGKILL)

    def _check(self) -> None:
        if self.failure is not None:
            raise GuestError(self.agent.describe(self.failure))

    def wait_for(self, text: str, timeout: float) -> str:
        """Waits until the command has printed `text`, and returns all its output so far."""
        wanted = text.encode()
        with self.changed:
            self.changed.wait_for(
                lambda: wanted in self.texts["out"] or self.code is not None, timeout
            )
            if wanted not in self.texts["out"]:
                self._check()
                last = self.texts["err"][-2000:].decode(errors="replace")
                what = f"{self.words[0]} did not print {text!r}"
                raise GuestError(self.agent.describe(f"{what}\n{last}" if last else what))
            return self.texts["out"].decode(errors="replace")

    def wait(self, timeout: float) -> Result:
        """Waits for its end. A command that takes longer is killed, and GuestError is raised."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.code is not None, timeout):
                self.signal(signal.SIGKILL)
                self.changed.wait_for(lambda: self.code is not None, GRACE_SECONDS)
                last = b"".join(self.texts.values())[-2000:].decode(errors="replace")
                what = f"{' '.join(self.words)} ran for over {timeout:g} s, and printed: {last!r}"
                raise GuestError(self.agent.describe(what))
            self._check()
        out, err = (self.texts[kind].decode(errors="replace") for kind in ("out", "err"))
        return Result(self.code if self.code is not None else -1, out, err)

    def signal(self, number: signal.Signals) -> None:
        self.agent.send(id=self.number, signal=int(number))


class Agent:
    """A connection to the agent. `describe` adds context to the text of an error.

    `pid`: QEMU's process, if it is known.
    """

    def __init__(
        self, path: Path, describe: Callable[[str], str] = str, pid: int | None = None
    ) -> None:
        self.path, self.describe, self.pid = path, describe, pid
        self.port: socket.socket | None = None
        self.is_lost = False  # the other end is gone, as when its machine died
        self.commands: dict[int, Command] = {}
        self.release: str | None = None  # of the guest's kernel, once known
        self.ready: queue.Queue[str | None] = queue.Queue()
        self.lock = threading.Lock()
        # An earlier client may have left commands running there.
        self.numbers = itertools.count(random.getrandbits(48) + 1)

    def connect(self, deadline: float, lives: Callable[[], bool]) -> None:
        """Connects to QEMU, which may not listen yet."""
        while time.monotonic() < deadline and lives():
            try:
                port = connect(self.path, max(0.1, deadline - time.monotonic()), pid=self.pid)
            except OSError:
                time.sleep(0.02)
                continue
            self.take(port)
            return
        raise GuestError(self.describe("QEMU does not start"))

    def take(self, port: socket.socket) -> None:
        """Takes ownership of a connected socket."""
        bound_sending(port, SEND_SECONDS)
        self.port = port
        threading.Thread(target=self._listen, daemon=True).start()
        self._write(b"\n")  # ends an unfinished line of an earlier client

    def wait_ready(self, timeout: float) -> None:
        """Waits until the agent answers."""
        self.send(hello=True)
        try:
            self.release = self.ready.get(timeout=max(0.0, timeout))
        except queue.Empty:
            raise GuestError(self.describe("it did not come up in time")) from None
        if self.release is None:
            raise GuestError(self.describe("it ended while it booted"))

    def _listen(self) -> None:
        failure = None
        try:
            with self.port.makefile("rb") as lines:
                while line := lines.readline(LINE_BYTES):
                    if not line.endswith(b"\n"):
                        break  # QEMU was killed in the middle of a line, or the line is too long
                    self._hear(check(line))
                else:
                    line = b""
                if len(line) == LINE_BYTES:
                    failure = f"its agent sends over {LINE_BYTES} bytes in a line"
        except OSError:
            pass  # QEMU was killed
        except ValueError as error:
            failure = f"its agent breaks the protocol: {error}"
        self.is_lost = failure is None
        self.ready.put(None)
        for command in list(self.commands.values()):
            if failure is not None:
                command.fail(failure)
            else:
                command.take({"exit": -signal.SIGKILL})
        if failure is not None:
            self.port.close()

    def _hear(self, message: dict[str, str | int]) -> None:
        if "ready" in message:
            if self.ready.empty():
                self.ready.put(message["ready"])
            return
        command = self.commands.get(message["id"])
        if command is None:
            return  # started by another client
        try:
            command.take(message)
        except ValueError:  # raised by the `hear` callback, as all of these
            command.end(f"{command.words[0]} prints what it should not")
        except BrokenPipeError:
            command.end_unheard()
        except OSError as error:
            why = error.strerror or error
            command.end(f"what {command.words[0]} prints cannot be written: {why}")
        if command.code is not None:
            self.commands.pop(message["id"], None)

    def send(self, **message: object) -> None:
        self._write(json.dumps(message).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        try:
            with self.lock:
                self.port.sendall(data)
        except BlockingIOError:
            raise GuestError(self.describe("it reads nothing of what is sent to it")) from None
        except OSError:
            raise GuestError(self.describe("it is gone")) from None

    def start(
        self,
        words: list[str],
        env: dict[str, str] | None = None,
        cwd: Path = Path("/"),
        stdin: bytes = b"",
        hear: Hear | None = None,
    ) -> Command:
        """Starts a command without waiting for it. `hear` gets its output as it comes."""
        command = self._expect(words, hear)
        text = base64.b64encode(stdin).decode()
        self.send(id=command.number, run=words, env=env or {}, cwd=str(cwd), stdin=text)
        return command

    def read(self, path: Path, timeout: float) -> bytes | None:
        """The content of a file of the guest; None: it cannot be read.

        It starts no program: under TCG that takes fifty times as long.
        """
        command = self._expect(["read", str(path)])
        self.send(id=command.number, read=str(path))
        return bytes(command.texts["out"]) if command.wait(timeout).code == 0 else None

    def _expect(self, words: list[str], hear: Hear | None = None) -> Command:
        command = Command(self, next(self.numbers), words, hear)
        self.commands[command.number] = command
        return command

    def power_off(self) -> None:
        self.send(power="off")

    def close(self) -> None:
        """Closes the connection, so that QEMU accepts the next one: shutdown() also ends the
        thread.
        """
        if self.port is not None:
            with contextlib.suppress(OSError):  # the other end may be gone
                self.port.shutdown(socket.SHUT_RDWR)
            self.port.close()


def check(line: bytes) -> dict[str, str | int]:
    """Parses a message of an agent. ValueError: it is not valid."""
    try:
        message = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(message, dict):
        raise ValueError("no object")
    if "ready" in message:
        if not isinstance(message["ready"], str):
            raise ValueError("a kernel without a name")
    elif type(message.get("id")) is not int:
        raise ValueError("no number of a command")
    for kind in ("out", "err"):
        if kind in message and not isinstance(message[kind], str):
            raise ValueError("output that is no text")
    if "exit" in message and type(message["exit"]) is not int:
        raise ValueError("an exit status that is no number")
    return message
