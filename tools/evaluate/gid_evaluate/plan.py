# SPDX-License-Identifier: MIT
"""What a chapter is before it runs, and what it gets to run with."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .lateness import Lateness
from .result import Figure
from .systems import CannotRun, Native, System


class NotRun(Exception):
    """Why a chapter cannot run here, in a sentence."""


@dataclass(frozen=True)
class Goal:
    """A ratio or value that a chapter must reach: `figure` at most (or at least) `bound`."""

    figure: str
    bound: float
    is_least: bool = False

    def __str__(self) -> str:
        return f"{self.figure} {'≥' if self.is_least else '≤'} {self.bound:g}"

    def is_met(self, value: float) -> bool:
        return value >= self.bound if self.is_least else value <= self.bound


@dataclass(frozen=True)
class Plan:
    """`minutes`: about how long it takes, quick and full. `document`: what the printed report has,
    as pairs of what and how much."""

    id: str
    title: str
    method: str
    run: Callable[["Context"], list[Figure]]
    goals: tuple[Goal, ...] = ()
    document: tuple[tuple[str, str], ...] = ()
    minutes: tuple[float, float] = (0.5, 5.0)


@dataclass
class Context:
    """`guest` is None where there is none; `why_no_guest` says why. `bench`: the folder of the
    benchmarks, None in an installation without them."""

    is_full: bool
    native: Native
    guest: System | None
    why_no_guest: str
    bench: Path | None
    notes: list[str] = field(default_factory=list)
    # What benchmarks gave in this run, and how late the machine was meanwhile; of this chapter's:
    results: dict[tuple[str, ...], tuple[dict[str, Any], float]] = field(default_factory=dict)
    lateness_us: float = 0.0

    @property
    def systems(self) -> list[System]:
        return [self.native, *([self.guest] if self.guest else [])]

    def probe(self, system: System, *words: str) -> list[Figure]:
        """Figures of gid-probe on that system."""
        source = f"{system.prefix}gid-probe {' '.join(words)}"
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
        if (name, *arguments) not in self.results:
            with Lateness() as late:
                found = self._benchmark(name, *arguments, minutes=minutes)
            self.results[name, *arguments] = found, late.worst_us
        found, late_us = self.results[name, *arguments]
        self.lateness_us = max(self.lateness_us, late_us)
        return found

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
    def cockpit(self) -> Iterator[None]:
        """Two domains of this kernel with a gidd each, open (1) and cluster (2), that read each
        other's messages; programs run as those of open unless they say otherwise."""
        if shutil.which("gidd") is None:
            raise NotRun("there is no gidd here")
        with tempfile.TemporaryDirectory(prefix="gid-evaluate-", dir="/tmp") as folder:
            with _gidds(Path(folder)):
                yield


_COCKPIT = """\
[cockpit]
runtime={folder}

[domain open]
number=1
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
    before = {name: os.environ.get(name) for name in ("GID_RUNTIME_DIR", "GID_DOMAIN")}
    os.environ.update(GID_RUNTIME_DIR=str(folder), GID_DOMAIN="open")
    try:
        for domain in ("open", "cluster"):
            command = ["gidd", f"--config={configuration}", f"--domain={domain}"]
            with (folder / f"{domain}.log").open("wb") as log:
                daemons.append(
                    subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                )
        yield
    finally:
        for daemon in daemons:
            daemon.terminate()
            daemon.wait(10)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
