#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether a film is shown frame by frame: at 24, 25, 30 and 60 a second, and a camera at 30 and 60.

A film of each rate is encoded first (H.264, 1280x720). `open` decodes it into gid memory, and
gid-view shows it on a display of the domain `cluster`, without a screen: on gid-cluster, before all
other programs where that is allowed, and on Weston. Told are the frames that were sent, and those
that the compositor says that it has shown.

Weston 14 without a screen waits 16 ms after each repaint, and for the repaint window before the
next; its own limit, which gid-meter finds by drawing a frame whenever it is asked, stands beside.

Last, how fast the film is decoded into gid memory, and into memory that nobody looks at.
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
from pathlib import Path

import common

sys.path.append(str(common.DEMO))
import clip  # noqa: E402
import film  # noqa: E402
import priority  # noqa: E402

RATES = (24, 25, 30, 60)
CAMERA_RATES = (30, 60)
CAMERA = Path("/dev/video0")
SIZE = (1280, 720)
PATIENCE = 60.0  # seconds
SETTLE = 3.0  # seconds at most, for the last frame's way to light
DECODED = 3  # times at least, each way: one alone says little
COPIES = 4  # of the film, one after the other: decoding is long beside what a start takes
FEW = 20  # frames of the run that is taken off
STREAM = "movie"
WESTON_INI = """\
[core]
idle-time=0
repaint-window={window}
[shell]
panel-position=none
locking=false
startup-animation=none
close-animation=none
"""
CLUSTER_CONF = f"[display]\nwidth={SIZE[0]}\nheight={SIZE[1]}\nrefresh=60\n"


@contextlib.contextmanager
def program(folder: Path, name: str, command: list[str], domain: str) -> Iterator[subprocess.Popen]:
    environment = {"GID_DOMAIN": domain, "XDG_RUNTIME_DIR": str(folder)}
    environment["WAYLAND_DISPLAY"] = "film"
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=os.environ | environment,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def wait_for(path: Path, process: subprocess.Popen, folder: Path, name: str) -> None:
    end = time.monotonic() + PATIENCE
    while not path.exists():
        if process.poll() is not None or time.monotonic() > end:
            said = (folder / f"{name}.log").read_text(errors="replace")[-1000:]
            raise common.BenchError(f"{name} does not start:\n{said}")
        time.sleep(0.02)


@contextlib.contextmanager
def display(folder: Path, who: str) -> Iterator[None]:
    """One that shows 60 pictures a second."""
    (folder / "film").unlink(missing_ok=True)
    first = priority.before_others() if who == "gid-cluster" else []
    if who == "gid-cluster":
        config = folder / "display.conf"
        config.write_text(CLUSTER_CONF)
        command = [*first, "gid-cluster", "--headless", f"--config={config}", "--realtime"]
        command += [f"--socket={folder / 'film'}", f"--status={folder / 'status'}"]
    else:
        config = folder / "weston.ini"
        config.write_text(WESTON_INI.format(window=who.removeprefix("weston-")))
        command = ["weston", "--backend=headless", "--renderer=pixman", f"--config={config}"]
        command += [f"--width={SIZE[0]}", f"--height={SIZE[1]}", "--socket=film"]
        command += ["--modules=gid-buffer.so"]
    with program(folder, who, command, "cluster") as process:
        wait_for(folder / "film", process, folder, who)
        yield


# --- shown of sent --------------------------------------------------------------------------------


def own_limit(folder: Path, seconds: float) -> dict:
    """Frames a second of the display that runs."""
    command = ["gid-meter", f"--size={SIZE[0]}x{SIZE[1]}", f"--seconds={seconds:.0f}"]
    with program(folder, "meter", command, "cluster") as meter:
        output = meter.communicate(timeout=PATIENCE + seconds)[0]
    if not output:
        raise common.BenchError("gid-meter showed nothing")
    report = json.loads(output)
    return {"rate_hz": report["rate"], "interval_p50_us": report["interval_p50_us"]}


