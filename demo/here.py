# SPDX-License-Identifier: MIT
"""A domain of this machine: its programs are processes like others."""

import contextlib
import json
import os
import signal
import socket
import subprocess
from pathlib import Path

from place import LATE, DemoError, Place, Program


class Process(Program):
    def __init__(self, name: str, process: subprocess.Popen, log: Path) -> None:
        self.name, self.process, self._log = name, process, log

    def status(self) -> int | None:
        return self.process.poll()

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def stop(self, timeout: float) -> int:
        """What it started itself goes with it."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
        status = self.process.wait()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return status


class Here(Place):
    def _launch(self, name: str, command: list[str], environment: dict[str, str]) -> Process:
        log = self.folder / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**LATE, **os.environ, **environment},
                start_new_session=True,
            )
        return Process(name, process, log)

    def run(self, command: list[str], **environment: str) -> str:
        result = subprocess.run(
            command,
            env={**LATE, **os.environ, "GID_DOMAIN": self.domain, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=self._patience,
        )
        if result.returncode != 0:
            raise DemoError(f"{command[0]} in {self.domain}: {result.stderr.strip()}")
        return result.stdout

    def put(self, file: Path) -> Path:
        return file

    def write(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    def read(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return b""

    def ask(self, path: Path) -> dict | None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(self._patience)
            try:
                connection.connect(str(path))
            except (FileNotFoundError, ConnectionRefusedError):
                return None
            with connection.makefile("rb") as answer:
                return json.load(answer)

    def to_here(self, time: int) -> int:
        return time

    def kill(self) -> None:
        for program in self._programs:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.process.pid, signal.SIGKILL)
        for program in self._programs:
            program.process.wait()
        self._programs = []
