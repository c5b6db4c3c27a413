#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What gidway's module costs a client of Weston that draws with OpenGL: glmark2, with and without.

Weston runs without a screen and composes with GL. The two take turns in one run, each in a Weston
of its own, first for a short time and then for a long one. The ratio is that of frames for each
second of glmark2's own processor time, so that what else happens on the machine counts little. What
its start takes, which is much, is in both times of a turn, and is taken off. What Weston
takes for each of its own seconds stands beside. Without a graphics card both draw with llvmpipe, in
the thread that asks, each on a core of its own.

That ratio moves with the machine. So instructions are counted, too, by callgrind: those of Weston,
where the module is, for a frame of weston-simple-egl, which draws one for each refresh. The ratio
is without the module to with it: as many frames come of the same instructions.
"""

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import callgrind, common
from lab.domains import priority
from lab.domains.program import LabError, Wanting

SCENES = ("build:use-vbo=true", "texture", "shading:shading=phong")
PATIENCE = 60.0  # seconds
SLOWER = 5.0  # so much longer may take what runs under callgrind
TURNS = 3  # of counting: what a frame takes moves by half a hundredth
OURS = re.compile(r"gid-buffer\.so|libgid\.so")
REPAINT = "weston_output_finish_frame"  # called once for each
SHORT = 0.2  # of the time: the turn that tells what a start takes
QUIET = {
    "stdin": subprocess.DEVNULL,
    "stdout": subprocess.DEVNULL,
    "stderr": subprocess.DEVNULL,
}
WITH = {False: "without the module", True: "with the module"}
WESTON_INI = "[core]\nidle-time=0\n[shell]\npanel-position=none\nlocking=false\n"


@dataclass(frozen=True)
class Score:
    """`fps`: the mean of the scenes'. `frames`: of all of them, and `cpu`: seconds of the processor
    that glmark2 took, with its start. `weston`: what Weston took of its core, in percent."""

    fps: float
    frames: float
    cpu: float
    weston: float


def environment_in(folder: Path) -> dict[str, str]:
    own = {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": "drawing"}
    return os.environ | own | {"LP_NUM_THREADS": "0", "GID_DOMAIN": "cluster"}


@contextlib.contextmanager
def weston(
    folder: Path, with_module: bool, under: Sequence[str] = ()
) -> Iterator[subprocess.Popen]:
    """It takes clients."""
    config, log, socket = folder / "weston.ini", folder / "weston.log", folder / "drawing"
    config.write_text(WESTON_INI)
    command = [*under, "weston", "--backend=headless", "--renderer=gl", f"--config={config}"]
    command += ["--width=1920", "--height=720", f"--socket={socket.name}", f"--log={log}"]
    command += ["--modules=gid-buffer.so"] if with_module else []
    socket.unlink(missing_ok=True)
    process = subprocess.Popen(command, env=environment_in(folder), **QUIET)
    try:
        end = time.monotonic() + PATIENCE
        while not socket.exists():
            if process.poll() is not None or time.monotonic() > end:
                raise LabError(f"Weston does not start:\n{log.read_text()[-1000:]}")
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait(20)


def score(folder: Path, with_module: bool, size: str, seconds: float) -> Score:
    weston_core, client_core = map(str, priority.two_cores())
    command = ["taskset", "-c", client_core, "glmark2-es2-wayland", f"--size={size}"]
    for scene in SCENES:
        command += ["-b", f"{scene}:duration={seconds}"]
    with weston(folder, with_module, ("taskset", "-c", weston_core)) as process:
        before, own = common.cpu_seconds(process.pid), common.children_seconds()
        begin = time.monotonic()
        result = subprocess.run(
            command,
            env=environment_in(folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE + 5 * seconds * len(SCENES),
        )
        passed = time.monotonic() - begin
        weston_percent = (common.cpu_seconds(process.pid) - before) / passed * 100
        own = common.children_seconds() - own
    times = map(float, re.findall(r"FrameTime: ([\d.]+) ms", result.stdout))
    rates = [1000 / time for time in times if time > 0]
    if len(rates) != len(SCENES):
        raise LabError(f"glmark2: {(result.stdout + result.stderr)[-500:]}")
    return Score(statistics.mean(rates), sum(rates) * seconds, own, weston_percent)


def per_cpu(short: Score, long: Score) -> float:
    """Frames for each second of glmark2's processor time; its start, which both have, is off."""
    return (long.frames - short.frames) / max(long.cpu - short.cpu, 1e-3)


# --- instructions ---------------------------------------------------------------------------------


def instructions(folder: Path, with_module: bool, frames: int) -> tuple[float, float]:
    """Of Weston for a frame, and those of gidway's own objects: of so many frames at least, behind
    some others."""
    out, said = folder / "callgrind.out", folder / "client.out"
    for old in folder.glob(f"{out.name}*"):
        old.unlink()
    under = callgrind.command(out, counts=False)
    with weston(folder, with_module, under) as process, said.open("w") as file:
        client = subprocess.Popen(
            ["stdbuf", "-oL", "weston-simple-egl"],
            env=environment_in(folder),
            **QUIET | {"stdout": file},
        )
        try:
            # By then all is there that either draws with, which takes long.
            wait_for_frames(said, client, 1)
            callgrind.start(process.pid)
            wait_for_frames(said, client, drawn(said) + frames)
            dump = callgrind.counted(process.pid, out)
        finally:
            client.terminate()
            client.wait(20)
    calls = callgrind.read_calls(dump, REPAINT)
    if calls < frames:
        raise LabError(f"of {frames} frames Weston was counted for {calls}")
    costs = callgrind.read_costs(dump)
    own = sum(cost for name, cost in costs.items() if OURS.match(name))
    return sum(costs.values()) / calls, own / calls


