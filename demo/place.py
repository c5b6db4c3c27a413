# SPDX-License-Identifier: MIT
"""Where a domain's programs run: on this machine (here.py) or in a guest (there.py).

Both look the same to the demo. Paths are as the domain's programs see them, and times as the clock
of the domain has them, unless said otherwise.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path


class DemoError(Exception):
    """What went wrong, in a sentence for the user."""


# Programs that start side by side on a busy machine are slow to answer one another.
LATE = {"GID_ANSWER_SECONDS": "30"}


class Program(ABC):
    """One that was started, and runs until it is stopped or its domain is killed."""

    name: str

    @abstractmethod
    def status(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""

    @abstractmethod
    def said(self) -> str:
        """All that it wrote."""

    @abstractmethod
    def stop(self, timeout: float) -> int:
        """Asks it to end, and makes it after `timeout` seconds. Returns its exit status."""

    def last_words(self) -> str:
        """The last lines of what it wrote, for an error message."""
        return "\n".join(f"    {line}" for line in self.said().splitlines()[-15:])


class Place(ABC):
    """A domain, to start programs in. `folder` is for their files."""

    _look_seconds = 0.02  # between looks at what is waited for
    _end_seconds = 5  # for a program whose end nobody looks at

    def __init__(self, domain: str, folder: Path, patience: float) -> None:
        self.domain, self.folder = domain, folder
        self._patience = patience
        self._programs: list[Program] = []

    # --- what a place has to know ---

    @abstractmethod
    def _launch(self, name: str, command: list[str], environment: dict[str, str]) -> Program:
        """Starts a program that cannot outlive the demo."""

    @abstractmethod
    def run(self, command: list[str], **environment: str) -> str:
        """A program to its end: what it printed. Raises DemoError if it fails."""

    @abstractmethod
    def put(self, file: Path) -> Path:
        """A file of this machine, for the domain to read."""

    @abstractmethod
    def write(self, name: str, content: bytes) -> Path:
        """A file in `folder`."""

    @abstractmethod
    def read(self, path: Path) -> bytes:
        """Nothing where there is no such file."""

    @abstractmethod
    def ask(self, path: Path) -> dict | None:
        """The JSON that a unix socket tells whoever connects; None while nobody listens."""

    @abstractmethod
    def to_here(self, time: int) -> int:
        """A time of the domain's clock on this machine's, in ns."""

    @property
    def screen(self) -> Path | None:
        """The socket at which its screen can be looked at (VNC), where it has one of its own."""
        return None

    def photograph(self, picture: Path) -> None:
        """What is on that screen, into a file of this machine."""
        raise DemoError(f"{self.domain} has no screen of its own")

    @abstractmethod
    def kill(self) -> None:
        """The domain with all that runs in it, at once, as if its power were cut."""

    # --- programs ---

    @property
    def points(self) -> Path:
        """Where the domain's programs write the points of their timeline."""
        return self.folder / "points.log"

    def start(self, name: str, command: list[str], **environment: str) -> Program:
        environment = {
            "GID_DOMAIN": self.domain,
            "GID_TIMELINE": str(self.points),
            **environment,
        }
        program = self._launch(name, command, environment)
        self._programs.append(program)
        return program

    def stop(self, program: Program) -> int:
        """Its exit status."""
        self._programs.remove(program)
        return program.stop(self._patience)

    def stop_all(self) -> None:
        """The last started first."""
        while self._programs:
            self._programs.pop().stop(self._end_seconds)

    def keep_words(self, folder: Path) -> None:
        """Writes what each program said into a file of this machine."""
        for program in self._programs:
            (folder / f"{self.domain}-{program.name}.log").write_text(program.said())

    def check(self) -> None:
        """Raises if a program has ended that should not have."""
        for program in self._programs:
            status = program.status()
            if status is not None:
                how = f"was ended by signal {-status}" if status < 0 else f"ended, status {status}"
                raise DemoError(f"{program.name} {how}. It said:\n{program.last_words()}")

    def wait_until(self, what: str, condition: Callable[[], object]) -> None:
        end = time.monotonic() + self._patience
        while not condition():
            self.check()
            if time.monotonic() > end:
                raise DemoError(f"{what} did not happen within {self._patience:.0f} s")
            time.sleep(self._look_seconds)

    def read_json(self, path: Path) -> dict:
        """Empty while there is no such file."""
        text = self.read(path)
        return json.loads(text) if text else {}
