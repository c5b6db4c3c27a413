#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether a film is shown frame by frame: at 24, 25, 30 and 60 a second, and a camera at 30 and 60.

A film of each rate is encoded first (H.264, 1280x720). `open` decodes it into gid memory, and a
display of the domain `cluster`, without a screen, shows it: gid-cluster as a layer, before all
other programs where that is allowed, and Weston by gid-view. Told are the frames that were sent,
and those that the display says that it has shown.

Weston 14 without a screen waits 16 ms after each repaint, and for the repaint window before the
next; its own limit, which gid-meter finds by drawing a picture for each refresh, stands beside.

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
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench import common
from lab.domains import priority
from lab.domains.cockpit import Cockpit
from lab.domains.configuration import section
from lab.domains.display import Display
from lab.domains.place import Place
from lab.domains.program import LabError
from lab.domains.weston import Weston
from lab.film import clip, film

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
AREA = f"width={SIZE[0]} height={SIZE[1]}"
LAYER = section("display", f"{AREA} refresh=60 worst-frame=0") + section(
    "layer film", f"domain={{domain}} stream={{stream}} {AREA}"
)
CLUSTER = "gid-cluster"


def layer(display: Display) -> dict:
    """What gid-cluster says of its layer, in gid-view's words."""
    (found,) = display.status()["layers"]
    examined, refused, seen = (found[key] for key in ("frames", "refused_frames", "latency_count"))
    return {
        "received": examined,
        "frames": seen,
        "drops": {"superseded": examined - refused - seen, "discarded": refused},
        "latency_us": {"p50": found["latency_p50_ns"] / 1e3},
    }


@contextlib.contextmanager
def display(place: Place, who: str, domain: str, stream: str) -> Iterator[Callable[[], dict]]:
    """Shows the stream, and nothing else, from then on. Yields what tells of it so far."""
    if who == CLUSTER:
        cluster = Display(place)
        text = LAYER.format(domain=domain, stream=stream)
        cluster.launch(text, "--headless", "--realtime", before=priority.before_others())
        ended, told = ["display"], partial(layer, cluster)
    else:
        # One that shows as many pictures a second as its repaint window allows.
        core = f"[core]\nrepaint-window={who.removeprefix('weston-')}\n"
        size = [f"--width={SIZE[0]}", f"--height={SIZE[1]}"]
        Weston(place, [core], size).start()
        stats = place.folder / "view.json"
        stats.unlink(missing_ok=True)
        view = ["gid-view", f"--domain={domain}", f"--stream={stream}", "--fullscreen"]
        place.start("view", [*view, f"--stats={stats}"])
        ended, told = ["view", "weston"], partial(place.read_json, stats)
    try:
        yield told
    finally:
        for name in ended:
            place.stop(name)


# --- shown of sent --------------------------------------------------------------------------------


def own_limit(cockpit: Cockpit, who: str, seconds: float) -> dict:
    """Frames a second of the display."""
    command = ["gid-meter", f"--size={SIZE[0]}x{SIZE[1]}", f"--seconds={seconds:.0f}"]
    place = cockpit["cluster"]
    with display(place, who, "cluster", "meter"), place.running("meter", command) as meter:
        output = meter.output(PATIENCE + seconds)
    report = json.loads(output) if output else {}
    if report.get("measured") != "shown":
        raise LabError(f"{who} showed nothing of gid-meter")
    return {"rate_hz": report["rate"], "interval_p50_us": report["interval_p50_us"]}


def shown(cockpit: Cockpit, who: str, pipeline: str) -> dict:
    """Plays it once, from the first frame to the last."""
    place = cockpit["open"]
    sent = place.folder / "play.json"
    sink = f"gidsink name=sink stream={STREAM} wait-for-connection=true"
    play = [sys.executable, str(film.PLAY), f"--stats={sent}", f"{pipeline} ! {sink}"]
    with display(cockpit["cluster"], who, "open", STREAM) as told:
        begin = time.monotonic()
        with place.running("play", play) as player:
            if player.wait(PATIENCE) != 0:  # all that a part of it sent may have been shown
                raise LabError(f"the film broke off:\n{player.last_words()}")
            seconds = time.monotonic() - begin
        rendered = place.read_json(sent)[STREAM]["rendered"]
        if rendered == 0:
            raise LabError(f"nothing was sent:\n{player.last_words()}")
        found = wait_for_counts(told, rendered)
    return {
        "sent": rendered,
        "received": found["received"],
        "shown": found["frames"],
        "superseded": found["drops"]["superseded"],
        "discarded": found["drops"]["discarded"],
        "shown_of_sent": round(found["frames"] / rendered, 4),
        "latency_p50_us": found["latency_us"]["p50"],
        "seconds": round(seconds, 2),
    }


