#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""From a click at the viewer to the pixel on the viewer's screen: a desktop that is used elsewhere.

A program that changes a colour at each click runs on a desktop in the domain `open`. Its user sits
in `cluster`, at a Weston of 60 refreshes a second whose only window shows that desktop, and sends
back what he does. A click begins with its event in the seat of that Weston, at any phase of a
refresh. It ends with the refresh of that Weston that shows the other colour. Its seat and its
screen are the same for all ways:

direct      the program is a window of that Weston itself: the least that it can take
gidway      gid-view --input, of a headless Weston with [gid-output]
gidway-lent the same with lend=, of a program that draws into memory of its domain
waypipe     the program's own window, by waypipe without compression
weston-vnc  Weston's VNC backend, seen with the library of GNOME's viewers
weston-rdp  Weston's RDP backend, seen with FreeRDP
wayvnc      sway's output by wayvnc, seen with the same library

Peers that are not here are told by name, with the packages that bring them.

`button` changes 1/32 of the picture, `whole` all of it. The processor's time is that of all
programs between the seat and the screen, with that Weston and without the program itself; `added`
is what remains of it without what `direct` takes. The desk's programs have a core, and the viewer's
another one, as far as there are two.

With --vm the desk is a guest. Its pictures come by gid from the guest's memory, and all else by
QEMU's user network. The processor's time of the desk is that of the whole machine then, with the
program and the kernel. There is no `direct`.
"""

import argparse
import contextlib
import itertools
import os
import random
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import click_guest, click_stages, common
from bench.click_ways import LEAST, LENT, OURS, RATE, WAYS, Scene, kiosk, output, why_not
from lab.domains import priority
from lab.domains.cockpit import Cockpit
from lab.domains.program import LabError, Wanting, wait_for

REFRESH_MS = 1000 / RATE
SIZES = {"720p": (1280, 720), "4K": (3840, 2160)}
CHANGES = ("button", "whole")
SEEN_SECONDS = 30.0  # for a click; later it counts as lost
PAUSE = (0.05, 0.15)  # seconds between two clicks
WARM_UP = 5  # clicks that are not counted
BTN_LEFT = 0x110


# --- the user -------------------------------------------------------------------------------------


class User:
    """Sends the input stream of the viewer's Weston, and looks at its screen."""

    HEAD = struct.Struct("<QQ4I96sIIiiI108x")
    EVENT = struct.Struct("<QHHi4i")
    KEEP = 8  # of the last events are in a frame
    MAGIC = int.from_bytes(b"gidinpt1"[::-1], "big")
    POINTER = 2
    LEASE_MS = 10_000
    MIDDLE = 32768
    BUTTON, MOTION, GROUP_END = 2, 3, 9

    def __init__(self) -> None:
        import gid

        self._timeout = gid.GidTimeoutError
        self._domain = gid.Domain("cluster")
        self._input = self._domain.producer("input/screen", "R8", 4096, 32, slots=8)
        self._screen = self._domain.consumer("screen", "cluster", drop_old=True)
        self._events: list[bytes] = []
        self._count = 0
        self._held = False
        self._colour: bytes | None = None

    def _send(self, *events: tuple[int, int, int, int, int]) -> int:
        now = time.monotonic_ns()
        for kind, code, value, x, y in (*events, (self.GROUP_END, 0, 0, 0, 0)):
            self._events.append(self.EVENT.pack(now, kind, code, value, x, y, 0, 0))
            self._count += 1
        self._events = self._events[-self.KEEP :]
        held = bytearray(96)
        held[BTN_LEFT // 8] = self._held << BTN_LEFT % 8
        head = self.HEAD.pack(
            *(self.MAGIC, self._count, len(self._events), self.POINTER, 0, 0, bytes(held), 0),
            *(1, self.MIDDLE, self.MIDDLE, self.LEASE_MS),
        )
        frame = head + b"".join(self._events)
        slot = self._input.slot()
        slot.picture.reshape(-1)[: len(frame)] = memoryview(frame)
        before = time.monotonic_ns()
        slot.submit()
        return before

    def point(self) -> None:
        self._send((self.MOTION, 0, 0, self.MIDDLE, self.MIDDLE))

    def _press(self, pressed: bool) -> int:
        self._held = pressed
        return self._send((self.BUTTON, BTN_LEFT, int(pressed), 0, 0))

    def _poll(self, seconds: float) -> tuple[bytes, int] | None:
        """What is in the middle of the next picture, and when it is shown."""
        with contextlib.suppress(self._timeout):
            frame = self._screen.frame(timeout=seconds)
            shown = frame.present_time or frame.submit_time
            with frame as picture:
                height, width = picture.shape[:2]
                return bytes(picture[height // 2, width // 2][:3]), shown
        return None

    def _wait_change(self, seconds: float) -> int | None:
        """Until another colour is shown than before: when."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            seen = self._poll(left)
            if seen is not None and seen[0] != self._colour:
                self._colour = seen[0]
                return seen[1]
        return None

    def settle(self, check: Callable[[], None]) -> None:
        """Until a click changes what is seen: all is in its place then."""
        wait_for("the first click's light", lambda: self.click(2.0) is not None, check=check)

    def click(self, seconds: float = SEEN_SECONDS) -> tuple[int, int] | None:
        """When it was pressed, and when the light came; None: there was none."""
        while (seen := self._poll(random.uniform(*PAUSE))) is not None:
            self._colour = seen[0]
        begun = self._press(True)
        shown = self._wait_change(seconds)
        self._press(False)
        return None if shown is None else (begun, max(begun, shown))

    def close(self) -> None:
        self._input.close()
        self._screen.close()
        self._domain.close()


# --- the processor's time -------------------------------------------------------------------------


def children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            fields = entry.read_text().rpartition(")")[2].split()
            found.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    return found


def is_script(pid: int, script: str) -> bool:
    """Not what only starts one, and has its name among its words."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return len(words) > 1 and words[1].endswith(script.encode())


def spent(process: int, known: dict[int, list[int]], script: str = "target.py") -> float:
    """Seconds of a processor of the process and of what it started, but for what runs `script`."""
    total, pids = 0.0, [process]
    while pids:
        pid = pids.pop()
        with contextlib.suppress(OSError):
            if is_script(pid, script):
                continue
            for task in Path(f"/proc/{pid}/task").iterdir():
                total += int((task / "schedstat").read_text().split()[0]) / 1e9
        pids += known.get(pid, [])
    return total


NAMES = ("gidd", "weston", "server", "viewer", "target")


def spent_by_all(scene: Scene) -> dict[str, float]:
    """Seconds of each program; of a desk that is a machine, of that."""
    known, places, found = children(), [scene.viewer], {}
    if scene.machine is None:
        places.append(scene.desk)
    else:
        found[f"{scene.desk.domain}/machine"] = spent(scene.machine, known)
    return found | {
        f"{place.domain}/{name}": spent(place[name].pid, known)
        for place in places
        for name in NAMES
        if place.is_running(name)
    }


# --- one run --------------------------------------------------------------------------------------


@dataclass
class Run:
    clicks: list[tuple[int, int]]  # when they were pressed, and when their light came
    lost: int
    cpu_ms: dict[str, float]  # of a click, by program

    @property
    def late_ms(self) -> list[float]:
        return [(shown - begun) / 1e6 for begun, shown in self.clicks]


# Makes one of a size and a change.
Maker = Callable[[tuple[int, int], str], Scene]


@contextlib.contextmanager
def scene_of(make: Maker, size: tuple[int, int], change: str) -> Iterator[Scene]:
    with contextlib.ExitStack() as end:  # which does all of it, also where one part fails
        scene = make(size, change)
        end.callback(scene.parts.close)
        for place in (scene.viewer, scene.desk):
            end.callback(place.stop_others)
        kiosk(scene.viewer, output("screen", size, "cluster"))
        yield scene


def timeline_of(cockpit: Cockpit, log: Path | None) -> None:
    """All programs that are started from now on write to it; None: to none."""
    for place in (cockpit["open"], cockpit["cluster"]):
        place.environment.pop("GID_TIMELINE", None)
        if log is not None:
            place.environment["GID_TIMELINE"] = str(log)


def measure(make: Maker, way: str, size: tuple[int, int], change: str, clicks: int) -> Run:
    with scene_of(make, size, change) as scene, contextlib.closing(User()) as user:
        user.point()
        WAYS[way](scene)
        user.point()
        user.settle(scene.check)
        for _ in range(WARM_UP):
            user.click()
        before = spent_by_all(scene)
        seen = [user.click() for _ in range(clicks)]
        after = spent_by_all(scene)
    shown = [click for click in seen if click is not None]
    if not shown:
        raise LabError(f"{way}: no click changed what is shown")
    cpu = {name: (after[name] - begun) / clicks * 1e3 for name, begun in before.items()}
    return Run(shown, len(seen) - len(shown), cpu)


# --- all of them ----------------------------------------------------------------------------------


def row_of(way: str, what: str, runs: list[Run]) -> dict:
    late = sorted(value for run in runs for value in run.late_ms)
    return {
        "bench": "click",
        "who": way,
        "what": what,
        "p50_ms": statistics.median(statistics.median(run.late_ms) for run in runs),
        "p99_ms": late[int(len(late) * 0.99)],
        "cpu_ms": statistics.median(sum(run.cpu_ms.values()) for run in runs),
        "cpu_ms_of": {
            name: statistics.median(run.cpu_ms[name] for run in runs) for name in runs[0].cpu_ms
        },
        "clicks": len(late),
        "lost": sum(run.lost for run in runs),
    }


def add_added(rows: list[dict]) -> None:
    """What is taken beyond what `direct` takes, where that was measured."""
    least = {row["what"]: row["cpu_ms"] for row in rows if row["who"] == LEAST}
    for row in rows:
        if row["what"] in least:
            row["cpu_added_ms"] = row["cpu_ms"] - least[row["what"]]


def ratios_of(rows: list[dict]) -> dict[str, float]:
    """Of what is changed, the worst: how many refreshes, and beside the peer that is best there."""
    ours = {row["what"]: row for row in rows if row["who"] == OURS}
    ratios = {}
    if ours:
        ratios["click_p50_refreshes"] = max(r["p50_ms"] for r in ours.values()) / REFRESH_MS
    for name, figure in (("p50", "p50_ms"), ("cpu", "cpu_ms")):
        beside = []
        for what, row in ours.items():
            peers = [
                peer[figure]
                for peer in rows
                if peer["what"] == what and peer["who"] not in (OURS, LENT, LEAST)
            ]
            beside += [row[figure] / min(peers)] if peers else []
        if beside:
            ratios[f"click_{name}_vs_best_peer"] = max(beside)
    return ratios


def stages_of(cockpit: Cockpit, make: Maker, folder: Path, cases: list, clicks: int) -> list[dict]:
    """A run of each case whose way is looked at: beside the others, which write no timeline."""
    rows = []
    for size, change in cases:
        log = folder / "timeline.log"
        log.unlink(missing_ok=True)
        timeline_of(cockpit, log)
        run = measure(make, OURS, SIZES[size], change, clicks)
        timeline_of(cockpit, None)
        rows += click_stages.rows_of(f"{size} {change}", run.clicks, log)
    for row in rows:
        print(f"{row['what']:12} {row['since_press_ms']:7.2f} ms {row['ms']:+7.2f} {row['stage']}")
    return rows


def there(ways: list[str], vm: bool) -> list[str]:
    """Those that are not are told, and left out."""
    try:
        import gid  # noqa: F401
    except ImportError:
        raise Wanting("the package gid was not built: python3-cffi is missing") from None
    lacking = {way: lack for way in ways if (lack := why_not(way)) is not None}
    if vm:
        lacking |= dict.fromkeys((LEAST, LENT), "the program is in the guest")
    for way in filter(lacking.get, ways):
        print(f"{way} is left out: {lacking[way]}")
    return [way for way in ways if way not in lacking]


@contextlib.contextmanager
def domains(folder: Path, vm: bool) -> Iterator[tuple[Cockpit, Maker]]:
    """The domains, and what makes scenes of them."""
    cores, great = priority.two_cores(), ("open", "cluster")
    if vm:
        with click_guest.cockpit(folder, cores) as made:
            yield made
    else:
        with common.cockpit(folder, "*", "*", great, cores) as cockpit:
            yield cockpit, partial(Scene, cockpit["open"], cockpit["cluster"])


Runs = dict[tuple[str, str], list[Run]]  # by way, and what was changed


def measure_all(
    options: argparse.Namespace, ways: list[str], runs: Runs, stages: list[dict]
) -> None:
    """Adds to runs and stages, and tells of each run."""
    cases = [(size, change) for size in options.sizes for change in options.changes]
    progress = common.Progress(options.rounds * len(ways) * len(cases))
    with (
        tempfile.TemporaryDirectory(prefix="gid-", dir=common.memory_folder()) as name,
        domains(Path(name), options.vm) as (cockpit, make),
    ):
        for _, (size, change), way in itertools.product(range(options.rounds), cases, ways):
            what = f"{size} {change}" + (", guest" if options.vm else "")
            progress.step(f"{way}, {what}")
            run = measure(make, way, SIZES[size], change, options.clicks)
            runs.setdefault((way, what), []).append(run)
            progress.end()
            tell_run(way, what, run)
        if options.stages:
            stages += stages_of(cockpit, make, Path(name), cases, options.clicks)


def tell_run(way: str, what: str, run: Run) -> None:
    """As soon as it is there: all of them take an hour."""
    late = statistics.median(run.late_ms)
    print(f"{what:18} {way:10} this time p50 {late:6.1f} ms", flush=True)


def tell(rows: list[dict]) -> None:
    for row in sorted(rows, key=lambda row: row["what"]):
        print(
            f"{row['what']:18} {row['who']:10} click → pixel p50 {row['p50_ms']:6.1f} ms "
            f"p99 {row['p99_ms']:6.1f} ms, {row['cpu_ms']:6.2f} ms of a processor a click"
            + (f", {row['cpu_added_ms']:.2f} of them added" if "cpu_added_ms" in row else "")
            + (f", {row['lost']} lost" if row["lost"] else "")
        )


def main() -> int:
    parser = common.parser("click", __doc__)
    parser.add_argument(
        "--clicks", type=common.count, default=100, help="of each run (default: 100)"
    )
    parser.add_argument(
        "--rounds", type=common.count, default=3, help="of all ways in turn (default: 3)"
    )
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--changes", nargs="+", choices=CHANGES, default=list(CHANGES))
    parser.add_argument("--vm", action="store_true", help="the desk is a guest")
    parser.add_argument("--stages", action="store_true", help="tell where gidway's time goes")
    options: argparse.Namespace = parser.parse_args()
    if options.vm and options.stages:
        parser.error("the programs of a guest write no timeline here: no --stages")
    ways = there(options.ways, options.vm)
    os.environ.pop("DISPLAY", None)
    os.environ.pop("WAYLAND_DISPLAY", None)
    runs: Runs = {}
    stages: list[dict] = []
    try:
        measure_all(options, ways, runs, stages)
    finally:  # also of what was broken off
        rows = [row_of(*key, found) for key, found in runs.items()]
        add_added(rows)
        ratios = ratios_of(rows)
        common.write(options.json, rows + stages, ratios)
    tell(rows)
    for ratio, value in ratios.items():
        print(f"{ratio} {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
