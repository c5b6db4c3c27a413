# SPDX-License-Identifier: MIT
"""Each daemon is killed and started again, again and again, while all others live on.

Domains of three machines, as processes of this one. Streams come back by themselves, nobody is
shown a picture that was not sent so, and nothing of those who live on grows. Few rounds;
soak/restarts_at_length has 100 for each daemon, and its log tells of them.
"""

import os
import signal
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import HEIGHT, WIDTH, Display, telltale_picture
from lib.engine import start_engine
from lib.forwarding import TELLTALE
from lib.machines import CONFIG, start
from lib.peer import LIVE, consume, produce
from lib.program import BUILD, SANITIZED, Program, wait_for
from lib.weston import Weston

from lab.domains.configuration import section
from lab.soak.samples import sample

ROUNDS = int(os.environ.get("GIDWAY_ROUNDS", 5))
FRAMES = 10  # of each stream, after which it flows again
SENT = {"fps": 100, "slots": 8, "lease_ms": 600_000}
BAD = ("wrong", "torn", "older", "repeated")  # frames that a reader should not have been shown
GONE = "memory"  # the reason why a role does not show memory that was just taken back
TAKEN = ("taken-back", "died")  # of a slot whose stream is over, as the display hears in a moment
# Beside what is there for a moment, and mappings that happen to lie apart. KiB of the heap; its
# size is a sanitizer's own matter.
MAY_GROW = {"descriptors": 1, "mappings": 4} | ({} if SANITIZED else {"heap": 512})

# A telltale of `open` by itself, and one that its Weston lends.
PLACES = {"telltale": (40, 20), "lamp": (40, 130)}
COLOUR = (0x20, 0x40, 0x80)
PANEL = (slice(20, 68), slice(400, 464))  # rows and columns
SHOWN = section("layer panel", "stream=canvas/panel x=400 y=20 width=64 height=48")
for role, (x, y) in PLACES.items():
    keys = f"domain=open x={x} y={y} width={WIDTH} height={HEIGHT} deadline-ms=10000"
    SHOWN += section(f"role {role}", keys)
LENT = f"[gid-safety]\nrole=lamp\nclients={TELLTALE}\nsize={WIDTH}x{HEIGHT}\nclient-ms=0\n"
LENT += "lease-ms=60000\n"
ENGINE = "[canvas panel]\ndomain=open\nmemory=1M\nlist-ms=60000\nlease-ms=60000\n"
CANVAS = "[canvas]\nengine=host\nname=panel\nwidth=64\nheight=48\nbackground=#{:02x}{:02x}{:02x}\n"

pytestmark = pytest.mark.timeout(600 + 60 * ROUNDS)


@dataclass
class Daemon:
    """`away`: the readers that lose their stream with it, `dark`: what is not shown meanwhile."""

    pid: Callable[[], int]
    kill: Callable[[], object]
    start: Callable[[], object]
    away: tuple[str, ...] = ()
    dark: tuple[str, ...] = ()


