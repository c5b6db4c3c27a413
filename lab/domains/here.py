# SPDX-License-Identifier: MIT
"""A domain of this machine: its programs are processes like others."""

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab.domains.place import Place
from lab.domains.program import PATIENCE, LabError, Program


class Process(Program):
    """`log` has its standard error, after what others of its name have written."""

    def __init__(
        self, name: str, command: list[str], log: Path, env: dict[str, str], session: bool
    ) -> None:
        self.name, self.log, self._output = name, log, log.with_suffix(".out")
        self._is_over = False
        self._said_before = log.stat().st_size if log.exists() else 0
        with log.open("ab") as errors, self._output.open("wb") as output:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=env,
                start_new_session=session,
                process_group=None if session else 0,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    def status(self) -> int | None:
        return self.process.poll()

    def printed(self) -> str:
        return self._output.read_text(errors="replace")

    def said(self) -> str:
        with self.log.open("rb") as log:
            log.seek(self._said_before)
            return self.printed() + log.read().decode(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        if self.is_running():
            os.killpg(self.pid, number)

    def wait(self, patience: float) -> int:
        """What it started itself goes with it."""
        if self._is_over:
            return self.process.wait()  # its number may be another's by now
        try:
            status = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            status = None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        self._is_over = True
        if status is None:
            raise LabError(f"{self.name} does not end; see {self.log}")
        return status


class Here(Place):
    """`core`: the processor that its programs run on; None: any. `sessions`: each has a session of
    its own, among which the kernel shares processors; else niceness counts among all."""

    def __init__(
        self,
        domain: str,
        configuration: Path,
        core: int | None = None,
        patience: float = PATIENCE,
        sessions: bool = True,
    ) -> None:
        runtime = configuration.parent
        super().__init__(domain, runtime / f"{domain}-files", runtime, patience)
        self.folder.mkdir(exist_ok=True)
        self._configuration, self._sessions = configuration, sessions
        self._before = [] if core is None else ["taskset", "-c", str(core)]

    def up(self) -> None:
        self.gidd_socket.unlink(missing_ok=True)  # that of one that was killed
        command = ["gidd", f"--config={self._configuration}", f"--domain={self.domain}"]
        self.start("gidd", command)
        self.wait_until(f"the start of {self.domain}'s gidd", self.gidd_socket.exists, "gidd")

    def launch(self, name: str, command: list[str], environment: dict[str, str]) -> Process:
        log = self.folder / f"{name}.log"
        words = [*self._before, *command]
        return Process(name, words, log, os.environ | environment, self._sessions)

    def run(self, command: Sequence[str], stdin: bytes = b"", patience: float | None = None) -> str:
        try:
            result = subprocess.run(
                command,
                env=os.environ | self.environment,
                input=stdin,
                capture_output=True,
                timeout=patience or self.patience,
            )
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{command[0]} in {self.domain}: {error}") from None
        if result.returncode != 0:
            said = result.stderr.decode(errors="replace").strip()
            raise LabError(f"{command[0]} in {self.domain}: {said}")
        return result.stdout.decode(errors="replace")

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
            connection.settimeout(self.patience)
            try:
                connection.connect(str(path))
            except (FileNotFoundError, ConnectionRefusedError):
                return None
            with connection.makefile("rb") as answer:
                return json.load(answer)

    def to_here(self, time: int) -> int:
        return time

    def signal_all(self, number: signal.Signals) -> None:
        for program in self._programs.values():
            program.signal(number)

    def kill(self) -> None:
        self.signal_all(signal.SIGKILL)
        for program in self._programs.values():
            program.kill()

    def logs(self) -> dict[str, str]:
        files = sorted(self.folder.glob("*.log"))
        return {log.stem: log.read_text(errors="replace") for log in files}