def drawn(said: Path) -> int:
    """Frames, as the client tells every few seconds."""
    return sum(map(int, re.findall(r"(\d+) frames in", said.read_text())))


def wait_for_frames(said: Path, client: subprocess.Popen, frames: int) -> None:
    end = time.monotonic() + SLOWER * PATIENCE
    while drawn(said) < frames:
        if client.poll() is not None or time.monotonic() > end:
            raise LabError(f"{drawn(said)} of {frames} frames came while Weston was counted")
        time.sleep(0.2)


def count(folder: Path, frames: int, progress: common.Progress) -> tuple[list[dict], float]:
    """A row for each, and the median of the turns' ratios."""
    found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for _ in range(TURNS):
        for with_module in found:
            progress.step(f"instructions, {WITH[with_module]}")
            found[with_module].append(instructions(folder, with_module, frames))
    rows = [
        {
            "bench": "drawing",
            "who": "gid" if with_module else "weston",
            "what": f"instructions of Weston for a frame, {WITH[with_module]}",
            "instructions": round(statistics.median(all_of for all_of, _ in of)),
            "own_instructions": round(statistics.median(own for _, own in of)),
        }
        for with_module, of in found.items()
    ]
    turns = zip(found[False], found[True], strict=True)
    return rows, statistics.median(bare / ours for (bare, _), (ours, _) in turns)


# --- results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turn:
    score: Score
    per_cpu: float


Turns = dict[bool, list[Turn]]  # without the module, and with it


def score_all(folder: Path, options: argparse.Namespace, progress: common.Progress) -> Turns:
    turns: Turns = {False: [], True: []}
    for turn in range(options.repetitions):
        # Neither is always the first.
        for with_module in (False, True) if turn % 2 == 0 else (True, False):
            progress.step(WITH[with_module])
            short, long = (
                score(folder, with_module, options.size, seconds)
                for seconds in (SHORT * options.seconds, options.seconds)
            )
            turns[with_module].append(Turn(long, per_cpu(short, long)))
    return turns


def row_of(with_module: bool, turns: list[Turn]) -> dict:
    fps = [turn.score.fps for turn in turns]
    rates = [turn.per_cpu for turn in turns]
    return {
        "bench": "drawing",
        "who": "gid" if with_module else "weston",
        "what": WITH[with_module],
        "fps": round(statistics.median(fps), 1),
        "fps_min": round(min(fps), 1),
        "fps_max": round(max(fps), 1),
        "frames_per_cpu_second": round(statistics.median(rates), 2),
        "frames_per_cpu_second_min": round(min(rates), 2),
        "frames_per_cpu_second_max": round(max(rates), 2),
        "weston_percent": round(statistics.median(turn.score.weston for turn in turns), 1),
        "n": len(turns),
    }


def show(rows: list[dict], counted: list[dict], ratios: dict[str, float]) -> None:
    for row in rows:
        print(
            f"{row['what']:20} {row['fps']:8.1f} frames a second, "
            f"{row['frames_per_cpu_second']:8.2f} for each second of the processor; Weston "
            f"{row['weston_percent']:.1f} %"
        )
    for row in counted:
        print(f"{row['what']}: {row['instructions']:,}, of gidway {row['own_instructions']:,}")
    for name, value in ratios.items():
        print(f"{name} {value:.4f}")


def main() -> int:
    parser = common.parser("drawing", __doc__)
    parser.add_argument(
        "--repetitions", type=common.count, default=5, help="turns of each (default: 5)"
    )
    parser.add_argument(
        "--seconds", type=common.seconds, default=3, help="of each scene (default: 3)"
    )
    parser.add_argument("--size", default="1920x720", help="of the window (default: 1920x720)")
    parser.add_argument(
        "--frames",
        type=common.count,
        default=300,
        help="whose instructions are counted (default: 300)",
    )
    options = parser.parse_args()
    for program in ("glmark2-es2-wayland", "weston-simple-egl", "valgrind"):
        if shutil.which(program) is None:
            raise Wanting(f"there is no {program}")
    progress = common.Progress(2 * options.repetitions + 2 * TURNS)
    with tempfile.TemporaryDirectory(prefix="gid-draw-", dir=common.memory_folder()) as name:
        folder = Path(name)
        with common.cockpit(folder, "movie"):
            turns = score_all(folder, options, progress)
            counted, ratio = count(folder, options.frames, progress)
    progress.end()
    pairs = zip(turns[False], turns[True], strict=True)
    each = [ours.per_cpu / bare.per_cpu for bare, ours in pairs]
    ratios = {
        "frames_with_module_vs_without": round(statistics.median(each), 4),
        "frames_for_instructions_with_module_vs_without": round(ratio, 4),
    }
    rows = [row_of(with_module, of) for with_module, of in turns.items()]
    show(rows, counted, ratios)
    in_turns = {
        "bench": "drawing",
        "who": "ratio",
        "what": "with the module, ratio to without, in each turn",
        "each": [round(one, 4) for one in each],
    }
    common.write(options.json, [*rows, in_turns, *counted], ratios)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