class Company:
    """All who run beside each other: streams both ways, telltales and a canvas on a display."""

    def __init__(self, machines: Cockpit) -> None:
        self._machines = machines
        self._producers = {
            "movie": produce(machines, "movie", "open", **SENT),
            "film": produce(machines, "film", "host", **SENT),
        }
        words = {"reconnect": True, "hold": 2}
        self._readers = {
            "movie in cluster": consume(machines, "movie", "cluster", "open", **words),
            "movie on the host": consume(machines, "movie", "host", "open", **words),
            "film in open": consume(machines, "film", "open", "host", **words),
        }
        self._telltale = machines.run("open", [TELLTALE, "--state=5"])
        self._weston = Weston(machines.folder, machines.env("open"))
        self._weston.configure(LENT)
        self._start_weston()
        self._canvas = machines.folder / "canvas.ini"
        self._canvas.write_text(CANVAS.format(*COLOUR))
        compose = BUILD / "tools" / "gid-compose" / "gid-compose"
        self._composing = machines.run("open", [compose, self._canvas])
        self._start_engine()
        self._start_display()
        folder = machines.folder
        self._pictures = {
            "telltale": telltale_picture(folder, 5),
            "lamp": telltale_picture(folder, 3),
        }
        everybody = tuple(self._readers)
        self.daemons = {
            "gidd of open": self._gidd("open", everybody, tuple(PLACES)),
            "gidd of cluster": self._gidd("cluster", ("movie in cluster",)),
            "gidd of the host, the hub": self._gidd("host", everybody, tuple(PLACES)),
            "gid-cluster": Daemon(
                lambda: self._display.program.pid, self._kill_display, self._start_display
            ),
            "gid-engine": Daemon(
                lambda: self._engine.pid,
                lambda: self._engine.kill(),
                self._start_engine,
                dark=("panel",),
            ),
            "Weston": Daemon(
                lambda: self._weston.pid, self._kill_weston, self._start_weston, dark=("lamp",)
            ),
        }

    # --- daemons ---

    def _gidd(self, name: str, away: tuple[str, ...], dark: tuple[str, ...] = ()) -> Daemon:
        def begin() -> None:
            self._machines.start(name)
            self._machines.wait_links()

        gidds = self._machines.gidds
        kill = self._machines.kill
        return Daemon(lambda: gidds[name].pid, lambda: kill(name), begin, away, dark)

    def _start_weston(self) -> None:
        self._weston.start()
        self._lent = self._weston.client([TELLTALE, "--role=lamp", "--state=3"])

    def _kill_weston(self) -> None:
        """Its client has nobody to show anything then."""
        self._weston.kill()
        self._lent.kill()

    def _start_engine(self) -> None:
        self._engine: Program = start_engine(self._machines, ENGINE, "host")

    def _start_display(self) -> None:
        self._display = Display(self._machines, SHOWN, domain="host")

    def _kill_display(self) -> None:
        self._display.program.signal(signal.SIGKILL)
        self._display.program.wait()

    # --- what they do ---

    def _states(self) -> dict[str, str]:
        """Of roles and layers."""
        status = self._display.status()
        return {one["name"]: one["state"] for one in (*status["roles"], *status["layers"])}

    def _is_shown(self) -> bool:
        """All that the display should show is there, pixel by pixel."""
        if set(self._states().values()) != {"live"}:
            return False
        shot = self._display.screenshot()
        regions = {name: shot[y : y + HEIGHT, x : x + WIDTH] for name, (x, y) in PLACES.items()}
        return (shot[PANEL] == COLOUR).all() and all(
            numpy.array_equal(regions[name], self._pictures[name]) for name in PLACES
        )

    def wait_flow(self, away: dict[str, int] | None = None) -> None:
        """Until each stream has come, and all is shown. `away`: readers that connect anew, and how
        often each had done so before."""
        for name, before in (away or {}).items():
            self._readers[name].wait(
                lambda line, before=before: line["reconnects"] > before and line["state"] == LIVE,
                f"the {name} to come back",
            )
        goals = {name: reader.last["frames"] + FRAMES for name, reader in self._readers.items()}
        for name, reader in self._readers.items():
            goal = goals[name]
            reader.wait(lambda line, goal=goal: line["frames"] >= goal, f"the {name}")
        wait_for(self._is_shown, lambda: f"all to be shown; now {self._states()}")

    def restart(self, name: str) -> float:
        """The seconds from its start until all is as it was."""
        daemon = self.daemons[name]
        away = {reader: self._readers[reader].last["reconnects"] for reader in daemon.away}
        daemon.kill()
        wait_for(
            lambda: all(self._states()[what] != "live" for what in daemon.dark),
            f"what {name} shows to be gone",
        )
        began = time.monotonic()
        daemon.start()
        self.wait_flow(away)
        return time.monotonic() - began

    # --- what must not be ---

    def bad(self) -> dict[str, int]:
        """Frames that somebody was shown and should not have been, and pictures of roles that the
        display had to refuse."""
        found = {
            f"{kind}, {name}": reader.last[kind]
            for name, reader in self._readers.items()
            for kind in BAD
        }
        for role in self._display.status()["roles"]:
            changes = role["transitions"]
            reasons = [change["reason"] for change in changes] + [""]
            for number, change in enumerate(changes):
                reason = change["reason"]
                is_gone = reason == GONE or (reason, reasons[number + 1]) == TAKEN
                if change["to"] == "wrong" and not is_gone:
                    found[f"{reason}, {role['name']}"] = 1
        return {what: count for what, count in found.items() if count != 0}

    def counts(self, besides: str) -> dict[tuple[str, str], int]:
        """All that may pile up in those who live on while this one does not."""
        peers = self._producers | self._readers
        pids = {name: peer.pid for name, peer in peers.items()}
        pids |= {name: daemon.pid() for name, daemon in self.daemons.items() if name != besides}
        pids |= {"gid-telltale": self._telltale.pid, "gid-compose": self._composing.pid}
        return {
            (name, what): count for name, pid in pids.items() for what, count in own(pid).items()
        }

    def end(self) -> None:
        """Nobody has a slot of others then, and none got lost."""
        for reader in self._readers.values():
            assert reader.program.stop() == 0

        def is_free() -> bool:
            lasts = [producer.last for producer in self._producers.values()]
            return not any(last[key] for last in lasts for key in ("held", "out", "consumers"))

        wait_for(is_free, "all slots to be free")
        for producer in self._producers.values():
            assert producer.program.stop() == 0
        assert self._display.program.stop() == 0


def own(pid: int) -> dict[str, int]:
    """Of mappings those of shared memory: threads and their stacks come and go."""
    found = sample(pid)
    shared = [kind for kind in found if "memfd:" in kind or "/window/" in kind]
    counted = {what: found[what] for what in MAY_GROW}
    return counted | {"mappings": sum(found[kind] for kind in shared)}


def growth(now: dict[tuple[str, str], int], then: dict[tuple[str, str], int]) -> list[str]:
    return [
        f"{name}: {what} {then[name, what]} -> {count}"
        for (name, what), count in now.items()
        if count > then[name, what] + MAY_GROW[what]
    ]


def test_each_daemon_again_and_again(make_cockpit: Callable[..., Cockpit]) -> None:
    machines = make_cockpit(CONFIG.replace("window=4M", "window=16M"))
    start(machines)
    company = Company(machines)
    company.wait_flow()
    for name in company.daemons:
        times = []
        for number in range(ROUNDS):
            times.append(company.restart(name))
            assert company.bad() == {}, f"round {number + 1} of {name}"
            if number + 1 == (ROUNDS + 1) // 2:  # what is only warm by now
                then = company.counts(name)
        print(f"{name}: {ROUNDS} times, back after {statistics.median(times):.2f} s,", end=" ")
        print(f"{max(times):.2f} s at most", flush=True)
        wait_for(
            lambda name=name, then=then: growth(company.counts(name), then) == [],
            lambda name=name, then=then: f"nothing more: {growth(company.counts(name), then)}",
        )
    company.end()
