# SPDX-License-Identifier: MIT
"""A domain of this machine: its programs are ordinary processes."""

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.domains.place import Place
from lab.domains.program import PATIENCE, LabError, Program, wait_for


class Process(Program):
    """A process of this machine.

    `log`: gets its standard error, appended. `output_path`: gets its standard output. `more`: as in
    Popen.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        env: Mapping[str, str] | None,
        session: bool = True,
        **more: object,
    ) -> None:
        self.name, self.log, self.output_path = name, log, log.with_suffix(".out")
        self._is_over = False
        self._said_before = log.stat().st_size if log.exists() else 0
        with log.open("ab") as errors, self.output_path.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=env,
                start_new_session=session,
                process_group=None if session else 0,
                **more,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def pid_here(self) -> int:
        return self.pid

    def status(self) -> int | None:
        return self.process.poll()

    def printed(self) -> str:
        return self.output_path.read_text(errors="replace")

    def said(self) -> str:
        with self.log.open("rb") as log:
            log.seek(self._said_before)
            return self.printed() + log.read().decode(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        if self.is_running():
            os.killpg(self.pid, number)

    def wait(self, patience: float) -> int:
        """Returns its exit status, and kills its child processes."""
        if self._is_over:
            return self.process.wait()  # its process id may have been reused
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


def gidd_command(domain: str, configuration: Path, gidd: str | Path = "gidd") -> list[str]:
    return [str(gidd), f"--config={configuration}", f"--domain={domain}"]


def _connect(connection: socket.socket, path: Path) -> bool:
    """False if the socket's backlog is full: the caller may try again."""
    try:
        connection.connect(str(path))
    except BlockingIOError:
        return False
    return True


def ask(path: Path, patience: float = PATIENCE) -> dict:
    """The JSON that a Unix socket sends to a new connection."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(patience)
        wait_for(f"room for a question at {path}", lambda: _connect(connection, path), patience)
        with connection.makefile("rb") as answer:
            return json.load(answer)


class Here(Place):
    """A domain of this machine.

    `core`: the CPU core that its programs run on; None: any. `sessions`: each program has its own
    session. The kernel shares the CPU fairly among sessions; within one session, niceness counts.
    `runtime` and `folder` are beside the configuration by default.
    """

    gidd: str | Path = "gidd"

    def __init__(
        self,
        domain: str,
        configuration: Path,
        core: int | None = None,
        patience: float = PATIENCE,
        sessions: bool = True,
        runtime: Path | None = None,
        folder: Path | None = None,
    ) -> None:
        runtime = runtime or configuration.parent
        super().__init__(domain, folder or runtime / f"{domain}-files", runtime, patience)
        self.folder.mkdir(exist_ok=True)
        self._configuration, self._sessions = configuration, sessions
        self._before = [] if core is None else ["taskset", "-c", str(core)]

    def up(self, *under: str | Path) -> None:
        """Starts gidd. `under`: a command that runs it, such as valgrind."""
        notify = self._configuration.with_name(f"{self.domain}.notify")
        command = gidd_command(self.domain, self._configuration, self.gidd)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.bind(str(notify))
            told.setblocking(False)

            def is_ready() -> bool:
                with contextlib.suppress(BlockingIOError):
                    return b"READY=1" in told.recv(4096)
                return False

            try:
                self.start("gidd", [*map(str, under), *command], NOTIFY_SOCKET=str(notify))
                self.wait_until(f"the start of {self.domain}'s gidd", is_ready, "gidd")
            finally:
                notify.unlink()

    def launch(self, name: str, command: list[str], environment: dict[str, str]) -> Process:
        """Starts a program that ends with us, even if we are killed."""
        return self._process(name, [*self._before, *command], os.environ | environment)

    def _process(self, name: str, command: list[str], environment: Mapping[str, str]) -> Process:
        log = self.folder / f"{name}.log"
        words = ["setpriv", "--pdeathsig", "TERM", *command]
        return Process(name, words, log, environment, self._sessions)

    def run(self, command: Sequence[str], stdin: bytes = b"", patience: float | None = None) -> str:
        return self._run(command, command, os.environ | self.environment, stdin, patience)

    def _run(
        self,
        command: Sequence[str],
        words: Sequence[str],
        environment: Mapping[str, str],
        stdin: bytes,
        patience: float | None,
    ) -> str:
        """`words`: the full command that runs `command`."""
        try:
            result = subprocess.run(
                words,
                env=environment,
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
        try:
            return ask(path, self.patience)
        except TimeoutError:
            raise LabError(f"{path} of {self.domain} does not answer") from None
        except (FileNotFoundError, ConnectionError, ValueError):  # or the server has just ended
            return None

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
