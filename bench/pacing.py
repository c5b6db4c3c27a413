#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How soon Weston shows a film: with its own repaint window, and with the module's pacing.

A film is played in one domain and shown by gid-view in a headless Weston of the other, which is
started again and again, alternately with pacing off and on, while the film runs on. The figures
are what gid-timeline reads from Weston's timeline: commit → shown of the film's surface. Headless
Weston says of a frame that comes after a pause that it is shown a whole refresh later at the
soonest: what pacing can gain ends there.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import common  # adds the demo's folder, where clip is

# isort: split
import clip

SETTINGS = ("off", "on")
CASES = ("film@60", "24@60", "30@60", "50@60", "60@60")
PATIENCE = 20.0


@dataclass(frozen=True)
class Case:
    rate: str  # of the film in frames a second; "film": its own
    refresh: int  # of the output in Hz

    def __str__(self) -> str:
        return f"{self.rate}@{self.refresh}"


def parse_case(text: str) -> Case:
    rate, _, refresh = text.partition("@")
    if not refresh.isdecimal() or not (rate == "film" or rate.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text}: must be like film@60 or 24@60")
    return Case(rate, int(refresh))


def main() -> int:
    parser = common.parser("pacing", __doc__)
    parser.add_argument(
        "cases",
        nargs="*",
        type=parse_case,
        default=[parse_case(text) for text in CASES],
        metavar="RATE@HZ",
        help="the film's rate (film: its own) and the output's refresh rate "
        f"(default: {' '.join(CASES)})",
    )
    parser.add_argument("--clip", metavar="FILE", help="the film (default: that of the demo)")
    parser.add_argument("--rounds", type=int, default=5, help="times off and on (default: 5)")
    parser.add_argument("--seconds", type=float, default=8, help="seconds of each run (default: 8)")
    options = parser.parse_args()
    options.cases = list(dict.fromkeys(options.cases))
    film = clip.find(options.clip)
    progress = common.Progress(len(options.cases) * options.rounds * len(SETTINGS))
    rows = []
    for case in options.cases:
        rows += measure(case, film, options.rounds, options.seconds, progress)
    progress.end()
    ratios = {}
    for case in options.cases:
        off, on = (row for row in rows if row["case"] == str(case))
        ratios[f"commit_to_shown_p50_{case}"] = on["p50_ms"] / off["p50_ms"]
        show(case, off, on)
    common.write(options.json, rows, ratios)
    return 0


def show(case: Case, off: dict, on: dict) -> None:
    for row in (off, on):
        span = f"({row['p50_least_ms']:.2f} to {row['p50_most_ms']:.2f})"
        print(
            f"{case!s:<8} {row['who']:<3} commit → shown p50 {row['p50_ms']:6.2f} ms {span}  "
            f"p99 {row['p99_ms']:6.2f} ms  shown {row['frames_a_second']:5.2f}/s  "
            f"not shown {row['not_shown']}  missed {row['missed']}  "
            f"{row['cpu_us']:.0f} µs CPU a frame"
        )
    gain, bound = (1 - least / off["p50_ms"] for least in (on["p50_ms"], 1000 / case.refresh))
    print(f"{case!s:<8} p50 {gain:.1%} lower; down to one refresh it would be {bound:.1%}")


def measure(
    case: Case, film: Path, rounds: int, seconds: float, progress: common.Progress
) -> list[dict]:
    """A row for each setting, out of runs that alternate between them."""
    runs: dict[str, list[dict]] = {setting: [] for setting in SETTINGS}
    with tempfile.TemporaryDirectory(prefix="gid-pacing-") as name:
        folder = Path(name)
        with common.cockpit(folder, "film"), playing(case, film):
            for index in range(rounds):
                for setting in SETTINGS:
                    progress.step(f"{case}, pacing {setting}")
                    place = folder / f"{setting}-{index}"
                    place.mkdir(mode=0o700)
                    runs[setting].append(show_film(place, case, setting, seconds))
    return [row(case, setting, found) for setting, found in runs.items()]


