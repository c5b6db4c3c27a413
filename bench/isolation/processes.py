# SPDX-License-Identifier: MIT
"""Processes of one domain: pinned to a core, each with a log, and ended with the benchmark."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from common import BenchError

PATIENCE = float(os.environ.get("GIDWAY_PATIENCE", 120))  # seconds; machines are shared


def wait_for(what: str, condition: Callable[[], object], patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            raise BenchError(f"waited {patience:.0f} s in vain for {what}")
        time.sleep(0.02)


class Process:
    def __init__(self, command: list[str], log: Path, env: dict[str, str], core: int) -> None:
        self.name = log.stem
        self.log = log
        self._said_before = log.stat().st_size if log.exists() else 0
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                ["taskset", "-c", str(core), *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | env,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def returncode(self) -> int | None:
        return self.process.poll()

    def is_running(self) -> bool:
        return self.process.poll() is None

    def said(self) -> str:
        """What it has written to its standard error so far."""
        return self.log.read_bytes()[self._said_before :].decode(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """To it and what it started."""
        if self.is_running():
            os.killpg(self.pid, number)

    def output(self, patience: float) -> str:
        """What it wrote, when it has ended."""
        try:
            return self.process.communicate(timeout=patience)[0].decode()
        except subprocess.TimeoutExpired:
            self.kill()
            raise BenchError(f"{self.name} does not end; see {self.log}") from None

    def stop(self) -> str:
        """Asks it to end. Returns what it wrote."""
        self.signal(signal.SIGTERM)
        return self.output(PATIENCE)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.communicate()


class Processes:
    """Those of one domain, by name."""

    def __init__(self, domain: str, folder: Path, core: int) -> None:
        self.domain, self.folder, self.core = domain, folder, core
        self._environment = {
            "GID_DOMAIN": domain,
            "GID_RUNTIME_DIR": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "WAYLAND_DISPLAY": f"{domain}.wayland",
        }
        self._running: dict[str, Process] = {}

    def start(self, name: str, *command: str) -> Process:
        process = Process(
            list(command),
            self.folder / f"{self.domain}-{name}.log",
            self._environment,
            self.core,
        )
        self._running[name] = process
        return process

    def __getitem__(self, name: str) -> Process:
        return self._running[name]

    def is_running(self, name: str) -> bool:
        return name in self._running and self._running[name].is_running()

    def ended(self) -> list[str]:
        """The names of those that do not run any more."""
        return [name for name in self._running if not self.is_running(name)]

    def forget(self, name: str) -> None:
        del self._running[name]

    def pids(self) -> list[int]:
        return [process.pid for process in self._running.values() if process.is_running()]

    def far_logs(self) -> dict[str, str]:
        """What programs wrote that have no log in `folder`, by their names."""
        return {}

    def signal_all(self, number: signal.Signals) -> None:
        for process in self._running.values():
            process.signal(number)

    def kill_all(self) -> None:
        self.signal_all(signal.SIGKILL)
        for process in self._running.values():
            process.kill()

    def start_gidd(self, configuration: Path) -> None:
        socket = self.folder / self.domain / "gidd.sock"
        socket.unlink(missing_ok=True)
        self.start("gidd", "gidd", f"--config={configuration}", f"--domain={self.domain}")
        wait_for(f"the gidd of {self.domain}", socket.exists)
