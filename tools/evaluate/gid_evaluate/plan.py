# SPDX-License-Identifier: MIT
"""What a chapter is before it runs, and what it gets to run with."""

import contextlib
import dataclasses
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gid_vm.folder import memory_folder

from .lateness import Lateness
from .result import Figure
from .systems import CannotRun, Native, System

PATIENCE = 30.0  # seconds, until a gidd is there


class NotRun(Exception):
    """Why a chapter cannot run here, in a sentence."""


@dataclass(frozen=True)
class Goal:
    """A ratio or value that a chapter must reach: `figure` at most (or at least) `bound`."""

    figure: str
    bound: float
    is_least: bool = False

    @property
    def limit(self) -> str:
        return f"{'≥' if self.is_least else '≤'} {self.bound:g}"

    def __str__(self) -> str:
        return f"{self.figure} {self.limit}"

    def is_met(self, value: float) -> bool:
        return value >= self.bound if self.is_least else value <= self.bound


@dataclass(frozen=True)
class Plan:
    """`minutes`: about how long it takes, quick and full. `document`: what the evaluation of
    2017 printed, as pairs of what and how much. `needs_quiet`: nothing else is measured meanwhile.
    `in_guest`: parts of `./run bench virtual` that it needs. `runs`: commands that it runs in the
    guest; the argument is whether it is a full run."""

    id: str
    title: str
    method: str
    run: Callable[["Context"], list[Figure]]
    goals: tuple[Goal, ...] = ()
    document: tuple[tuple[str, str], ...] = ()
    minutes: tuple[float, float] = (0.5, 5.0)
    needs_quiet: bool = True
    in_guest: tuple[str, ...] = ()
    runs: Callable[[bool], list[list[str]]] = lambda is_full: []


@dataclass
class Context:
    """`guest` is None where there is none; `why_no_guest` says why. `bench`: the folder of the
    benchmarks, None in an installation without them. `virtual`: the arguments of the one run of
    `./run bench virtual` that serves all chapters; None without a guest of our own."""

    is_full: bool
    native: Native
    guest: System | None
    why_no_guest: str
    bench: Path | None
    virtual: tuple[str, ...] | None = None
    results: "Results" = field(default_factory=lambda: Results())
    # Of this chapter: what to tell, and how late the machine was.
    notes: list[str] = field(default_factory=list)
    lateness_us: float = 0.0

    def for_chapter(self) -> "Context":
        """The same, with notes of its own."""
        return dataclasses.replace(self, notes=[], lateness_us=0.0)

    @property
    def systems(self) -> list[System]:
        return [self.native, *([self.guest] if self.guest else [])]

    def probe(self, system: System, *words: str) -> list[Figure]:
        """Figures of gid-probe on that system."""
        source = system.typed(f"gid-probe {' '.join(words)}")
        return [
            Figure(
                one["name"], one["value"], one["unit"], one["n"], one["spread"], source, system.name
            )
            for one in system.probe(list(words))
        ]

    def everywhere(self, *words: str) -> list[Figure]:
        """The same probe on each system; a guest that fails is said, and costs the rest nothing."""
        figures = self.probe(self.native, *words)
        if self.guest is None:
            self.notes.append(f"Not in a guest: {self.why_no_guest}.")
            return figures
        try:
            figures += self.probe(self.guest, *words)
        except CannotRun as error:
            self.notes.append(f"Not in a guest: {error}.")
        return figures

    def benchmark(self, name: str, *arguments: str, minutes: float = 10) -> dict[str, Any]:
        """The JSON of one of gidway's own benchmarks. Chapters that ask alike have one run."""
        found, late_us = self.results.get(
            (name, *arguments), lambda: self._watched(name, *arguments, minutes=minutes)
        )
        self.lateness_us = max(self.lateness_us, late_us)
        return found

    def in_guest(self) -> dict[str, Any]:
        """What the one run of all that has a guest found."""
        if self.virtual is None:
            raise NotRun(f"no guest of gidway's own: {self.why_no_guest}")
        return self.benchmark("virtual", *self.virtual, minutes=40)

    def _watched(self, name: str, *arguments: str, minutes: float) -> tuple[dict[str, Any], float]:
        with Lateness() as late:
            found = self._benchmark(name, *arguments, minutes=minutes)
        return found, late.worst_us

    def _benchmark(self, name: str, *arguments: str, minutes: float) -> dict[str, Any]:
        script = self.bench / f"{name}.py" if self.bench else None
        if script is None or not script.is_file():
            raise NotRun(
                f"the benchmark {name} is only in gidway's source: use ./run evaluate there"
            )
        with tempfile.TemporaryDirectory(prefix="gid-evaluate-") as folder:
            path = Path(folder) / "result.json"
            command = [sys.executable, str(script), f"--json={path}", *arguments]
            try:
                result = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=minutes * 60,
                )
            except subprocess.TimeoutExpired:
                raise NotRun(f"./run bench {name} took over {minutes:g} minutes") from None
            if result.returncode != 0 or not path.is_file():
                raise NotRun(f"./run bench {name}: {result.stderr.strip()[-300:]}")
            return json.loads(path.read_text())

    @contextlib.contextmanager
    def cockpit(self) -> Iterator["Cockpit"]:
        """Two domains of this kernel with a gidd each, that read each other's messages."""
        if not self.native.is_here:
            raise NotRun("this needs two domains on the machine where it is started")
        if shutil.which("gidd") is None:
            raise NotRun("there is no gidd here")
        with tempfile.TemporaryDirectory(prefix="gid-evaluate-", dir=memory_folder()) as folder:
            with _gidds(Path(folder)):
                yield Cockpit(Path(folder))


class Results:
    """What benchmarks gave in this run, each once, also where two chapters ask at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[tuple[str, ...], threading.Lock] = {}
        self._found: dict[tuple[str, ...], Any] = {}

    def get(self, key: tuple[str, ...], measure: Callable[[], Any]) -> Any:
        """One that failed fails again, and is not tried again."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._found:
                try:
                    self._found[key] = measure()
                except NotRun as error:
                    self._found[key] = error
            if isinstance(self._found[key], NotRun):
                raise self._found[key]
            return self._found[key]


class Cockpit:
    """`open` (1) and `cluster` (2): places to run programs in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.open = Native(environment=self.environment("open"))

    def environment(self, domain: str) -> dict[str, str]:
        return {"GID_RUNTIME_DIR": str(self._folder), "GID_DOMAIN": domain}


_COCKPIT = """\
[cockpit]
runtime={folder}

[domain open]
number=1
local=*
memory=2G
client-memory=2G
streams=256
client-streams=256
client-subscriptions=256
subscriptions=256
slabs=256
client-slabs=256
held=4096
client-held=4096

[domain cluster]
number=2
memory=256M
client-memory=256M

[share open cluster]
streams=ping

[share cluster open]
streams=pong
"""


@contextlib.contextmanager
def _gidds(folder: Path) -> Iterator[None]:
    configuration = folder / "cockpit.conf"
    configuration.write_text(_COCKPIT.format(folder=folder))
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        for domain in ("open", "cluster"):
            command = ["gidd", f"--config={configuration}", f"--domain={domain}"]
            with (folder / f"{domain}.log").open("wb") as log:
                daemons.append(
                    subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                )
            _wait_for(folder / domain / "gidd.sock", daemons[-1])
        yield
    finally:
        for daemon in daemons:
            daemon.terminate()
            daemon.wait(10)


def _wait_for(socket: Path, daemon: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while not socket.exists():
        if daemon.poll() is not None or time.monotonic() > end:
            raise NotRun("gidd does not start")
        time.sleep(0.01)
