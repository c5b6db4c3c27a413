# SPDX-License-Identifier: MIT
"""A program of a domain, wherever that is; and waits that end."""

import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

# Seconds. Machines are shared, and translated guests slow: a wait ends early when all is well.
PATIENCE = float(os.environ.get("GIDWAY_PATIENCE", 120))


class LabError(Exception):
    """What went wrong, in a sentence for the user."""


class Wanting(LabError):
    """What is not there that it needs; said before anything is measured."""


def wait_for(
    what: str,
    condition: Callable[[], object],
    patience: float = PATIENCE,
    pause: float = 0.02,
    check: Callable[[], None] = lambda: None,
) -> None:
    """`check` is called before each pause, and raises if there is nothing more to wait for."""
    end = time.monotonic() + patience
    while not condition():
        check()
        if time.monotonic() > end:
            raise LabError(f"{what} did not happen within {patience:.0f} s")
        time.sleep(pause)


class Program(ABC):
    """One that was started, and runs until it is stopped or its domain is killed."""

    name: str

    @property
    @abstractmethod
    def pid(self) -> int:
        """As its domain counts processes."""

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
