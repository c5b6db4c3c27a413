# SPDX-License-Identifier: MIT
"""A domain that is a guest: its programs run there, and are reached by the guest's agent."""

import json
import os
import queue
import select
import signal
import sys
import time
from pathlib import Path

from place import LATE, DemoError, Place, Program

_TOP = Path(__file__).resolve().parents[1]
sys.path += [str(_TOP / "vm"), str(_TOP / "tools" / "cockpit")]

from gid_cockpit.machine import Guest  # noqa: E402
from gid_vm.agent import Agent, Command, GuestError  # noqa: E402

FOLDER = Path("/run/guest")

# Prints what a unix socket has to say, again and again, each time after the clock: to start a
# program for each answer takes a guest without KVM a second.
_ASK = """
import socket, sys, time
while True:
    now, text = time.monotonic_ns(), "null"
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(sys.argv[1])
            text = connection.makefile().read()
        except OSError:
            pass
    print(now, text.replace(chr(10), " "), flush=True)
    time.sleep(0.25)
"""


class GuestProgram(Program):
    def __init__(self, name: str, command: Command) -> None:
        self.name, self._command = name, command

    def status(self) -> int | None:
        return self._command.code

    def said(self) -> str:
        return b"".join(self._command.texts.values()).decode(errors="replace")

    def stop(self, timeout: float) -> int:
        if self._command.code is None:
            self._command.signal(signal.SIGTERM)
        return self._command.wait(timeout).code


class Listener:
    """The lines that come from _ASK; `offset` is from the guest's clock to ours, in ns.

    A line is on its way for a while: of all lines, the quickest tells the offset best.
    """

    def __init__(self, patience: float) -> None:
        self.offset: int | None = None
        self._patience, self._part = patience, b""
        self._lines: queue.Queue[tuple[int, bytes]] = queue.Queue()

    def hear(self, kind: str, data: bytes) -> None:
        """From the agent's thread."""
        here = time.monotonic_ns()
        if kind != "out":
            return
        *lines, self._part = (self._part + data).split(b"\n")
        for line in lines:
            there, _, text = line.partition(b" ")
            offset = here - int(there)
            self.offset = offset if self.offset is None else min(self.offset, offset)
            self._lines.put((int(there), text))

    def next(self) -> dict | None:
        """What is true now, or later."""
        asked = time.monotonic_ns()
        try:
            while True:
                there, text = self._lines.get(timeout=self._patience)
                if there + self.offset >= asked:
                    return json.loads(text)
        except queue.Empty:
            raise DemoError("a guest does not answer") from None


class There(Place):
    """`guest` has been started, and may still be about to boot: see wait_ready()."""

    _look_seconds = 0.3  # each starts a program there

    def __init__(self, guest: Guest, patience: float) -> None:
        super().__init__(guest.domain.name, FOLDER, patience)
        self._guest = guest
        self._listeners: dict[Path, Listener] = {}
        self._agent = Agent(guest.folder / "agent.sock")

    def wait_ready(self) -> None:
        """Until its gidd can be connected to."""
        try:
            self._agent.connect(time.monotonic() + self._patience, lambda: True)
            self._agent.wait_ready(self._patience)
        except GuestError as error:
            raise DemoError(f"the guest {self.domain}: {error}") from None
        gidd = f"until test -S /run/gidway/{self.domain}/gidd.sock; do sleep 0.5; done"
        self.run(["sh", "-c", gidd])
        self._registry = self.put(Path(os.environ["GST_REGISTRY"]))

    def _launch(self, name: str, command: list[str], environment: dict[str, str]) -> GuestProgram:
        # We have looked at GStreamer's plugins already.
        environment = {
            **LATE,
            "GST_REGISTRY": str(self._registry),
            "GST_REGISTRY_UPDATE": "no",
            **environment,
        }
        return GuestProgram(name, self._agent.start(command, env=environment))

    def run(self, command: list[str], **environment: str) -> str:
        return self._finish(command, b"", environment)

    def _finish(self, command: list[str], stdin: bytes, environment: dict[str, str]) -> str:
        result = self._agent.start(command, env=environment, stdin=stdin).wait(self._patience)
        if result.code != 0:
            raise DemoError(f"{command[0]} in {self.domain}: {result.err.strip()}")
        return result.out

    def put(self, file: Path) -> Path:
        return self.write(file.name, file.read_bytes())

    def write(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        self._finish(["dd", "status=none", f"of={path}"], content, {})
        return path

    def read(self, path: Path) -> bytes:
        return self._agent.read(path, self._patience) or b""

    def ask(self, path: Path) -> dict | None:
        listener = self._listeners.get(path)
        if listener is None:
            listener = self._listeners[path] = Listener(self._patience)
            self._agent.start(["python3", "-I", "-S", "-c", _ASK, str(path)], hear=listener.hear)
        return listener.next()

    def to_here(self, time: int) -> int:
        offsets = [one.offset for one in self._listeners.values() if one.offset is not None]
        return time + min(offsets, default=0)

    @property
    def screen(self) -> Path | None:
        has_one = self._guest.domain.machine.display is not None
        return self._guest.folder / "screen.sock" if has_one else None

    def photograph(self, picture: Path) -> None:
        self._guest.screenshot(picture.absolute())

    def kill(self) -> None:
        pid = self._guest.pid()
        if pid is not None:
            handle = os.pidfd_open(pid)
            try:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                select.select([handle], [], [], self._patience)
            finally:
                os.close(handle)
        self._programs, self._listeners = [], {}
        self._agent.close()

    def stop_all(self) -> None:
        """With the machine."""
        self._agent.close()
        self._guest.stop()
        self._programs = []
