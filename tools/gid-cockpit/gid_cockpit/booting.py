# SPDX-License-Identifier: MIT
"""What `up` does while guests boot: it waits, tells what is missing, and gives up at last."""

import re
import time

from gid_console import printable, say

from .configuration import CockpitError, Configuration
from .logs import last_lines, log_folder
from .machine import CONSOLE, Guest, accel_of
from .state import MissingLink

KVM_SECONDS = 180.0
# A whole distribution computes for a minute without KVM. The other processes of a busy machine make
# five of it, and have made more than three. This is three times that.
TCG_SECONDS = 900.0
TELL_SECONDS = 30.0
CONTROLS = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[^\[])")


class Booting:
    """Guests that boot, for await_links()."""

    def __init__(self, configuration: Configuration, guests: list[Guest]) -> None:
        self.configuration, self.guests = configuration, guests
        self.start = self.told = time.monotonic()
        self.translated = any(accel_of(guest.domain.machine) == "tcg" for guest in guests)
        self.seconds = TCG_SECONDS if self.translated else KVM_SECONDS

    def begin(self) -> None:
        names = ", ".join(guest.domain.name for guest in self.guests)
        how = ", which takes minutes on a busy machine without KVM" if self.translated else ""
        say(f"{names}: booting{how}")

    def look(self, missing: MissingLink) -> None:
        """CockpitError: a guest has ended."""
        for guest in self.guests:
            if guest.pid() is None:
                raise CockpitError(f"the guest {guest.domain.name} ended:\n{guest.last()}")
        now = time.monotonic()
        if now - self.told >= TELL_SECONDS:
            self.told = now
            say(f"after {now - self.start:.0f} s: {missing.why}{self._consoles(missing)}")

    def _consoles(self, missing: MissingLink) -> str:
        """What the guests at its ends said last."""
        said = ""
        for guest in self.guests:
            name = guest.domain.name
            lines = last_lines(log_folder(self.configuration, name) / CONSOLE)
            words = [text for line in lines if (text := CONTROLS.sub("", line).strip())]
            if name in missing.ends and words:
                said += f"\n  {name} says: {printable(words[-1])}"
        return said

    def late(self, missing: MissingLink) -> str:
        command = self.configuration.command
        names = [guest.domain.name for guest in self.guests if guest.domain.name in missing.ends]
        logs = f"\nWhat {names[0]} says: {command(f'logs {names[0]}')}" if names else ""
        return (
            f"{missing.why}, after {self.seconds:.0f} s. The guests go on booting.\n"
            f"Whether it is up: {command('status')}{logs}"
        )