def shown(folder: Path, pipeline: str) -> dict:
    """Plays it once, from the first frame to the last."""
    stats, sent = folder / "view.json", folder / "play.json"
    stats.unlink(missing_ok=True)
    view = ["gid-view", "--domain=open", f"--stream={STREAM}", "--fullscreen"]
    sink = f"gidsink name=sink stream={STREAM} wait-for-connection=true"
    play = [sys.executable, str(common.DEMO / "play.py"), f"--stats={sent}", f"{pipeline} ! {sink}"]
    with program(folder, "view", [*view, f"--stats={stats}"], "cluster") as viewer:
        begin = time.monotonic()
        with program(folder, "play", play, "open") as player:
            player.communicate(timeout=PATIENCE)
            seconds = time.monotonic() - begin
        wait_until_told(stats, sent)
        viewer.terminate()
        viewer.communicate(timeout=PATIENCE)
    found, told = json.loads(stats.read_text()), json.loads(sent.read_text())[STREAM]
    if told["rendered"] == 0:
        raise common.BenchError(f"nothing was sent: {(folder / 'play.log').read_text()[-500:]}")
    return {
        "sent": told["rendered"],
        "received": found["received"],
        "shown": found["frames"],
        "superseded": found["drops"]["superseded"],
        "discarded": found["drops"]["discarded"],
        "shown_of_sent": round(found["frames"] / told["rendered"], 4),
        "latency_p50_us": found["latency_us"]["p50"],
        "seconds": round(seconds, 2),
    }


def wait_until_told(stats: Path, sent: Path) -> None:
    """Until each frame that was sent was shown or lost; what the view has not told by then it never
    got."""
    end = time.monotonic() + SETTLE
    wanted = json.loads(sent.read_text())[STREAM]["rendered"]
    while time.monotonic() < end:
        with contextlib.suppress(OSError, json.JSONDecodeError):
            found = json.loads(stats.read_text())
            drops = found["drops"]
            if found["frames"] + drops["superseded"] + drops["discarded"] >= wanted:
                return
        time.sleep(0.05)


def camera(rate: int, seconds: float) -> tuple[str, str]:
    """The pipeline of a camera, and what stands for it."""
    count, size = int(rate * seconds), f"width={SIZE[0]},height={SIZE[1]}"
    if CAMERA.exists():
        source = f"v4l2src device={CAMERA} num-buffers={count} ! videoconvertscale ! videorate"
        return f"{source} ! video/x-raw,format=BGRx,{size},framerate={rate}/1", str(CAMERA)
    source = f"videotestsrc is-live=true pattern=solid-color num-buffers={count}"
    return f"{source} ! video/x-raw,format=BGRx,{size},framerate={rate}/1", "videotestsrc"


def measure_shown(folder: Path, options: argparse.Namespace, films: dict[int, Path]) -> list[dict]:
    rows = []
    for who in options.display:
        with display(folder, who):
            base = {"bench": "shown", "who": who}
            rows.append({**base, "what": "limit", **own_limit(folder, options.seconds)})
            for _ in range(options.repetitions):
                for rate, path in films.items():
                    pipeline = f"{film.decode(path)} ! video/x-raw,format=BGRx"
                    found = shown(folder, pipeline)
                    rows.append({**base, "what": "film", "rate": rate, **found})
                for rate in CAMERA_RATES if options.camera else ():
                    pipeline, source = camera(rate, options.seconds)
                    found = shown(folder, pipeline)
                    row = {**base, "what": "camera", "rate": rate, "source": source}
                    rows.append({**row, **found})
    return rows


# --- decoding -------------------------------------------------------------------------------------

SINKS = {
    "gid": f"gidsink stream={STREAM} sync=false",
    "fakesink": "fakesink sync=false",
}


def to_decode(film: Path, folder: Path) -> Path:
    """The film's bare H.264, several times in one file."""
    bare, made = folder / "once.h264", folder / "decode.h264"
    location = str(film).replace('"', '\\"')
    pipeline = (
        f'filesrc location="{location}" ! qtdemux ! h264parse config-interval=-1 '
        f"! video/x-h264,stream-format=byte-stream,alignment=au ! filesink location={bare}"
    )
    subprocess.run(
        ["gst-launch-1.0", "-q", *pipeline.split()],
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=PATIENCE,
    )
    made.write_bytes(bare.read_bytes() * COPIES)
    return made