def row(case: Case, setting: str, runs: list[dict]) -> dict:
    p50s = [run["p50_ms"] for run in runs]
    return {
        "bench": "pacing",
        "who": setting,
        "case": str(case),
        "refresh": case.refresh,
        "p50_ms": statistics.median(p50s),
        "p50_least_ms": min(p50s),
        "p50_most_ms": max(p50s),
        "p99_ms": statistics.median(run["p99_ms"] for run in runs),
        "cpu_us": statistics.median(run["cpu_us"] for run in runs),
        "frames": sum(run["frames"] for run in runs),
        "frames_a_second": statistics.median(run["frames_a_second"] for run in runs),
        "not_shown": sum(run["not_shown"] for run in runs),
        "missed": sum(run["missed"] for run in runs),
    }


@contextlib.contextmanager
def playing(case: Case, film: Path) -> Iterator[None]:
    """The film runs in the domain `open`, over and over."""
    rate = "" if case.rate == "film" else f" ! videorate ! video/x-raw,framerate={case.rate}/1"
    pipeline = (
        f"filesrc location={film} ! decodebin3 ! videoconvert ! video/x-raw,format=BGRx{rate}"
        " ! gidsink stream=film name=sink"
    )
    command = [sys.executable, str(common.DEMO / "play.py"), "--loop", pipeline]
    with started(command, os.environ | {"GID_DOMAIN": "open"}):
        yield


@contextlib.contextmanager
def started(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen]:
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            yield process
        except common.BenchError as error:
            output.seek(0)
            said = output.read().decode(errors="replace")
            raise common.BenchError(f"{error}\n{Path(command[0]).name}: {said}") from None
        finally:
            process.terminate()
            process.wait(PATIENCE)


def show_film(folder: Path, case: Case, setting: str, seconds: float) -> dict:
    """One run of Weston; what its timeline and gid-view say of it."""
    (folder / "weston.ini").write_text(
        f"[shell]\npanel-position=none\nlocking=false\n[gid]\npacing={setting}\n"
    )
    timeline, stats = folder / "timeline.log", folder / "stats.json"
    environment = os.environ | {
        "GID_DOMAIN": "cluster",
        "XDG_RUNTIME_DIR": str(folder),
        "WAYLAND_DISPLAY": "gid-bench",
    }
    weston = ["weston", "--backend=headless", "--renderer=pixman", "--idle-time=0"]
    weston += ["--width=1280", "--height=720", f"--refresh-rate={case.refresh * 1000}"]
    weston += [f"--config={folder}/weston.ini", "--socket=gid-bench", "--modules=gid-buffer.so"]
    weston += [f"--log={timeline}", "--logger-scopes=log,timeline"]
    view = ["gid-view", "--domain=open", "--stream=film", "--fullscreen", f"--stats={stats}"]
    with started(weston, environment) as compositor:
        wait_for(lambda: is_ready(timeline), compositor, "Weston")
        with started(view, environment) as viewer:
            wait_for(lambda: frames_in(stats) > 0, viewer, "the film")
            time.sleep(seconds)
        cpu_ns = int(Path(f"/proc/{compositor.pid}/schedstat").read_text().split()[0])
    found = figures(timeline, case)
    found["cpu_us"] = cpu_ns / 1000 / found["frames"]
    return found | {"not_shown": json.loads(stats.read_text())["drops"]["superseded"]}


def is_ready(log: Path) -> bool:
    return log.exists() and "gid: ready" in log.read_text(errors="replace")


def frames_in(stats: Path) -> int:
    return json.loads(stats.read_text())["frames"] if stats.exists() else 0


def wait_for(condition, process: subprocess.Popen, what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None or time.monotonic() > end:
            raise common.BenchError(f"waited in vain for {what}")
        time.sleep(0.02)


def figures(timeline: Path, case: Case) -> dict:
    command = ["gid-timeline", "report", str(timeline), "--format=json"]
    command += ["--refresh", str(case.refresh)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    (run,) = report["runs"]
    (output,) = run["outputs"]
    found = [surface["figures"].get("commit_to_shown") for surface in run["surfaces"]]
    film = max((figure for figure in found if figure), key=lambda figure: figure["n"])
    return {
        "p50_ms": film["p50_ns"] / 1e6,
        "p99_ms": film["p99_ns"] / 1e6,
        "frames": film["n"],
        "frames_a_second": film["n"] / (run["last_ns"] - run["first_ns"]) * 1e9,
        "missed": output["refresh"]["missed_refreshes"],
    }


if __name__ == "__main__":
    sys.exit(common.run(main))
