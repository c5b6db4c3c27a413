# SPDX-License-Identifier: MIT
"""Where a domain's programs run: on this machine (here.py), in a container (contained.py) or in a
guest (there.py).

All have the same interface. Paths are those that the domain's programs see, and times are of the
domain's clock, unless said otherwise.
"""

import contextlib
import json
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from lab.domains import priority
from lab.domains.program import LabError, Program, wait_for

# Runs a program that first writes its process id, as its domain counts it, into a file.
TELL_PID = ["sh", "-c", 'echo $$ >"$0" && exec "$@"']


class Place(ABC):
    """A domain in which programs are started, each with a unique name.

    `folder`: for their files. `runtime`: gidd's runtime folder. `environment`: variables for all
    programs.
    """

    pause = 0.02  # seconds between two polls of a condition
    end_seconds = 5.0  # for a program whose end is not checked

    def __init__(self, domain: str, folder: Path, runtime: Path, patience: float) -> None:
        self.domain, self.folder, self.runtime = domain, folder, runtime
        self.patience = patience
        self.environment = {"GID_DOMAIN": domain, "GID_RUNTIME_DIR": str(runtime)}
        self._programs: dict[str, Program] = {}

    # --- to be implemented ---

    @abstractmethod
    def up(self) -> None:
        """Starts the domain's gidd. Returns when it accepts connections."""

    @abstractmethod
    def launch(self, name: str, command: list[str], environment: dict[str, str]) -> Program:
        """Starts a program that cannot outlive us."""

    @abstractmethod
    def run(self, command: Sequence[str], stdin: bytes = b"", patience: float | None = None) -> str:
        """Runs a program to its end, and returns its output. Raises LabError if it fails."""

    @abstractmethod
    def put(self, file: Path) -> Path:
        """Makes a file of this machine available to the domain. Returns its path there."""

    def translate(self, text: str) -> str:
        """Replaces paths of this machine's build by those that the domain has."""
        return text

    @abstractmethod
    def write(self, name: str, content: bytes) -> Path:
        """Writes a file in `folder`."""

    @abstractmethod
    def read(self, path: Path) -> bytes:
        """The content of a file; empty if it does not exist."""

    @abstractmethod
    def ask(self, path: Path) -> dict | None:
        """The JSON that a Unix socket sends to a new connection; None: nothing listens there."""

    @abstractmethod
    def to_here(self, time: int) -> int:
        """Converts a time of the domain's clock to this machine's clock, in ns."""

    @abstractmethod
    def signal_all(self, number: signal.Signals) -> None:
        """Sends a signal to all programs of the domain."""

    @abstractmethod
    def kill(self) -> None:
        """Kills the domain with all its programs at once, like a power cut."""

    @abstractmethod
    def logs(self) -> dict[str, str]:
        """The output of the programs, by name."""

    def is_up(self) -> bool:
        """Whether programs can be started in it."""
        return self.is_running("gidd")

    @property
    def screen(self) -> Path | None:
        """The VNC socket of its own screen; None: it has no screen."""
        return None

    def photograph(self, picture: Path) -> None:
        """Saves a picture of that screen in a file of this machine."""
        raise LabError(f"{self.domain} has no screen of its own")

    # --- programs ---

    def before_others(self, level: int = 9) -> list[str]:
        """As priority.before_others(), for a command in this domain, which is up."""
        return priority.before_others(level)

    @property
    def gidd_socket(self) -> Path:
        return self.runtime / self.domain / "gidd.sock"

    def start(self, name: str, command: Sequence[str], **environment: str) -> Program:
        program = self.launch(name, list(command), self.environment | environment)
        self._programs[name] = program
        return program

    @contextlib.contextmanager
    def running(self, name: str, command: Sequence[str], **environment: str) -> Iterator[Program]:
        """A program that is stopped at the end of the block."""
        program = self.start(name, command, **environment)
        try:
            yield program
        finally:
            del self._programs[name]
            program.stop()

    def __getitem__(self, name: str) -> Program:
        return self._programs[name]

    def is_running(self, name: str) -> bool:
        return name in self._programs and self._programs[name].is_running()

    def ended(self) -> list[str]:
        """The names of the programs that have ended."""
        return [name for name in self._programs if not self.is_running(name)]

    def pids(self) -> list[int]:
        return [program.pid for program in self._programs.values() if program.is_running()]

    def forget(self, *names: str) -> None:
        """Forgets programs that have ended as expected. Without names: all."""
        for name in names or list(self._programs):
            del self._programs[name]

    def stop(self, name: str) -> int:
        """Stops and forgets a program. Returns its exit status."""
        program = self._programs.pop(name)
        return program.stop(self.patience)

    def stop_others(self) -> None:
        """Stops all but its gidd, in reverse order of their start."""
        for name in [name for name in self._programs if name != "gidd"][::-1]:
            self.stop(name)

    def stop_all(self) -> None:
        """Stops all, in reverse order of their start. Programs that do not react are killed."""
        while self._programs:
            _, program = self._programs.popitem()
            try:
                program.stop(self.end_seconds)
            except LabError:
                pass  # it was killed

    def check(self, *names: str) -> None:
        """Raises if one of these programs has ended unexpectedly. Without names: of all."""
        for name in names or list(self._programs):
            program = self._programs[name]
            status = program.status()
            if status is not None:
                how = f"was ended by signal {-status}" if status < 0 else f"ended, status {status}"
                raise LabError(f"{name} of {self.domain} {how}. It said:\n{program.last_words()}")

    def wait_until(self, what: str, condition: Callable[[], object], *names: str) -> None:
        """Polls a condition. Raises at once if one of these programs ends meanwhile; without names:
        of all.
        """
        wait_for(what, condition, self.patience, self.pause, partial(self.check, *names))

    def read_json(self, path: Path) -> dict:
        """Empty if the file does not exist."""
        text = self.read(path)
        return json.loads(text) if text else {}