def decode_seconds(path: Path, sink: str, frames: int | None) -> float:
    """Of the processor."""
    few = f"! identity eos-after={frames}" if frames else ""
    decoder = f"filesrc location={path} ! h264parse {few} ! avdec_h264 max-threads=1"
    before = common.children_seconds()
    subprocess.run(
        ["gst-launch-1.0", "-q", *f"{decoder} ! {sink}".split()],
        env=os.environ | {"GID_DOMAIN": "open"},
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=PATIENCE,
    )
    return common.children_seconds() - before


def measure_decoding(path: Path, frames: int, repetitions: int) -> list[dict]:
    """The two take turns, and neither is always the first. What a start takes is taken off by a
    run of few frames."""
    rates: dict[str, list[float]] = {who: [] for who in SINKS}
    for turn in range(repetitions):
        for who, sink in list(SINKS.items())[:: 1 if turn % 2 == 0 else -1]:
            spent = decode_seconds(path, sink, None) - decode_seconds(path, sink, FEW)
            rates[who].append((frames - FEW) / max(spent, 1e-3))
    return [
        {
            "bench": "shown",
            "what": "decode",
            "who": who,
            "frames_per_cpu_second": round(statistics.median(values), 1),
            "frames_per_cpu_second_min": round(min(values), 1),
            "frames_per_cpu_second_max": round(max(values), 1),
            "each": [round(value, 1) for value in values],
            "n": len(values),
        }
        for who, values in rates.items()
    ]


# --- the figures ----------------------------------------------------------------------------------


def ratios(rows: list[dict]) -> dict[str, float]:
    """Of several repetitions, the worst one."""
    found: dict[str, float] = {}
    for row in rows:
        if row["what"] in ("film", "camera"):
            name = f"{row['what']}_{row['rate']}_on_{row['who']}_shown_of_sent"
            found[name] = min(found.get(name, 1.0), row["shown_of_sent"])
    decoded = {row["who"]: row["each"] for row in rows if row["what"] == "decode"}
    if decoded:
        turns = zip(decoded["gid"], decoded["fakesink"], strict=True)
        found["decode_gid_vs_fakesink"] = round(statistics.median(a / b for a, b in turns), 4)
    return found


def show(rows: list[dict]) -> None:
    for row in rows:
        if row["what"] == "limit":
            print(f"{row['who']:12} shows at most {row['rate_hz']:.2f} frames a second")
        elif row["what"] == "decode":
            print(f"decode into {row['who']:10} {row['frames_per_cpu_second']:8.1f} frames/CPU s")
        else:
            print(
                f"{row['who']:12} {row['what']:6} {row['rate']:3}/s: {row['shown']} of "
                f"{row['sent']} shown, {row['superseded']} superseded"
            )


def main() -> int:
    parser = common.parser("shown", __doc__)
    parser.add_argument("--clip", help="another film")
    parser.add_argument(
        "--seconds", type=float, default=5, help="of the camera and of the limit (default: 5)"
    )
    parser.add_argument("--repetitions", type=int, default=3, help="of each (default: 3)")
    parser.add_argument("--rate", type=int, nargs="*", default=RATES, help="of the films")
    parser.add_argument("--no-camera", dest="camera", action="store_false")
    parser.add_argument(
        "--display",
        nargs="*",
        default=["gid-cluster", "weston-7", "weston-16"],
        help="gid-cluster, or weston-N: Weston with a repaint window of N ms",
    )
    parser.add_argument("--no-decode", dest="decode", action="store_false")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gid-film-", dir=common.memory_folder()) as name:
        folder = Path(name)
        original = clip.find(options.clip)
        films = {rate: clip.retime(original, rate, folder) for rate in options.rate}
        with common.cockpit(folder, STREAM):
            rows = measure_shown(folder, options, films)
            if options.decode:
                fastest = clip.retime(original, max(RATES), folder)
                frames = COPIES * clip.count(fastest)
                path = to_decode(fastest, folder)
                rows += measure_decoding(path, frames, max(DECODED, options.repetitions))
    show(rows)
    common.write(options.json, rows, ratios(rows))
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
