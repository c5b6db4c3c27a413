# SPDX-License-Identifier: MIT
"""Programs under test, and waits that always end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

from lab.domains import program
from lab.domains.here import Here, Process
from lab.domains.program import PATIENCE, LabError

TOP = Path(__file__).resolve().parents[2]

# Where meson built what is tested: meson's tests are told, by hand it is ./run's default.
BUILD = Path(os.environ.get("GIDWAY_BUILD", TOP / "build"))

_RULES = (BUILD / "build.ninja").read_text()
# Their runtime libraries, and what is loaded before others, make calls of their own.
SANITIZED = "-fsanitize" in _RULES
# What gcc counts is written to files as a program ends: not by one that is killed, nor by one
# that may open none any more.
COUNTED = "--coverage" in _RULES
# What runs programs of another architecture has no seccomp().
EMULATED = "GIDWAY_ARCH" in os.environ
CONFINE = () if SANITIZED or COUNTED or EMULATED else ("--confine",)
# Its memory is counted as theirs.
EMULATOR_KIB = 4 << 10 if EMULATED else 0

_COUNTS_SECONDS = 5  # in which one that is to write them runs

T = TypeVar("T")


@cache
def devenv() -> dict[str, str]:
    """The environment in which all that was built is found, as that of ./run shell."""
    command = ["meson", "devenv", "-C", BUILD, "env", "--null"]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(line.split("=", 1) for line in words.split("\0") if line)


def python_env() -> dict[str, str]:
    """For programs in Python that a test starts: they find the modules that it finds itself."""
    return {"PYTHONPATH": os.pathsep.join(sys.path)}


def why_no_other_users() -> str | None:
    """Why no other user can run what was built here, or None. Theirs is the suite root."""
    if os.geteuid() != 0:
        return "only root can do this: ./run test root"
    for folder in (BUILD.resolve(), *BUILD.resolve().parents):
        if folder.stat().st_mode & 0o001 == 0:
            return f"other users do not get into {folder}"
    return None


def wait_for(
    condition: Callable[[], T],
    what: str | Callable[[], str],
    timeout: float = PATIENCE,
    pause: float = 0.02,
) -> T:
    """As the lab's; a wait in vain is a failure of the test."""
    try:
        return program.wait_for(what, condition, timeout, pause)
    except LabError as error:
        raise AssertionError(str(error)) from None


def is_alive(pid: int) -> bool:
    """Not a zombie either: in a container nobody may collect those that are left behind."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends between open and read
        return False


def own_kib(pid: int) -> int:
    """Memory that the process shares with nobody, KiB."""
    return _status_kib(pid, "RssAnon")


def shared_kib(pid: int) -> int:
    """What it has looked at of memory that others may have, too, KiB."""
    return _status_kib(pid, "RssShmem")


def _status_kib(pid: int, key: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(key))


class Program(Process):
    """One with its output in files, which cannot outlive its test."""

    started: "list[Program]" = []  # those of the tests so far that may still run

    def __init__(
        self,
        arguments: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        log_dir: Path | None = None,
        name: str | None = None,
        cwd: Path | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self.arguments = [str(argument) for argument in arguments]
        self.runtime = (env or {}).get("GID_RUNTIME_DIR")
        name = name or Path(self.arguments[0]).name
        folder = log_dir or Path(os.environ.get("TMPDIR", "/tmp"))
        log = folder / f"{name.replace('/', '-')}-{time.monotonic_ns()}.err"
        super().__init__(name, self.arguments, log, env, cwd=cwd, pass_fds=pass_fds)
        self.started.append(self)

    @property
    def stdout(self) -> str:
        return self.printed()

    @property
    def stderr(self) -> str:
        return self.log.read_text(errors="replace")

    def wait(self, patience: float = PATIENCE) -> int:
        """The exit status; fails with the program's output if it does not end."""
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} does not end:\n{self.stderr}") from None

    def wait_output(self, text: str, timeout: float = PATIENCE) -> None:
        """Waits until the program has written `text` to its standard output or error."""

        def said() -> bool:
            runs = self.is_running()  # asked first: it may write it, and end
            found = text in self.said()
            assert found or runs, f"{self.name} ended before {text!r}:\n{self.stderr}"
            return found

        wait_for(said, f"{self.name} to write {text!r}", timeout)

    def signal(self, number: signal.Signals) -> None:
        """To it alone."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL to it and whatever it started, and waits for its end."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def end(self) -> None:
        """As its test is over: in good order only where that is of use."""
        if COUNTED:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGTERM)  # strace keeps its own from what it runs
            self._wait_written()
        self.kill()

    def _wait_written(self) -> None:
        """Until it has ended, unless it only sleeps: what counts on a busy machine is no hang."""
        used, end = -1, time.monotonic() + PATIENCE
        while used < (used := self._used()) and time.monotonic() < end:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_COUNTS_SECONDS)

    def _used(self) -> int:
        """Of a processor, in ticks; one more where it waits for one. -1: it has ended."""
        if not self.is_running():
            return -1
        words = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return int(words[11]) + int(words[12]) + (words[0] in "RD")

    def open_fds(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))


class Room(Here):
    """A place of this machine with this environment, whose programs are under test."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        domain, runtime = environment["GID_DOMAIN"], Path(environment["GID_RUNTIME_DIR"])
        super().__init__(domain, folder / "cockpit.conf", runtime=runtime, folder=folder)
        self.environment = dict(environment)
        self.pass_fds: Sequence[int] = ()

    def launch(self, name: str, command: list[str], environment: dict[str, str]) -> Program:
        return Program(command, environment, self.folder, name, pass_fds=self.pass_fds)
