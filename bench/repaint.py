#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a repaint costs Weston with the film in gid memory, and with the same film in wl_shm.

Both show the same stream full screen in one Weston, headless and drawing with the CPU (pixman):
gid-view hands over the memory that the decoder's domain wrote, and waylandsink copies it to its own
wl_shm memory first. That copy is its own affair: counted here is what Weston does.

Time is begin to posted of Weston's timeline: the cockpit report's processing time, with its figures
average, maximum and outliers. The two take turns in one run. Instructions are those of the whole
compositor by callgrind, divided by its repaints, for each in a Weston of its own: counted from
stillness to stillness, so that whole repaints are counted, and all that the client asked for.
"""

import argparse
import contextlib
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from gid_timeline.reader import read_into
from gid_timeline.samples import Samples
from gid_timeline.stats import describe
from gid_timeline.trace import Trace

from bench import callgrind, common
from lab.domains.place import Place
from lab.domains.program import LabError, Program
from lab.domains.weston import Weston
from lab.film import clip, film

WIDTH, HEIGHT = 1280, 720  # of the output, and of the film
STREAM = "movie"
CLIENTS = {
    "gid": ["gid-view", "--domain=open", f"--stream={STREAM}", "--fullscreen"],
    "wl_shm": [
        *("gst-launch-1.0", "-q", "gidsrc", "domain=open", f"stream={STREAM}"),
        *("!", "waylandsink", "fullscreen=true"),
    ],
}
WARM_UP = 50  # repaints before anything is measured
PATIENCE = 120  # s, for anything to begin: callgrind makes Weston fifty times slower


def main() -> int:
    parser = common.parser("repaint", __doc__)
    parser.add_argument("--clip", help="another film, of 1280x720")
    parser.add_argument(
        "--seconds", type=common.seconds, default=10, help="seconds of each turn (default: 10)"
    )
    parser.add_argument(
        "--repetitions", type=common.count, default=3, help="turns of each (default: 3)"
    )
    parser.add_argument(
        "--repaints",
        type=common.count,
        default=1000,
        help="whose instructions are counted (default: 1000)",
    )
    parser.add_argument("--only", choices=["time", "instructions"], help="measure only this")
    options = parser.parse_args()
    rows = []
    turns = options.repetitions * len(CLIENTS)
    progress = common.Progress((options.only != "instructions") * turns + len(CLIENTS))
    with tempfile.TemporaryDirectory(prefix="gid-repaint-", dir=common.memory_folder()) as name:
        with contextlib.ExitStack() as stack:
            cockpit = stack.enter_context(common.cockpit(Path(name), STREAM))
            place, played = cockpit["cluster"], clip.find(options.clip)
            player = stack.enter_context(playing(played, cockpit["open"]))
            if options.only != "instructions":
                rows += measure_time(place, options, progress)
            if options.only != "time":
                rows += measure_instructions(place, player, options.repaints, progress)
    progress.end()
    show(rows)
    common.write(options.json, rows, ratios(rows))
    return 0


# --- programs ---


@contextlib.contextmanager
def playing(path: Path, place: Place) -> Iterator[Program]:
    """The film, again and again, as a stream of the domain `open`."""
    pipeline = f"{film.decode(path)} ! video/x-raw,format=BGRx ! gidsink name=sink stream={STREAM}"
    with place.running("play", film.playing(pipeline)) as player:
        yield player


@contextlib.contextmanager
def weston(place: Place, scopes: str, under: Sequence[str] = ()) -> Iterator[Weston]:
    """Runs until the end of the block. Its log has `scopes`."""
    log = place.folder / "scopes.log"
    size = [f"--width={WIDTH}", f"--height={HEIGHT}"]
    try:
        yield Weston(place, options=size, log=log, scopes=scopes).start(under)
    finally:
        place.stop_others()


@contextlib.contextmanager
def client(who: str, place: Place) -> Iterator[Callable[[], int]]:
    """Shows the film; the function tells how many of its frames were repainted."""

    def repaints() -> int:
        return len(re.findall(r"wl_surface[#@]\d+\.attach\(", process.said()))

    # Each waits for a repaint before it gives the next picture. waylandsink gives a compositor that
    # is busy no more than 0.1 s to answer, and ends.
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with place.running(who, CLIENTS[who], WAYLAND_DEBUG="client") as process:
            while process.is_running() and repaints() < WARM_UP and time.monotonic() < end:
                time.sleep(0.05)
            if repaints() >= WARM_UP:
                yield repaints
                return
    raise LabError(f"{who}: no picture:\n{process.last_words()}")


# --- time ---


def measure_time(
    place: Place, options: argparse.Namespace, progress: common.Progress
) -> list[dict]:
    windows: dict[str, list[tuple[int, int]]] = {who: [] for who in CLIENTS}
    with weston(place, "log,timeline") as running:
        for number in range(options.repetitions):
            for who in list(CLIENTS)[:: 1 if number % 2 else -1]:
                progress.step(f"{who}, turn {number + 1}")
                with client(who, place):
                    begin = time.monotonic_ns()
                    time.sleep(options.seconds)
                    windows[who].append((begin, time.monotonic_ns()))
    with running.log.open("rb") as file:
        frames = frames_of(file)
    return [
        time_row(
            who,
            [
                (begin, posted)
                for start, end in windows[who]
                for begin, posted in frames
                if start <= begin and posted <= end
            ],
        )
        for who in CLIENTS
    ]


def frames_of(log: BinaryIO) -> list[tuple[int, int]]:
    """When each repaint of a timeline log began and was posted."""
    trace = Trace()
    read_into(trace, log)
    return [
        (begin, posted)
        for chunk in trace.frames.chunks()
        for begin, posted in zip(chunk["begin"].tolist(), chunk["posted"].tolist(), strict=True)
        if posted >= 0
    ]


def time_row(who: str, frames: list[tuple[int, int]]) -> dict:
    spent = [posted - begin for begin, posted in frames]
    if not spent:
        raise LabError(f"{who}: Weston has repainted nothing")
    summary, _ = describe(Samples.of(np.array(spent, dtype=np.int64)))
    return {
        **{"bench": "repaint", "who": who, "what": "time", "repaints": summary.n},
        **{"mean_ms": summary.mean / 1e6, "p50_ms": summary.p50 / 1e6},
        **{"p99_ms": summary.p99 / 1e6, "max_ms": summary.max / 1e6},
        **{"outliers": summary.outliers, "outliers_above_ms": summary.fence / 1e6},
    }


# --- instructions ---


def measure_instructions(
    place: Place, player: Program, count: int, progress: common.Progress
) -> list[dict]:
    rows = []
    for who in CLIENTS:
        progress.step(f"{who}, instructions of {count} repaints")
        costs, repaints = count_instructions(who, place, player, count)
        drawing = sum(cost for name, cost in costs.items() if name.startswith("libpixman"))
        figures = {"repaints": repaints, "instructions": sum(costs.values()) / repaints}
        figures["drawing_instructions"] = drawing / repaints
        rows.append({"bench": "repaint", "who": who, "what": "instructions", **figures})
    return rows


def count_instructions(
    who: str, place: Place, player: Program, count: int
) -> tuple[dict[str, int], int]:
    """Of each object of the compositor, and its repaints meanwhile; without a timeline to write."""
    out = place.folder / f"callgrind.{who}"
    under = callgrind.command(out, counts=False)
    with weston(place, "log", under) as running, client(who, place) as repaints:
        pid = running.program.pid
        with still(player, pid):
            callgrind.start(pid)
            before = repaints()
        end = time.monotonic() + PATIENCE + count
        while repaints() - before < count:
            if not running.program.is_running() or time.monotonic() > end:
                raise LabError(f"{who}: Weston does not get on under callgrind")
            time.sleep(0.2)
        with still(player, pid):
            dump = callgrind.counted(pid, out)
            after = repaints()
    return callgrind.read_costs(dump), after - before


@contextlib.contextmanager
def still(player: Program, pid: int) -> Iterator[None]:
    """Stops the film, and waits for the compositor to have nothing left to do."""
    player.signal(signal.SIGSTOP)
    try:
        end = time.monotonic() + PATIENCE
        spent, before = cpu_ns(pid), -1
        while spent != before:
            if time.monotonic() > end:
                raise LabError("Weston does not come to rest without a film")
            time.sleep(0.5)
            spent, before = cpu_ns(pid), spent
        yield
    finally:
        player.signal(signal.SIGCONT)


def cpu_ns(pid: int) -> int:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


# --- results ---


def ratios(rows: list[dict]) -> dict[str, float]:
    found = {}
    for what, key in (
        ("time", "mean_ms"),
        ("time", "p50_ms"),
        ("instructions", "instructions"),
        ("instructions", "drawing_instructions"),
    ):
        values = {row["who"]: row[key] for row in rows if row["what"] == what}
        if values:
            found[f"repaint_{key}_gid_vs_wl_shm"] = values["gid"] / values["wl_shm"]
    return found


def show(rows: list[dict]) -> None:
    for row in rows:
        if row["what"] == "time":
            print(
                f"{row['who']:<6} {row['repaints']:6} repaints: average {row['mean_ms']:.3f} ms, "
                f"median {row['p50_ms']:.3f}, p99 {row['p99_ms']:.3f}, "
                f"maximum {row['max_ms']:.3f}, "
                f"{row['outliers']} outliers above {row['outliers_above_ms']:.3f}"
            )
        else:
            print(
                f"{row['who']:<6} {row['repaints']:6} repaints: {row['instructions']:,.0f} "
                f"instructions each, {row['drawing_instructions']:,.0f} of them drawing"
            )
    for name, value in ratios(rows).items():
        print(f"{name} {value:.4f}")


if __name__ == "__main__":
    sys.exit(common.run(main))
