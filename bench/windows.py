#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""From a window's commit to gid-cluster's screen, by way of an ordinary compositor.

A program commits pictures that cover its window, in shared memory, in the domain `open`. The
window is that of an ordinary compositor whose output is a stream, which gid-cluster shows as a
layer: of Weston by [gid-output], with pixman and with GL, and of sway by gid-capture. Beside them
stands a program that sends its pictures as a stream itself, without a compositor, which is the
least that it takes. When a picture is on the screen is read from what gid-cluster publishes of it,
without a screen (--headless).

Two paces: seldom, ten pictures a second at any phase of a refresh, as what answers to a key; and
always, a picture each time that the compositor asks for one, as an animation.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench import common
from lab.domains.cockpit import Cockpit
from lab.domains.configuration import section
from lab.domains.desktop import SIZE, Desktop
from lab.domains.display import Display
from lab.domains.place import Place
from lab.domains.program import PATIENCE, LabError, Wanting, wait_for
from lab.domains.weston import Weston

WIDTH, HEIGHT = SIZE
RATE = 60
REFRESH_MS = 1000 / RATE
PACES = ("seldom", "always")
WARM_UP = 1.0  # seconds of pictures that are not counted
AREA = f"width={WIDTH} height={HEIGHT}"
CLUSTER = section("display", f"{AREA} refresh={RATE} stream=screen worst-frame=0") + section(
    "layer desktop", f"domain=open {AREA}"
)
OUTPUT = section("gid-output", f"name=desktop stream=desktop mode={WIDTH}x{HEIGHT}")
STREAM = "desktop"
LEAST = "stream"  # the way that the others are compared with
PAINTER = Path(__file__).with_name("windows") / "painter.py"


# --- the ways to the screen; each starts what is needed, and says where the painter goes ----------


def own_stream(place: Place) -> None:
    """Without any compositor."""


def weston(place: Place, renderer: str) -> str:
    Weston(place, [OUTPUT], ["--no-outputs"], renderer=renderer, kind="kiosk").start()
    return place.environment["WAYLAND_DISPLAY"]


def sway(place: Place) -> str:
    place.environment |= Desktop(place, "sway", STREAM).environment
    return place.environment["WAYLAND_DISPLAY"]


WAYS: dict[str, Callable[[Place], str | None]] = {
    LEAST: own_stream,
    "weston-pixman": lambda place: weston(place, "pixman"),
    "weston-gl": lambda place: weston(place, "gl"),
    "sway": sway,
}


# --- the screen -----------------------------------------------------------------------------------


