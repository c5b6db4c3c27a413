#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What gidway's module costs a client of Weston that draws with OpenGL: glmark2, with and without.

Weston runs without a screen and composes with GL. The two take turns in one run, each in a Weston
of its own, first for a short time and then for a long one. The ratio is that of frames for each
second of glmark2's own processor time, so that what else happens on the machine counts little. What
its start takes, which is much, is in both times of a turn, and is taken off. What Weston
takes for each of its own seconds stands beside. Without a graphics card both draw with llvmpipe, in
the thread that asks, each on a core of its own.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench import common
from lab.domains import priority
from lab.domains.program import LabError, Wanting

SCENES = ("build:use-vbo=true", "texture", "shading:shading=phong")
PATIENCE = 60.0  # seconds
SHORT = 0.2  # of the time: the turn that tells what a start takes
WESTON_INI = "[core]\nidle-time=0\n[shell]\npanel-position=none\nlocking=false\n"


@dataclass(frozen=True)
class Score:
    """`fps`: the mean of the scenes'. `frames`: of all of them, and `cpu`: seconds of the processor
    that glmark2 took, with its start. `weston`: what Weston took of its core, in percent."""

    fps: float
    frames: float
    cpu: float
    weston: float


def score(folder: Path, with_module: bool, size: str, seconds: float) -> Score:
    environment = os.environ | {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": "drawing"}
    config, log = folder / "weston.ini", folder / "weston.log"
    config.write_text(WESTON_INI)
    weston_core, client_core = priority.two_cores()
    environment["LP_NUM_THREADS"] = "0"
    weston = [
        "taskset",
        "-c",
        str(weston_core),
        "weston",
        "--backend=headless",
        "--renderer=gl",
        f"--config={config}",
    ]
    weston += ["--width=1920", "--height=720", "--socket=drawing", f"--log={log}"]
    weston += ["--modules=gid-buffer.so"] if with_module else []
    environment["GID_DOMAIN"] = "cluster"
    quiet = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    (folder / "drawing").unlink(missing_ok=True)
    process = subprocess.Popen(weston, env=environment, **quiet)
    try:
        end = time.monotonic() + PATIENCE
        while not (folder / "drawing").exists():
            if process.poll() is not None or time.monotonic() > end:
                raise LabError(f"Weston does not start:\n{log.read_text()[-1000:]}")
            time.sleep(0.05)
        command = [
            "taskset",
            "-c",
            str(client_core),
            "glmark2-es2-wayland",
            f"--size={size}",
        ]
        for scene in SCENES:
            command += ["-b", f"{scene}:duration={seconds}"]
        before, own = common.cpu_seconds(process.pid), common.children_seconds()
        begin = time.monotonic()
        result = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE + 5 * seconds * len(SCENES),
        )
        passed = time.monotonic() - begin
        weston_percent = (common.cpu_seconds(process.pid) - before) / passed * 100
        own = common.children_seconds() - own
    finally:
        process.terminate()
        process.wait(20)
    times = map(float, re.findall(r"FrameTime: ([\d.]+) ms", result.stdout))
    rates = [1000 / time for time in times if time > 0]
    if len(rates) != len(SCENES):
        raise LabError(f"glmark2: {(result.stdout + result.stderr)[-500:]}")
    return Score(statistics.mean(rates), sum(rates) * seconds, own, weston_percent)


def per_cpu(short: Score, long: Score) -> float:
    """Frames for each second of glmark2's processor time; its start, which both have, is off."""
    return (long.frames - short.frames) / max(long.cpu - short.cpu, 1e-3)


def main() -> int:
    parser = common.parser("drawing", __doc__)
    parser.add_argument(
        "--repetitions", type=common.count, default=5, help="turns of each (default: 5)"
    )
    parser.add_argument(
        "--seconds", type=common.seconds, default=3, help="of each scene (default: 3)"
    )
    parser.add_argument("--size", default="1920x720", help="of the window (default: 1920x720)")
    options = parser.parse_args()
    if shutil.which("glmark2-es2-wayland") is None:
        raise Wanting("there is no glmark2-es2-wayland")
    scores: dict[bool, list[Score]] = {False: [], True: []}
    rates: dict[bool, list[float]] = {False: [], True: []}
    progress = common.Progress(2 * options.repetitions)
    with tempfile.TemporaryDirectory(prefix="gid-draw-", dir=common.memory_folder()) as name:
        folder = Path(name)
        with common.cockpit(folder, "movie"):
            for turn in range(options.repetitions):
                # Neither is always the first.
                for with_module in (False, True) if turn % 2 == 0 else (True, False):
                    progress.step("with the module" if with_module else "without the module")
                    both = [
                        score(folder, with_module, options.size, seconds)
                        for seconds in (SHORT * options.seconds, options.seconds)
                    ]
                    scores[with_module].append(both[1])
                    rates[with_module].append(per_cpu(*both))
    progress.end()
    rows = [
        {
            "bench": "drawing",
            "who": "gid" if with_module else "weston",
            "what": "with the module" if with_module else "without the module",
            "fps": round(statistics.median(one.fps for one in values), 1),
            "fps_min": round(min(one.fps for one in values), 1),
            "fps_max": round(max(one.fps for one in values), 1),
            "frames_per_cpu_second": round(statistics.median(rates[with_module]), 2),
            "frames_per_cpu_second_min": round(min(rates[with_module]), 2),
            "frames_per_cpu_second_max": round(max(rates[with_module]), 2),
            "weston_percent": round(statistics.median(one.weston for one in values), 1),
            "n": len(values),
        }
        for with_module, values in scores.items()
    ]
    each = [ours / bare for bare, ours in zip(rates[False], rates[True], strict=True)]
    found = {"frames_with_module_vs_without": round(statistics.median(each), 4)}
    rows.append(
        {
            "bench": "drawing",
            "who": "ratio",
            "what": "with the module, ratio to without, in each turn",
            "each": [round(one, 4) for one in each],
        }
    )
    for row in rows[:-1]:
        print(
            f"{row['what']:20} {row['fps']:8.1f} frames a second, "
            f"{row['frames_per_cpu_second']:8.2f} for each second of the processor; Weston "
            f"{row['weston_percent']:.1f} %"
        )
    print(f"ratio {found['frames_with_module_vs_without']:.4f}")
    common.write(options.json, rows, found)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
