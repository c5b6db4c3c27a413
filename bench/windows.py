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
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench import common
from lab.domains.program import LabError, Wanting

WIDTH, HEIGHT = 1280, 720
RATE = 60
REFRESH_MS = 1000 / RATE
PACES = ("seldom", "always")
PATIENCE = 60.0  # seconds
WARM_UP = 1.0  # seconds of pictures that are not counted
CLUSTER = f"""\
[display]
width={WIDTH}
height={HEIGHT}
refresh={RATE}
stream=screen
worst-frame=0
[layer desktop]
domain=open
width={WIDTH}
height={HEIGHT}
"""
WESTON = f"""\
[shell]
panel-position=none
locking=false
startup-animation=none
[gid-output]
name=desktop
stream=desktop
mode={WIDTH}x{HEIGHT}
"""
SWAY = f"""\
output HEADLESS-1 mode {WIDTH}x{HEIGHT}@{RATE}Hz
default_border none
for_window [app_id=".*"] fullscreen enable
"""
STREAM = "desktop"
LEAST = "stream"  # the way that the others are compared with
PAINTER = Path(__file__).with_name("windows") / "painter.py"


class Programs:
    """Those of one way to the screen, which end with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "programs.log"
        self.stack = contextlib.ExitStack()

    def start(self, domain: str, *command: str | Path, **more: str) -> subprocess.Popen:
        environment = os.environ | {"GID_DOMAIN": domain, "XDG_RUNTIME_DIR": str(self.folder)}
        environment.pop("DISPLAY", None)
        log = self.stack.enter_context(self.log.open("ab"))
        process = subprocess.Popen(
            [*map(str, command)],
            stdin=subprocess.PIPE,  # at whose end the painter ends
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment | more,
            text=True,
        )
        self.stack.callback(_end, process)
        return process

    def wait(self, what: str, condition: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                log = self.log.read_text(errors="replace")[-1000:]
                raise LabError(f"waited in vain for {what}:\n{log}")
            time.sleep(0.02)


def _end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.terminate()
    process.communicate(timeout=PATIENCE)


# --- the ways to the screen; each starts what is needed, and says where the painter goes ----------


@dataclass
class Place:
    """Of the painter."""

    display: str | None = None  # WAYLAND_DISPLAY; None: it sends a stream


def own_stream(programs: Programs) -> Place:
    return Place()


def weston(programs: Programs, renderer: str) -> Place:
    config = programs.folder / "weston.ini"
    config.write_text(WESTON)
    command = ["weston", "--backend=headless", f"--renderer={renderer}", "--no-outputs"]
    command += ["--shell=kiosk-shell.so", "--idle-time=0", f"--config={config}"]
    programs.start("open", *command, "--socket=desktop", "--modules=gid-buffer.so")
    programs.wait("Weston", (programs.folder / "desktop").exists)
    return Place(display="desktop")


def sway(programs: Programs) -> Place:
    config = programs.folder / "sway.conf"
    config.write_text(SWAY)
    settings = {"WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1"}
    known = set(programs.folder.glob("wayland-*"))

    def made() -> list[str]:
        found = set(programs.folder.glob("wayland-*")) - known
        return [path.name for path in found if path.suffix != ".lock"]

    programs.start("open", "sway", "--config", config, WLR_RENDERER="pixman", **settings)
    programs.wait("sway", made)
    (display,) = made()
    words = ["gid-capture", f"--stream={STREAM}", "--no-cursor"]
    programs.start("open", *words, WAYLAND_DISPLAY=display)
    return Place(display=display)


WAYS: dict[str, Callable[[Programs], Place]] = {
    LEAST: own_stream,
    "weston-pixman": lambda programs: weston(programs, "pixman"),
    "weston-gl": lambda programs: weston(programs, "gl"),
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
                    self._look()
        except Exception as error:  # for the thread that asks
            self._errors.append(error)

    def _look(self) -> None:
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


def start_cluster(programs: Programs) -> None:
    config = programs.folder / "cluster.conf"
    config.write_text(CLUSTER)
    command = ["gid-cluster", "--headless", f"--config={config}"]
    command += [f"--status={programs.folder / 'status'}"]
    programs.start("cluster", *command)
    programs.wait("gid-cluster", (programs.folder / "status").exists)


def paint(programs: Programs, place: Place, pace: str, seconds: float) -> list[tuple[int, int]]:
    """The number of each picture, and when it was committed. The last one stays."""
    words = [pace, str(seconds + WARM_UP), str(WIDTH), str(HEIGHT)]
    paths = [str(common.TOP), os.environ.get("PYTHONPATH", "")]
    environment = {"PYTHONPATH": ":".join(paths)}
    if place.display is None:
        words.append(STREAM)
    else:
        environment["WAYLAND_DISPLAY"] = place.display
    painter = programs.start("open", sys.executable, PAINTER, *words, **environment)
    painted = []
    for line in painter.stdout:
        if line.strip() == "done":
            return painted
        number, committed = map(int, line.split())
        painted.append((number, committed))
    raise LabError(f"the painter broke off:\n{programs.log.read_text()[-1000:]}")


def frames_taken(programs: Programs) -> int:
    """Of the stream, by gid-cluster."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(str(programs.folder / "status"))
        with connection.makefile("rb") as answer:
            return sum(layer["frames"] for layer in json.load(answer)["layers"])


def count_copies(programs: Programs, run: Run) -> None:
    command = ["gidctl", "--domain=cluster", "--json", "--once", "--interval=0.1", "top"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    for flow in json.loads(said.stdout)["subscriptions"]:
        if flow["stream"] == STREAM:
            run.copies = flow["copied_frames"] / frames_taken(programs)
            run.reasons = flow["copy_reasons"]


def measure(way: str, pace: str, seconds: float, folder: Path) -> Run:
    programs, run = Programs(folder), Run()
    with programs.stack:
        start_cluster(programs)
        place = WAYS[way](programs)
        screen = Screen()
        programs.stack.callback(screen.close)
        painted = paint(programs, place, pace, seconds)
        programs.wait("the last picture", lambda: painted[-1][0] in screen.shown)
        count_copies(programs, run)
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
    parser.add_argument("--seconds", type=float, default=10, help="of each run (default: 10)")
    parser.add_argument("--rounds", type=int, default=3, help="of all ways in turn (default: 3)")
    parser.add_argument(
        "--ways", nargs="+", choices=WAYS, default=list(WAYS), help="default: all of them"
    )
    options: argparse.Namespace = parser.parse_args()
    wanting(options.ways)
    runs: dict[tuple[str, str], list[Run]] = {}
    progress = common.Progress(options.rounds * len(options.ways) * len(PACES))
    with tempfile.TemporaryDirectory(prefix="gid-", dir=common.memory_folder()) as name:
        folder = Path(name)
        with common.cockpit(folder, STREAM):
            for index in range(options.rounds):
                for way in options.ways:
                    for pace in PACES:
                        progress.step(f"{way}, {pace}")
                        place = folder / f"{index}-{way}-{pace}"
                        place.mkdir(mode=0o700)
                        run = measure(way, pace, options.seconds, place)
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
