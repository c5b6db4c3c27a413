# SPDX-License-Identifier: MIT
"""Four streams of 1280x720 at 60 a second on one canvas: gidcompose against GStreamer's compositor.

Each stream is a picture that stays, sent again and again from the same memory: it costs its sender
nothing that would disturb.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import common
from lab.domains.program import LabError

STREAMS, RATE, WIDTH, HEIGHT = 4, 60, 1280, 720
COMPOSERS = {
    "gid": "gidcompose engine=cluster canvas=bench copy-policy=error",
    "gstreamer": "compositor",
}
_COMPOSER = Path(__file__).resolve().parent / "engine/composer.py"


def _environment() -> dict[str, str]:
    return os.environ | {"GID_DOMAIN": "open"}


@contextlib.contextmanager
def streams() -> Iterator[None]:
    """Those of `open` that are composed."""
    caps = f"video/x-raw,format=BGRx,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
    senders = []
    for number in range(STREAMS):
        text = (
            f"videotestsrc num-buffers=1 pattern={number} ! {caps} ! imagefreeze is-live=true "
            f"! {caps} ! gidsink stream=movie/{number}"
        )
        senders.append(
            subprocess.Popen(
                ["gst-launch-1.0", "-q", *text.split()],
                stdin=subprocess.DEVNULL,
                env=_environment(),
            )
        )
    try:
        yield
    finally:
        for sender in senders:
            sender.terminate()
        for sender in senders:
            sender.wait(10)


def _pipeline(composer: str) -> str:
    places = " ".join(
        f"sink_{i}::xpos={i % 2 * WIDTH} sink_{i}::ypos={i // 2 * HEIGHT}" for i in range(STREAMS)
    )
    caps = f"video/x-raw,format=BGRx,width={2 * WIDTH},height={2 * HEIGHT},framerate={RATE}/1"
    sources = " ".join(f"gidsrc stream=movie/{i} ! compose." for i in range(STREAMS))
    return f"{composer} name=compose {places} ! {caps} ! fakesink name=out sync=true {sources}"


def measure(who: str, engine: int, seconds: float) -> dict[str, float]:
    command = [sys.executable, _COMPOSER, f"--seconds={seconds}", f"--rate={RATE}"]
    command += [f"--engine={engine}", _pipeline(COMPOSERS[who])]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds + 60, env=_environment()
    )
    if result.returncode != 0:
        raise LabError(f"{COMPOSERS[who]}: {result.stderr.strip()}")
    return json.loads(result.stdout)


def measure_all(engine: int, seconds: float, repetitions: int) -> list[dict]:
    """A row for each composer, of medians; drops and copies are sums."""
    found: dict[str, list[dict]] = {who: [] for who in COMPOSERS}
    progress = common.Progress(len(COMPOSERS) * repetitions)
    with streams():
        for _ in range(repetitions):
            for who, runs in found.items():
                progress.step(f"four streams, {who}")
                runs.append(measure(who, engine, seconds))
    progress.end()
    return [_row(who, runs) for who, runs in found.items()]


def _row(who: str, runs: list[dict]) -> dict:
    row = {"bench": "engine", "who": who, "what": "compose 4x720p60"}
    for key in ("cpu_us", "engine_cpu_us"):
        row[key] = round(statistics.median(run[key] for run in runs), 1)
    for key in ("frames", "dropped", "copies"):
        row[key] = sum(run[key] or 0 for run in runs)
    return row


def ratio(rows: list[dict]) -> float:
    """CPU a frame, the engine's included."""
    per_frame = {row["who"]: row["cpu_us"] + row["engine_cpu_us"] for row in rows}
    return round(per_frame["gid"] / per_frame["gstreamer"], 3)


def show(rows: list[dict]) -> None:
    print(f"\n{'µs a frame':28}{'CPU':>10}{'engine':>10}{'dropped':>10}{'of':>8}{'copies':>8}")
    for row in rows:
        print(
            f"{row['what'] + ' ' + row['who']:28}{row['cpu_us']:10.0f}{row['engine_cpu_us']:10.0f}"
            f"{row['dropped']:10}{row['frames']:8}{row['copies']:8}"
        )
