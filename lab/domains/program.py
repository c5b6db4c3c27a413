# SPDX-License-Identifier: MIT
"""A program of a domain, wherever that is; and waits that end."""

import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

# Seconds. Machines are shared, sanitizers and translated guests slow: a wait ends early when all
# is well. So this is no time that anything may take, but says that it will never come.
PATIENCE = float(os.environ.get("GIDWAY_PATIENCE", 240))

T = TypeVar("T")


class LabError(Exception):
    """What went wrong, in a sentence for the user."""


class Wanting(LabError):
    """What is not there that it needs; said before anything is measured."""


def wait_for(
    what: str | Callable[[], str],
    condition: Callable[[], T],
    patience: float = PATIENCE,
    pause: float = 0.02,
    check: Callable[[], None] = lambda: None,
) -> T:
    """Asks until the answer is truthy, and returns it. `check` is called before each pause, and
    raises if there is nothing more to wait for."""
    end = time.monotonic() + patience
    while not (answer := condition()):
        check()
        if time.monotonic() > end:
            said = what if isinstance(what, str) else what()
            raise LabError(f"waited {patience} s in vain: {said}")
        time.sleep(pause)
    return answer


class Program(ABC):
    """One that was started, and runs until it is stopped or its domain is killed."""

    name: str

    @property
    @abstractmethod
    def pid(self) -> int:
        """As its domain counts processes."""

    @property
    def pid_here(self) -> int | None:
        """As this machine does; None: it is another machine's."""
        return None

    @abstractmethod
    def status(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""

    @abstractmethod
    def printed(self) -> str:
        """Its standard output so far."""

    @abstractmethod
    def said(self) -> str:
        """All that it has written so far."""

    @abstractmethod
    def signal(self, number: signal.Signals) -> None:
        """To it and what it started, if it runs."""

    @abstractmethod
    def wait(self, patience: float) -> int:
        """Its exit status. One that does not end in time is killed, and that is an error."""

    def is_running(self) -> bool:
        return self.status() is None

    def output(self, patience: float = PATIENCE) -> str:
        """What it has printed, when it has ended."""
        self.wait(patience)
        return self.printed()

    def finish(self, patience: float = PATIENCE) -> str:
        """Asks it to end. What it has printed."""
        self.signal(signal.SIGTERM)
        return self.output(patience)

    def stop(self, patience: float = PATIENCE) -> int:
        """Asks it to end. Its exit status."""
        self.signal(signal.SIGTERM)
        return self.wait(patience)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait(PATIENCE)

    def last_words(self) -> str:
        """The last lines of what it wrote, for an error message."""
        return "\n".join(f"    {line}" for line in self.said().splitlines()[-15:])
