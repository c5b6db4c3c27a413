# SPDX-License-Identifier: MIT
"""gid-cluster where memory runs out: each allocation of its own code fails once. It shows the role
all the same, or ends with a word, to be started again; and so does --check. The usual run tries a
sample: GIDWAY_FAULTS_TURN chooses which, and ./run faults cluster_memory tries all.
"""

import signal
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from gid_vm.preload import Preload
from injected import CRASHES, is_ready_or_ended, sample
from lib.cockpit import Cockpit
from lib.display import ROLE, start_telltale
from lib.program import BUILD, Program, wait_for
from PIL import Image

from lab.domains.configuration import section
from lab.domains.here import ask

IN_CI = 15

PRELOADED = BUILD / "tests" / "faults" / "failing_malloc.so"
CLUSTER = BUILD / "cluster" / "gid-cluster"

# All that a configuration has memory for.
MORE = (
    section("output left", "stream=screen width=400 height=120 refresh=60 background=own.png")
    + section("output right", "width=160 height=120")
    + section("display", "worst-frame=0")
    + ROLE
    + "output=left\ninput=pointer\nfallback=own.png\nmin-rate=1\n"
    + section("role rear", "domain=open output=right width=64 height=48 deadline-ms=500")
    + "stream=rear\nformats=XR24, NV12\ntransform=normal, flipped\n"
    + "protection=crc64\nfallback=last\n"
    + section("role oil", "output=right x=64 width=32 height=24 deadline-ms=500")
    + "allowed=oil.hashes\nfallback=blank\n"
    + section("layer film", "domain=open output=right width=64 height=48 deadline-ms=500")
    + "fallback=grey\nfit=contain\n"
    + section("layer map", "output=left width=64 height=48")
    + "fallback=own.png\n"
)


@dataclass(frozen=True)
class Allocation:
    """The `nth` that is asked for at this place of the program, from 0."""

    place: int
    nth: int


@dataclass
class Run:
    """`failing`: None: none fails, and all are written down."""

    cockpit: Cockpit
    arguments: tuple[str | Path, ...]
    failing: Allocation | None = None

    def __post_init__(self) -> None:
        self._told = self.cockpit.folder / "told"
        self._told.touch()
        self._preload = Preload(PRELOADED)
        with self._told.open("r+b", buffering=0) as told:
            told.truncate()
            settings = {
                "FAILING_MALLOC": str(self.failing.nth if self.failing else 0),
                "FAILING_MALLOC_FD": str(told.fileno()),
                "FAILING_MALLOC_OF": f"{self.failing.place:x}" if self.failing else "all",
            }
            env = self.cockpit.env("cluster") | self._preload.env | settings
            command = [CLUSTER, "--config", self.cockpit.folder / "more.conf", *self.arguments]
            self.program = Program(command, env, self.cockpit.folder, pass_fds=(told.fileno(),))

    def allocations(self) -> list[Allocation]:
        """At each place the first and the last."""
        self._preload.check(CLUSTER.name)
        told = self._told.read_bytes()
        counts = Counter(place for (place,) in struct.iter_unpack("Q", told[: len(told) // 8 * 8]))
        return sorted(
            {Allocation(place, nth) for place in counts for nth in (0, counts[place] - 1)},
            key=lambda one: (one.place, one.nth),
        )

    def has_failed(self) -> bool:
        self._preload.check(CLUSTER.name)
        return self._told.stat().st_size > 0

    def end(self) -> None:
        """In good order, or because of what failed: by itself, and with a word."""
        self.program.signal(signal.SIGTERM)
        code = self.program.wait()
        assert -code not in CRASHES, f"{signal.Signals(-code).name}\n{self.program.stderr}"
        assert code in (0, 1), self.program.stderr
        assert code == 0 or self.program.stderr.strip(), "it ended without a word"


def write_configuration(folder: Path) -> None:
    Image.new("RGB", (64, 48), (10, 200, 30)).save(folder / "own.png")
    (folder / "oil.hashes").write_text(f"{1:064x}\n{2:064x}\n")
    (folder / "more.conf").write_text(MORE)


def is_shown(cockpit: Cockpit) -> bool:
    try:
        roles = ask(cockpit.folder / "more.sock", 2)["roles"]
    except (OSError, ValueError):
        return False
    return [role["state"] for role in roles if role["name"] == "telltale"] == ["live"]


def try_each(
    cockpit: Cockpit, found: list[Allocation], arguments: tuple[str | Path, ...], live: bool
) -> None:
    problems = []
    for failing in found:
        run = Run(cockpit, arguments, failing)

        def is_well(run: Run = run) -> bool:
            """What cannot be asked may be what the fault has hit."""
            return is_shown(cockpit) or "no socket for the status" in run.program.stderr

        try:
            if live:
                is_ready_or_ended(run.program, is_well)
            else:
                run.program.wait()
            run.end()
            assert run.has_failed() or live, "it was not asked for"
        except AssertionError as error:
            run.program.kill()
            problems.append(f"{failing.nth} at {failing.place:x}: {error}")
    print(f"{len(found)} allocations, {len(problems)} not withstood")
    assert not problems, "\n\n".join(problems)


@pytest.mark.timeout(6000)
def test_a_check_without_memory(cockpit: Cockpit) -> None:
    write_configuration(cockpit.folder)
    learning = Run(cockpit, ("--check",))
    assert learning.program.wait() == 0, learning.program.stderr
    found = learning.allocations()
    assert len(found) > 20
    try_each(cockpit, sample(found, IN_CI), ("--check",), live=False)


@pytest.mark.timeout(6000)
def test_a_display_without_memory(cockpit: Cockpit) -> None:
    write_configuration(cockpit.folder)
    start_telltale(cockpit, "--stream", "safety/telltale", "--cycle", "40")
    wait_for(lambda: cockpit.status("open")["streams"], "the telltale's stream")
    arguments = ("--headless", "--status", cockpit.folder / "more.sock")
    learning = Run(cockpit, arguments)
    wait_for(lambda: is_shown(cockpit), lambda: f"the role\n{learning.program.stderr}")
    found = learning.allocations()
    learning.end()
    assert len(found) > 20
    try_each(cockpit, sample(found, IN_CI), arguments, live=True)
