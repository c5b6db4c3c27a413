# SPDX-License-Identifier: MIT
"""The places where the same programs are measured: natively, and in a guest.

A place runs a command to its end and returns what it printed. The guest is the one that gidway
boots itself, or any machine that the user names a command for (`ssh board`).
"""

import contextlib
import json
import math
import os
import selectors
import shlex
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any

from .outcome import WANTING, Broke, CannotRun

PRINTED_MAX = 4 << 20  # bytes of one probe
PIECE = 1 << 16
LOOK = 0.2  # seconds between two looks whether a command ended that left others with its output
ANSWER = 30.0  # seconds for a system to say that it is there


class BadCommand(Exception):
    """What is wrong with a user's way to a system, in a sentence."""


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
        """The figures of a gid-probe that runs there. What a shell says before or after them, as
        some do at each login, is left out."""
        text = self.run(["gid-probe", *words], seconds)
        try:
            found, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
            return [_checked(figure) for figure in found["figures"]]
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise Broke(f"{self.name}: gid-probe printed no figures: {text[:200]!r}") from None

    def has(self, program: str) -> bool:
        try:
            self.run(["sh", "-c", f"command -v {shlex.quote(program)}"], 60.0)
        except (CannotRun, Broke):
            return False
        return True


def _checked(figure: dict[str, Any]) -> dict[str, Any]:
    least, most = map(float, figure["spread"])
    value = float(figure["value"])
    if not all(map(math.isfinite, (least, most, value))):
        raise ValueError("a figure is a number")
    return {
        "name": str(figure["name"]),
        "unit": str(figure["unit"]),
        "n": int(figure["n"]),
        "value": value,
        "spread": (least, most),
    }


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
        try:
            self._words = shlex.split(command or "")
        except ValueError as error:
            raise BadCommand(f"the way to the {name} system: {command}: {error}") from None
        if command and not self._words:
            raise BadCommand(f"the way to the {name} system is no command: {command!r}")
        self.prefix = f"{command} " if command else ""

    def run(self, words: list[str], seconds: float) -> str:
        # A command that leads elsewhere joins its words, as ssh does.
        joined = [*self._words, shlex.join(words)] if self._words else words
        try:
            code, out, said = _finish(joined, seconds, self._environment)
        except OSError as error:
            raise CannotRun(f"{self.name}: {joined[0]} cannot be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise Broke(f"{self.name}: {shlex.join(words)} took over {seconds:g} s") from None
        except OverflowError:
            raise Broke(f"{self.name}: {shlex.join(words)} does not end printing") from None
        if code == NOT_FOUND:
            raise CannotRun(
                f"{self.name}: there is no {words[0]} in the search path there"
                + (f" ({said})" if said else "")
            )
        if code == WANTING and said:
            raise CannotRun(f"{self.name}: {said}")
        if code != 0:
            raise Broke(f"{self.name}: {shlex.join(words)}: {said or f'status {code}'}")
        return out

    def answer(self) -> None:
        """Raises CannotRun if gidway is not to be had there, before anything is measured."""
        try:
            self.run(["gid-probe", "--version"], ANSWER)
        except Broke as error:
            raise CannotRun(str(error)) from None


NOT_FOUND = 127  # what a shell says of a program that is not there


def _finish(words: list[str], seconds: float, environment: dict[str, str]) -> tuple[int, str, str]:
    """Its status, what it printed, and the end of what it said. It and what it started end after
    the time (TimeoutExpired), or when they print without end (OverflowError)."""
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # so that all of it can be ended, and nobody asks for a password
    )
    out, said = bytearray(), bytearray()
    try:
        _read(process, {process.stdout: out, process.stderr: said}, time.monotonic() + seconds)
        code = process.wait(max(LOOK, seconds))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process.stderr.close()
    texts = (bytes(part).decode(errors="replace") for part in (out, said))
    return code, next(texts), next(texts).strip()[-300:]


def _read(process: subprocess.Popen[bytes], parts: dict[Any, bytearray], end: float) -> None:
    """Until both are closed, or the program is gone and nothing more comes."""
    with selectors.DefaultSelector() as selector:
        for pipe in parts:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            was_gone = process.poll() is not None
            ready = selector.select(LOOK)
            for key, _ in ready:
                piece = os.read(key.fd, PIECE)
                parts[key.fileobj] += piece
                if not piece:
                    selector.unregister(key.fileobj)
            if sum(map(len, parts.values())) > PRINTED_MAX:
                raise OverflowError
            if was_gone and not ready:
                return
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(process.args, 0)


class Booted(System):
    """A guest that this process booted (gid_vm.guest.Guest), or boots when it is first asked."""

    def __init__(self, boot: Callable[[], Any], name: str = "guest", prefix: str = "") -> None:
        self._boot, self.name, self.prefix = cache(boot), name, prefix

    def run(self, words: list[str], seconds: float) -> str:
        from gid_vm.agent import GuestError
        from gid_vm.initramfs import CannotBoot

        try:
            result = self._boot().run(words, seconds)
        except CannotBoot as error:
            raise CannotRun(f"{self.name}: {error}") from None
        except GuestError as error:
            raise Broke(f"{self.name}: {error}") from None
        said = result.err.strip()[-300:]
        if result.code == WANTING and said:
            raise CannotRun(f"{self.name}: {said}")
        if result.code != 0:
            raise Broke(f"{self.name}: {shlex.join(words)}: {said}")
        return result.out[:PRINTED_MAX]
