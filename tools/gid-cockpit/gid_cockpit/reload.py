# SPDX-License-Identifier: MIT
"""A running gidd reads the configuration again: on this machine, or in a guest by its agent."""

import json
import signal
import time
from pathlib import Path
from typing import Protocol

from gid_vm.agent import Agent, GuestError

from .configuration import CockpitError
from .daemon import Daemon
from .machine import Guest
from .process import check_ours, handle, program

READ_SECONDS = 10.0
GUEST_SECONDS = 60.0  # without KVM, beside other guests
GUEST_CONFIG = "/run/guest/gidway.conf"


class Reads(Protocol):
    """A gidd that can be asked how it does, and told to read again."""

    seconds: float

    def ask(self) -> dict: ...

    def hang_up(self, pid: int) -> None: ...


class Here:
    """The gidd of a domain on this machine."""

    seconds = READ_SECONDS

    def __init__(self, daemon: Daemon) -> None:
        self.daemon, self.name = daemon, daemon.domain.name

    def ask(self) -> dict:
        report = self.daemon.ask()
        file, ours = Path(report["configuration"]["file"]), self.daemon.configuration.path
        if file.is_absolute() and file.resolve() != ours.resolve():
            raise CockpitError(f"the gidd of {self.name} reads another file, {file}")
        return report

    def hang_up(self, pid: int) -> None:
        try:
            with handle(pid, f"the gidd of {self.name}") as descriptor:
                if program(pid) != "gidd":
                    raise CockpitError(f"process {pid} is not the gidd of {self.name}")
                check_ours(pid, self.daemon.folder, f"the gidd of {self.name}")
                signal.pidfd_send_signal(descriptor, signal.SIGHUP)
        except ProcessLookupError:
            raise CockpitError(f"the gidd of {self.name} has just ended") from None


class Inside:
    """The gidd in a guest, which has a copy of the configuration: that is made anew first."""

    seconds = GUEST_SECONDS

    def __init__(self, guest: Guest) -> None:
        self.guest, self.name = guest, guest.domain.name
        self.agent = Agent(guest.folder / "agent.sock", pid=guest.check_up())

    def __enter__(self) -> "Inside":
        if self.guest.has_own_system():
            raise CockpitError(
                f"the guest {self.name} has a system of its own: copy the configuration there, and "
                "send its gidd SIGHUP"
            )
        try:
            self.agent.connect(time.monotonic() + 1, lambda: True)
            self.agent.wait_ready(GUEST_SECONDS)
        except GuestError as error:
            self.agent.close()
            raise self._silent(error) from None
        text = self.guest.configuration.path.read_bytes()
        # In one piece: gidd may begin anew at any time.
        script = 'cat >"$1.new" && mv "$1.new" "$1"'
        self._run(["sh", "-c", script, "sh", GUEST_CONFIG], text)
        self.guest.note_given(text)
        return self

    def __exit__(self, *_: object) -> None:
        self.agent.close()

    def ask(self) -> dict:
        told = self._run(["gidctl", "--domain", self.name, "--json", "status"])
        try:
            return checked(json.loads(told))
        except (LookupError, RecursionError, TypeError, ValueError):
            raise CockpitError(f"in the guest {self.name}: what gidctl says is no status") from None

    def hang_up(self, pid: int) -> None:
        self._run(["kill", "-HUP", str(pid)])

    def _silent(self, error: GuestError) -> CockpitError:
        return CockpitError(f"{self.name} does not answer: {error}")

    def _run(self, words: list[str], stdin: bytes = b"") -> str:
        try:
            result = self.agent.start(words, stdin=stdin).wait(GUEST_SECONDS)
        except GuestError as error:
            raise self._silent(error) from None
        if result.code != 0:
            raise CockpitError(f"in the guest {self.name}: {result.err.strip()}")
        return result.out


def checked(report: dict) -> dict:
    """A guest's, which may say anything: TypeError or LookupError, where it lacks what is used."""
    configuration = report["configuration"]
    for value, kind in (
        (report["pid"], int),
        (configuration["readings"], int),
        (configuration["refused"], str),
    ):
        if type(value) is not kind:
            raise TypeError
    return report


def read_again(gidd: Reads) -> str:
    """What the gidd could not take over, a line each; empty: it has taken all of it over."""
    report = gidd.ask()
    before = report["configuration"]["readings"]
    gidd.hang_up(report["pid"])
    end = time.monotonic() + gidd.seconds
    while (now := gidd.ask()["configuration"])["readings"] == before:
        if time.monotonic() > end:
            raise CockpitError("it does not read the configuration")
        time.sleep(0.02)
    return now["refused"].strip()


def reload(one: Daemon | Guest) -> str:
    """The same for what a domain runs in."""
    if isinstance(one, Daemon):
        return read_again(Here(one))
    with Inside(one) as inside:
        return read_again(inside)
