# SPDX-License-Identifier: MIT
"""A running program of a domain, wherever it runs; and waits with a limit."""

import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

# Seconds. Machines are shared; sanitizers and emulated guests are slow. A wait ends early when all
# is well, so this is no expected duration: it only says when to give up.
PATIENCE = float(os.environ.get("GIDWAY_PATIENCE", 240))

T = TypeVar("T")


class LabError(Exception):
    """What went wrong, in a sentence for the user."""


class Wanting(LabError):
    """Something required is missing; raised before anything is measured."""


def wait_for(
    what: str | Callable[[], str],
    condition: Callable[[], T],
    patience: float = PATIENCE,
    pause: float = 0.02,
    check: Callable[[], None] = lambda: None,
) -> T:
    """Polls `condition` until it is truthy, and returns its result.

    `check` is called before each pause, and raises if waiting is pointless.
    """
    end = time.monotonic() + patience
    while not (answer := condition()):
        check()
        if time.monotonic() > end:
            said = what if isinstance(what, str) else what()
            raise LabError(f"waited {patience} s in vain: {said}")
        time.sleep(pause)
    return answer


class Program(ABC):
    """A program that runs until it is stopped or its domain is killed."""

    name: str

    @property
    @abstractmethod
    def pid(self) -> int:
        """Its process id in its domain."""

    @property
    def pid_here(self) -> int | None:
        """Its process id on this machine; None: it runs on another machine."""
        return None

    @abstractmethod
    def status(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""

    @abstractmethod
    def printed(self) -> str:
        """Its standard output so far."""

    @abstractmethod
    def said(self) -> str:
        """All its output so far."""

    @abstractmethod
    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to it and its child processes, if it runs."""

    @abstractmethod
    def wait(self, patience: float) -> int:
        """Returns its exit status. A program that does not end in time is killed, and LabError
        raised.
        """

    def is_running(self) -> bool:
        return self.status() is None

    def output(self, patience: float = PATIENCE) -> str:
        """Waits for its end, and returns its standard output."""
        self.wait(patience)
        return self.printed()

    def finish(self, patience: float = PATIENCE) -> str:
        """Asks it to end, and returns its standard output."""
        self.signal(signal.SIGTERM)
        return self.output(patience)

    def stop(self, patience: float = PATIENCE) -> int:
        """Asks it to end, and returns its exit status."""
        self.signal(signal.SIGTERM)
        return self.wait(patience)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait(PATIENCE)

    def last_words(self) -> str:
        """The last lines of what it wrote, for an error message."""
        return "\n".join(f"    {line}" for line in self.said().splitlines()[-15:])
