# SPDX-License-Identifier: MIT
"""What a chapter is before it runs, and what it gets to run with."""

import contextlib
import dataclasses
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from gid_vm.folder import memory_folder

from .outcome import Broke, NotRun
from .result import Figure
from .results import Key, Results
from .systems import Native, System


@dataclass(frozen=True)
class Goal:
    """A ratio or value that a chapter must reach: `figure` at most (or at least) `bound`. A short
    run can say nothing of one that is `only_full`, and does not have it; nor has a guest whose code
    is translated one that is `only_kvm`: there it says what translating costs."""

    figure: str
    bound: float
    is_least: bool = False
    only_full: bool = False
    only_kvm: bool = False

    @property
    def limit(self) -> str:
        return f"{'≥' if self.is_least else '≤'} {self.bound:.3g}"

    def __str__(self) -> str:
        return f"{self.figure} {self.limit}"

    def is_met(self, value: float) -> bool:
        return value >= self.bound if self.is_least else value <= self.bound


@dataclass(frozen=True)
class Shared:
    """A run that several chapters take their figures from, and its minutes, quick and full."""

    name: str
    minutes: tuple[float, float]


@dataclass(frozen=True)
class Plan:
    """`minutes`: about how long it takes, quick and full, beside the runs that it `shares` with
    others. `needs_quiet`: nothing else is measured meanwhile. `runs`: commands that it runs in the
    guest; the argument is whether it is a full run.
    """

    id: str
    title: str
    method: str
    run: Callable[["Context"], list[Figure]]
    goals: tuple[Goal, ...] = ()
    minutes: tuple[float, float] = (0.5, 5.0)
    needs_quiet: bool = True
    runs: Callable[[bool], list[list[str]]] = lambda is_full: []
    shares: tuple[Shared, ...] = ()

    def goals_of(self, is_full: bool, guest: str) -> list[Goal]:
        """`guest`: how it runs, as in Evaluation."""
        return [
            goal
            for goal in self.goals
            if (is_full or not goal.only_full) and (guest == "kvm" or not goal.only_kvm)
        ]


@dataclass
class Context:
    """`guest` is None where there is none; `why_no_guest` says why. `how`: the guest runs. `more`:
    systems that stand beside those two where the same can run there."""

    is_full: bool
    native: Native
    guest: System | None
    why_no_guest: str
    how: str = "none"
    results: Results = field(default_factory=Results)
    more: tuple[System, ...] = ()
    # Of this chapter: what to tell, what broke while the rest went on, what was tried again,
    # whether something was measured, since when, and how late the machine was.
    notes: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    has_measured: bool = False
    since: str = ""
    lateness_us: float = 0.0

    def for_chapter(self) -> Self:
        """The same, with notes of its own."""
        return dataclasses.replace(
            self, notes=[], broken=[], again=[], has_measured=False, since="", lateness_us=0.0
        )

    def measured_once(self, key: Key, measure: Callable[[], Any]) -> Any:
        """What this gave, as JSON has it: chapters that ask alike have one run."""
        found, when = self.results.get(key, measure)
        self.since = min(self.since or when, when)
        self.has_measured = True
        return found

    @property
    def systems(self) -> list[System]:
        return [self.native, *([self.guest] if self.guest else [])]

    def probe(self, system: System, *words: str) -> list[Figure]:
        """Figures of gid-probe on that system."""
        source = system.typed(f"gid-probe {' '.join(words)}")
        found = system.probe(list(words))
        self.has_measured = True
        return [
            Figure(
                one["name"], one["value"], one["unit"], one["n"], one["spread"], source, system.name
            )
            for one in found
        ]

    @contextlib.contextmanager
    def part(self, what: str) -> Iterator[None]:
        """A part of the chapter without which the rest has its figures all the same. What it wants
        is told; if it breaks, the chapter is missed."""
        try:
            yield
        except NotRun as error:
            self.notes.append(f"{what}: {error}.")
        except Broke as error:
            self.broken.append(f"{what}: {error}")

    def everywhere(self, *words: str) -> list[Figure]:
        """The same probe on each system. Chapters that ask alike have one run."""
        figures = self.probe_once(self.native, *words)
        with self.part("Not in a guest"):
            if self.guest is None:
                raise NotRun(self.why_no_guest)
            figures += self.probe_once(self.guest, *words)
        for system in self.more:
            with self.part(f"Not in {system.name}"):
                figures += self.probe_once(system, *words)
        return figures

    def probe_once(self, system: System, *words: str) -> list[Figure]:
        """As probe(), but for the first who asks."""
        return self.figures_once(
            ("gid-probe", system.name, *words), lambda: self.probe(system, *words)
        )

    def figures_once(self, key: Key, measure: Callable[[], list[Figure]]) -> list[Figure]:
        found = self.measured_once(key, lambda: [dataclasses.asdict(one) for one in measure()])
        return [Figure(**one | {"spread": tuple(one["spread"])}) for one in found]

    @contextlib.contextmanager
    def cockpit(self) -> Iterator["Cockpit"]:
        """Two domains of this kernel with a gidd each, that read each other's messages."""
        if not self.native.is_here:
            raise NotRun("this needs two domains on the machine where it is started")
        for needed in ("gidd", "gidctl", "gid-probe"):
            if shutil.which(needed) is None:
                raise NotRun(f"there is no {needed} here")
        with tempfile.TemporaryDirectory(prefix="gid-evaluate-", dir=memory_folder()) as folder:
            with _gidds(Path(folder)):
                yield Cockpit(Path(folder))


class _Inside(Native):
    """What is wanting in a cockpit that runs was there before: it broke."""

    def run(self, words: list[str], seconds: float) -> str:
        try:
            return super().run(words, seconds)
        except NotRun as error:
            raise Broke(str(error)) from None


class Cockpit:
    """`open` (1) and `cluster` (2): places to run programs in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.open = _Inside(environment=self.environment("open"))

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
    from gid_cockpit.configuration import CockpitError, read  # not there where gidd is not
    from gid_cockpit.daemon import Daemon
    from gid_cockpit.state import await_links

    path = folder / "cockpit.conf"
    path.write_text(_COCKPIT.format(folder=folder))
    daemons = []
    try:
        configuration = dataclasses.replace(read(path), runtime=folder)
        daemons = [Daemon(configuration, domain) for domain in configuration.domains]
        for daemon in daemons:
            daemon.start()
        await_links(configuration, {domain.name for domain in configuration.domains})
        yield
    except CockpitError as error:
        raise Broke(str(error)) from None
    finally:
        for daemon in daemons:
            daemon.stop()
