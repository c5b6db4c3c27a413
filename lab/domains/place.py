# SPDX-License-Identifier: MIT
"""Where a domain's programs run: on this machine (here.py), in a container of it (contained.py) or
in a guest (there.py).

All look the same to who uses them. Paths are as the domain's programs see them, and times as the
clock of the domain has them, unless said otherwise.
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

# Tells which process a program is, as its domain counts them, to who could not know otherwise.
TELL_PID = ["sh", "-c", 'echo $$ >"$0" && exec "$@"']


class Place(ABC):
    """A domain, to start programs in, each by a name of its own. `folder` is for their files,
    `runtime` has what its gidd makes; `environment` is what all of them get."""

    pause = 0.02  # seconds between looks at what is waited for
    end_seconds = 5.0  # for a program whose end nobody looks at

    def __init__(self, domain: str, folder: Path, runtime: Path, patience: float) -> None:
        self.domain, self.folder, self.runtime = domain, folder, runtime
        self.patience = patience
        self.environment = {"GID_DOMAIN": domain, "GID_RUNTIME_DIR": str(runtime)}
        self._programs: dict[str, Program] = {}

    # --- what a place has to know ---

    @abstractmethod
    def up(self) -> None:
        """Starts the domain's gidd. Returns when it can be connected to."""

    @abstractmethod
    def launch(self, name: str, command: list[str], environment: dict[str, str]) -> Program:
        """Starts a program that cannot outlive us."""

    @abstractmethod
    def run(self, command: Sequence[str], stdin: bytes = b"", patience: float | None = None) -> str:
        """A program to its end: what it printed. Raises LabError if it fails."""

    @abstractmethod
    def put(self, file: Path) -> Path:
        """A file of this machine, for the domain to read."""

    def translate(self, text: str) -> str:
        """Paths of what was built for this machine, as those that the domain has."""
        return text

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

    @abstractmethod
    def signal_all(self, number: signal.Signals) -> None:
        """To all that runs in the domain."""

    @abstractmethod
    def kill(self) -> None:
        """The domain with all that runs in it, at once, as if its power were cut."""

    @abstractmethod
    def logs(self) -> dict[str, str]:
        """What the programs wrote, by their names."""

    def is_up(self) -> bool:
        """Whether programs can be started in it."""
        return self.is_running("gidd")

    @property
    def screen(self) -> Path | None:
        """The socket at which its screen can be looked at (VNC), where it has one of its own."""
        return None

    def photograph(self, picture: Path) -> None:
        """What is on that screen, into a file of this machine."""
        raise LabError(f"{self.domain} has no screen of its own")

    # --- programs ---

    def before_others(self, level: int = 9) -> list[str]:
        """As priority.before_others(), of a command of this domain's, which is up."""
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
        """One that ends with the block."""
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
        """The names of those that do not run any more."""
        return [name for name in self._programs if not self.is_running(name)]

    def pids(self) -> list[int]:
        return [program.pid for program in self._programs.values() if program.is_running()]

    def forget(self, *names: str) -> None:
        """Those that have ended as they should. Without a name: all."""
        for name in names or list(self._programs):
            del self._programs[name]

    def stop(self, name: str) -> int:
        """Its exit status. It is no longer known."""
        program = self._programs.pop(name)
        return program.stop(self.patience)

    def stop_others(self) -> None:
        """All but its gidd, the last started first."""
        for name in [name for name in self._programs if name != "gidd"][::-1]:
            self.stop(name)

    def stop_all(self) -> None:
        """The last started first. Those that do not listen are killed."""
        while self._programs:
            _, program = self._programs.popitem()
            try:
                program.stop(self.end_seconds)
            except LabError:
                pass  # it is gone all the same

    def check(self, *names: str) -> None:
        """Raises if one of these programs, or of all, has ended that should not have."""
        for name in names or list(self._programs):
            program = self._programs[name]
            status = program.status()
            if status is not None:
                how = f"was ended by signal {-status}" if status < 0 else f"ended, status {status}"
                raise LabError(f"{name} of {self.domain} {how}. It said:\n{program.last_words()}")

    def wait_until(self, what: str, condition: Callable[[], object], *names: str) -> None:
        """Raises at once if one of these programs, or of all, ends meanwhile."""
        wait_for(what, condition, self.patience, self.pause, partial(self.check, *names))

    def read_json(self, path: Path) -> dict:
        """Empty while there is no such file."""
        text = self.read(path)
        return json.loads(text) if text else {}