class Screen:
    """A thread that reads what gid-cluster shows: when each colour came first."""

    def __init__(self) -> None:
        import gid

        self.shown: dict[int, int] = {}
        self._domain = gid.Domain("cluster")
        self._consumer = self._domain.consumer("screen", "cluster")
        self._ends = threading.Event()
        self._errors: list[Exception] = []
        self._timeout = gid.GidTimeoutError
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._ends.is_set():
                with contextlib.suppress(self._timeout):
                    self._poll()
        except Exception as error:  # for the thread that asks
            self._errors.append(error)

    def _poll(self) -> None:
        frame = self._consumer.frame(timeout=0.2)
        with frame as picture:
            blue, green, red = map(int, picture[HEIGHT // 2, WIDTH // 2][:3])
        self.shown.setdefault(red << 16 | green << 8 | blue, frame.submit_time)

    def close(self) -> None:
        self._ends.set()
        self._thread.join()
        self._consumer.close()
        self._domain.close()
        if self._errors:
            raise LabError(f"the screen cannot be read: {self._errors[0]}")


# --- one run --------------------------------------------------------------------------------------


@dataclass
class Run:
    late_ms: list[float] = field(default_factory=list)  # of the pictures that were on the screen
    painted: int = 0
    copies: float = 0.0  # of a picture on its way to gid-cluster
    reasons: dict[str, int] = field(default_factory=dict)  # of these copies


def paint(place: Place, display: str | None, pace: str, seconds: float) -> list[tuple[int, int]]:
    """The number of each picture, and when it was committed. The last one stays."""
    words = [pace, str(seconds + WARM_UP), str(WIDTH), str(HEIGHT)]
    environment = {}
    if display is None:
        words.append(STREAM)
    else:
        environment["WAYLAND_DISPLAY"] = display
    painter = place.start("painter", [sys.executable, str(PAINTER), *words], **environment)
    patience, check = seconds + PATIENCE, partial(place.check, "painter")
    wait_for("the last picture", lambda: "done" in painter.printed(), patience, check=check)
    lines = painter.printed().splitlines()[:-1]
    return [(int(number), int(committed)) for number, committed in map(str.split, lines)]


def count_copies(cluster: Display, run: Run) -> None:
    command = ["gidctl", "--domain=cluster", "--json", "--once", "--interval=0.1", "top"]
    for flow in json.loads(cluster.place.run(command))["subscriptions"]:
        if flow["stream"] == STREAM:
            taken = sum(layer["frames"] for layer in cluster.status()["layers"])
            run.copies = flow["copied_frames"] / taken
            run.reasons = flow["copy_reasons"]


def measure(way: str, pace: str, seconds: float, cockpit: Cockpit) -> Run:
    run, place, cluster = Run(), cockpit["open"], Display(cockpit["cluster"])
    with contextlib.ExitStack() as stack:
        stack.callback(cluster.place.stop_others)
        stack.callback(place.stop_others)
        cluster.launch(CLUSTER, "--headless")
        display = WAYS[way](place)
        screen = Screen()
        stack.callback(screen.close)
        painted = paint(place, display, pace, seconds)
        wait_for("the last picture", lambda: painted[-1][0] in screen.shown)
        count_copies(cluster, run)
    begin = painted[0][1] + int(WARM_UP * 1e9)
    counted = [(number, committed) for number, committed in painted if committed >= begin]
    run.painted = len(counted)
    run.late_ms = [
        (screen.shown[number] - committed) / 1e6
        for number, committed in counted
        if number in screen.shown
    ]
    return run


# --- all of them ----------------------------------------------------------------------------------


def row_of(way: str, pace: str, runs: list[Run]) -> dict:
    medians = [statistics.median(run.late_ms) for run in runs]
    late = sorted(value for run in runs for value in run.late_ms)
    return {
        "bench": "windows",
        "who": way,
        "what": pace,
        "painted": sum(run.painted for run in runs),
        "shown": len(late),
        "p50_ms": statistics.median(medians),
        "p50_least_ms": min(medians),
        "p50_most_ms": max(medians),
        "p99_ms": late[int(len(late) * 0.99)],
        "copies_a_picture": round(statistics.median(run.copies for run in runs), 3),
        "copy_reasons": sorted({reason for run in runs for reason in run.reasons}),
    }


def ratios_of(rows: list[dict]) -> dict[str, float]:
    """By how many refreshes later than without a compositor, where that was run."""
    ratios = {}
    least = {row["what"]: row["p50_ms"] for row in rows if row["who"] == LEAST}
    for row in rows:
        if row["who"] != LEAST and row["what"] in least:
            later = (row["p50_ms"] - least[row["what"]]) / REFRESH_MS
            ratios[f"later_refreshes_{row['who']}_{row['what']}"] = later
    return ratios


def wanting(ways: list[str]) -> None:
    try:
        import gid  # noqa: F401
    except ImportError:
        raise Wanting("the package gid was not built: python3-cffi is missing") from None
    if "sway" in ways and shutil.which("sway") is None:
        raise Wanting("there is no sway here: leave it out, by --ways")


def main() -> int:
    parser = common.parser("windows", __doc__)
    parser.add_argument(
        "--seconds", type=common.seconds, default=10, help="of each run (default: 10)"
    )
    parser.add_argument(
        "--rounds", type=common.count, default=3, help="of all ways in turn (default: 3)"
    )
    parser.add_argument(
        "--ways", nargs="+", choices=WAYS, default=list(WAYS), help="default: all of them"
    )
    options: argparse.Namespace = parser.parse_args()
    wanting(options.ways)
    os.environ.pop("DISPLAY", None)
    runs: dict[tuple[str, str], list[Run]] = {}
    progress = common.Progress(options.rounds * len(options.ways) * len(PACES))
    with tempfile.TemporaryDirectory(prefix="gid-", dir=common.memory_folder()) as name:
        with common.cockpit(Path(name), STREAM) as cockpit:
            for _ in range(options.rounds):
                for way in options.ways:
                    for pace in PACES:
                        progress.step(f"{way}, {pace}")
                        run = measure(way, pace, options.seconds, cockpit)
                        runs.setdefault((way, pace), []).append(run)
    progress.end()
    rows = [row_of(way, pace, found) for (way, pace), found in runs.items()]
    for row in rows:
        span = f"({row['p50_least_ms']:.1f} to {row['p50_most_ms']:.1f})"
        print(
            f"{row['who']:14} {row['what']:7} commit → screen p50 {row['p50_ms']:5.1f} ms "
            f"{span:16} p99 {row['p99_ms']:5.1f} ms  {row['shown']} of {row['painted']} shown, "
            f"{row['copies_a_picture']:.2f} copies a picture"
        )
    common.write(options.json, rows, ratios_of(rows))
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
