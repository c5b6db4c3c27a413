# SPDX-License-Identifier: MIT
"""The places where the same programs are measured: natively, and in a guest.

A place runs a command to its end and returns what it printed. The guest is the one that gidway
boots itself, or any machine that the user names a command for (`ssh board`).
"""

import json
import os
import shlex
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

PRINTED_MAX = 4 << 20  # of one probe


class CannotRun(Exception):
    """Why a command gave no result, in a sentence."""


class System(ABC):
    """`name` is that of the report's columns; `prefix` what a user types before the command."""

    name: str
    prefix: str = ""

    @abstractmethod
    def run(self, words: list[str], seconds: float) -> str:
        """Runs the command there and returns what it printed, or raises CannotRun."""

    def typed(self, line: str) -> str:
        """What a user types to have a command line run there."""
        return f"{self.prefix}{line}"

    def probe(self, words: list[str], seconds: float = 300.0) -> list[dict[str, Any]]:
        """The figures of a gid-probe that runs there."""
        text = self.run(["gid-probe", *words], seconds)
        try:
            figures = json.loads(text)["figures"]
            for figure in figures:
                figure["spread"] = tuple(map(float, figure["spread"]))
                figure["value"], figure["n"] = float(figure["value"]), int(figure["n"])
                figure["name"], figure["unit"] = str(figure["name"]), str(figure["unit"])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise CannotRun(f"{self.name}: gid-probe printed no figures: {text[:200]!r}") from None
        return figures

    def has(self, program: str) -> bool:
        try:
            self.run(["sh", "-c", f"command -v {shlex.quote(program)}"], 60.0)
        except CannotRun:
            return False
        return True


class Native(System):
    """This machine, or the one that `command` leads to. `environment`: more of it here."""

    def __init__(
        self,
        command: str | None = None,
        name: str = "native",
        environment: dict[str, str] | None = None,
    ) -> None:
        self.name = name
        self.is_here = not command
        self._environment = os.environ | (environment or {})
        self._words = shlex.split(command or "")
        self.prefix = f"{command} " if command else ""

    def run(self, words: list[str], seconds: float) -> str:
        # A command that leads elsewhere joins its words, as ssh does.
        joined = [*self._words, shlex.join(words)] if self._words else words
        try:
            result = subprocess.run(
                joined,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                env=self._environment,
            )
        except FileNotFoundError:
            raise CannotRun(f"{self.name}: there is no {joined[0]}") from None
        except subprocess.TimeoutExpired:
            raise CannotRun(f"{self.name}: {words[0]} took over {seconds:.0f} s") from None
        if result.returncode != 0:
            said = result.stderr.decode(errors="replace").strip()[-300:]
            raise CannotRun(f"{self.name}: {shlex.join(words)}: {said or result.returncode}")
        return result.stdout[:PRINTED_MAX].decode(errors="replace")


class Booted(System):
    """A guest that this process booted (gid_vm.guest.Guest)."""

    name = "guest"
    prefix = "./run vm "

    def __init__(self, guest: Any) -> None:
        self._guest = guest

    def run(self, words: list[str], seconds: float) -> str:
        from gid_vm.agent import GuestError

        try:
            result = self._guest.run(words, seconds)
        except GuestError as error:
            raise CannotRun(f"guest: {error}") from None
        if result.code != 0:
            raise CannotRun(f"guest: {shlex.join(words)}: {result.err.strip()[-300:]}")
        return result.out[:PRINTED_MAX]


class InCockpit(System):
    """The guest that `./run bench virtual` boots once for all: `lines` run there. `found` gives
    what the benchmark found."""

    name = "guest"
    prefix = "./run bench virtual --run "

    def __init__(self, found: Callable[[], dict[str, Any]]) -> None:
        self._found = found

    def run(self, words: list[str], seconds: float) -> str:
        line = shlex.join(words)
        for row in self._found()["rows"]:
            if row["what"] == "run" and row["who"] == line:
                if row["failed"]:
                    raise CannotRun(f"guest: {row['failed']}")
                return row["out"]
        raise CannotRun(f"guest: {line} was not run there")

    def typed(self, line: str) -> str:
        return f"{self.prefix}{shlex.quote(line)}"

    def has(self, program: str) -> bool:
        """It runs this machine's own programs."""
        return shutil.which(program) is not None