def wait_for_counts(told: Callable[[], dict], sent: int) -> dict:
    """Until each frame that was sent was shown or lost; what is not told by then never came."""
    end, found = time.monotonic() + SETTLE, None
    while time.monotonic() < end:
        with contextlib.suppress(OSError, json.JSONDecodeError):
            found = told()
            drops = found["drops"]
            if found["frames"] + drops["superseded"] + drops["discarded"] >= sent:
                break
        time.sleep(0.05)
    if found is None:
        raise LabError("the display tells nothing of what it has shown")
    return found


def camera(rate: int, seconds: float) -> tuple[str, str]:
    """The pipeline of a camera, and what stands for it."""
    count, size = int(rate * seconds), f"width={SIZE[0]},height={SIZE[1]}"
    if CAMERA.exists():
        source = f"v4l2src device={CAMERA} num-buffers={count} ! videoconvertscale ! videorate"
        return f"{source} ! video/x-raw,format=BGRx,{size},framerate={rate}/1", str(CAMERA)
    source = f"videotestsrc is-live=true pattern=solid-color num-buffers={count}"
    return f"{source} ! video/x-raw,format=BGRx,{size},framerate={rate}/1", "videotestsrc"


def measure_shown(
    cockpit: Cockpit, options: argparse.Namespace, films: dict[int, Path]
) -> list[dict]:
    rows = []
    for who in options.display:
        base = {"bench": "shown", "who": who}
        rows.append({**base, "what": "limit", **own_limit(cockpit, who, options.seconds)})
        for _ in range(options.repetitions):
            for rate, path in films.items():
                pipeline = f"{film.decode(path)} ! video/x-raw,format=BGRx"
                found = shown(cockpit, who, pipeline)
                rows.append({**base, "what": "film", "rate": rate, **found})
            for rate in CAMERA_RATES if options.camera else ():
                pipeline, source = camera(rate, options.seconds)
                found = shown(cockpit, who, pipeline)
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


def decoding(path: Path, sink: str, frames: int | None) -> list[str]:
    """The command that decodes all, or so many, into the sink."""
    few = f"! identity eos-after={frames}" if frames else ""
    decoder = f"filesrc location={path} ! h264parse {few} ! avdec_h264 max-threads=1"
    return ["gst-launch-1.0", "-q", *f"{decoder} ! {sink}".split()]


def decode_seconds(path: Path, sink: str, frames: int | None) -> float:
    """Of the processor."""
    before = common.children_seconds()
    subprocess.run(
        decoding(path, sink, frames),
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
        "--seconds",
        type=common.seconds,
        default=5,
        help="of the camera and of the limit (default: 5)",
    )
    parser.add_argument("--repetitions", type=common.count, default=3, help="of each (default: 3)")
    parser.add_argument("--rate", type=common.count, nargs="*", default=RATES, help="of the films")
    parser.add_argument("--no-camera", dest="camera", action="store_false")
    parser.add_argument(
        "--display",
        nargs="*",
        default=[CLUSTER, "weston-7", "weston-16"],
        help="gid-cluster, or weston-N: Weston with a repaint window of N ms",
    )
    parser.add_argument("--no-decode", dest="decode", action="store_false")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gid-film-", dir=common.memory_folder()) as name:
        folder = Path(name)
        original = clip.find(options.clip)
        films = {rate: clip.retime(original, rate, folder) for rate in options.rate}
        with common.cockpit(folder, STREAM) as cockpit:
            rows = measure_shown(cockpit, options, films)
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
