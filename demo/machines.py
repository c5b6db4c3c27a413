# SPDX-License-Identifier: MIT
"""Where programs of the demo run: on this machine, or in a guest. Both look the same from here."""

import json
import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "vm"))

from gid_vm.agent import Agent, Command, GuestError  # noqa: E402

SECONDS = 90.0

# Prints all that a unix socket has to say.
ASK = """
import socket, sys
with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[1])
    print(s.makefile().read())
"""


class Place(ABC):
    """A domain, to start programs in. `folder` is there."""

    folder: Path

    @abstractmethod
    def start(self, name: str, *words: str, **environment: str) -> None:
        """A program that runs on; `name` is for people."""

    @abstractmethod
    def run(self, *words: str, stdin: bytes = b"", **environment: str) -> tuple[int, str]:
        """A program to its end: its exit status and output."""

    @abstractmethod
    def ended(self) -> str | None:
        """What was started and has ended nevertheless, with its last words."""

    @abstractmethod
    def forget(self) -> None:
        """Ends what was started, where that still runs."""

    def path(self, name: str) -> Path:
        return self.folder / name

    def write(self, name: str, content: bytes) -> Path:
        self.run("sh", "-c", f"cat > {self.path(name)}", stdin=content)
        return self.path(name)

    def read(self, path: Path) -> str:
        return self.run("cat", str(path))[1]

    def ask(self, path: Path) -> dict | None:
        """JSON from a unix socket; None where nobody listens."""
        code, text = self.run("python3", "-c", ASK, str(path))
        return json.loads(text) if code == 0 else None


class Here(Place):
    def __init__(self, domain: str, folder: Path) -> None:
        self.folder = folder / domain
        self._environment = os.environ | {"GID_DOMAIN": domain}
        self._started: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *words: str, **environment: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self._started[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment | environment,
            )

    def run(self, *words: str, stdin: bytes = b"", **environment: str) -> tuple[int, str]:
        result = subprocess.run(
            words,
            input=stdin,
            capture_output=True,
            env=self._environment | environment,
            timeout=SECONDS,
        )
        return result.returncode, result.stdout.decode()

    def ended(self) -> str | None:
        for name, process in self._started.items():
            if process.poll() is not None:
                log = (self.folder / f"{name}.log").read_text(errors="replace")
                return f"{name} ended:\n{log[-1500:]}"
        return None

    def forget(self) -> None:
        for process in reversed(self._started.values()):
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._started = {}


class There(Place):
    folder = Path("/run/guest")

    def __init__(self, socket: Path) -> None:
        self._agent = Agent(socket)
        self._agent.connect(time.monotonic() + SECONDS, lambda: True)
        self._agent.wait_ready(SECONDS)
        self._started: dict[str, Command] = {}

    def start(self, name: str, *words: str, **environment: str) -> None:
        self._started[name] = self._agent.start(list(words), env=environment)

    def run(self, *words: str, stdin: bytes = b"", **environment: str) -> tuple[int, str]:
        result = self._agent.start(list(words), env=environment, stdin=stdin).wait(SECONDS)
        return result.code, result.out

    def ended(self) -> str | None:
        for name, command in self._started.items():
            if command.code is not None:
                words = b"".join(command.texts.values())[-1500:].decode(errors="replace")
                return f"{name} ended:\n{words}"
        return None

    def forget(self) -> None:
        for command in self._started.values():
            if command.code is None and self._agent.port is not None:
                try:
                    command.signal(signal.SIGTERM)
                except GuestError:  # the machine is gone, and all with it
                    break
        self._agent.close()
