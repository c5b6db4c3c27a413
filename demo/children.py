# SPDX-License-Identifier: MIT
"""The processes that the demo starts: watched while they run, ended when it ends, and no others."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class DemoError(Exception):
    """What went wrong, in a sentence for the user."""


@dataclass
class Child:
    name: str
    process: subprocess.Popen
    log: Path
    may_end: bool

    def said(self) -> str:
        """The last lines of what it wrote, for an error message."""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(f"    {line}" for line in lines[-15:])


class Children:
    """Starts processes, each with a log file of its own in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._children: list[Child] = []

    def start(
        self, name: str, command: list[str], may_end: bool = False, **environment: str
    ) -> Child:
        """A process that dies with the demo, even where that is killed.

        `may_end`: that it ends by itself is no failure.
        """
        log = self.folder / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        child = Child(name, process, log, may_end)
        self._children.append(child)
        return child

    def kill(self, child: Child) -> None:
        """At once, and with what it started itself. It was not asked, and is none of ours now."""
        self._children.remove(child)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.process.pid, signal.SIGKILL)

    def wait(self, child: Child) -> None:
        child.process.wait()

    def check(self) -> None:
        """Raises if one has ended that should not have."""
        for child in self._children:
            status = child.process.poll()
            if status is None or (status == 0 and child.may_end):
                continue
            how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
            raise DemoError(f"{child.name} {how}. It said:\n{child.said()}")

    def wait_until(self, what: str, condition: Callable[[], bool], timeout: float = 15) -> None:
        end = time.monotonic() + timeout
        while not condition():
            self.check()
            if time.monotonic() > end:
                logs = ", ".join(str(child.log) for child in self._children)
                raise DemoError(f"{what} did not happen within {timeout:.0f} s; see {logs}")
            time.sleep(0.02)

    def stop(self, child: Child, timeout: float = 5) -> int:
        """Asks it to end, and makes it after `timeout` seconds. Returns its exit status."""
        if child in self._children:
            self._children.remove(child)
        if child.process.poll() is None:
            child.process.terminate()
            try:
                child.process.wait(timeout)
            except subprocess.TimeoutExpired:
                child.process.kill()
        return child.process.wait()

    def stop_all(self) -> None:
        """The last started first. What they started themselves goes with them."""
        for child in reversed(list(self._children)):
            self.stop(child)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.process.pid, signal.SIGKILL)
