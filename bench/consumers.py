#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Consumers that people run, behind gidsrc, unixfdsrc and shmsrc: is every frame there, and right?

Each picture has a number drawn into it. A film of them is sent at 30 frames a second, and the
consumer looks ahead, encodes, waits or keeps. What it makes is read again: frames in order, wrong
ones (unreadable, or out of order), lost ones, and those that gidsrc copied. All elements
have their defaults, but for what the row says.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

from bench import common
from lab.domains.program import LabError

BEGIN, END = "<!-- table of ./run bench consumers --document -->", "<!-- end of the table -->"
HERE = Path(__file__).resolve().parent / "consumers"
FRAMES = 90
SECONDS = 240.0  # for one consumer at most
LATER = 20.0  # for a second one, when the first has ended

CAPS = "video/x-raw,format=I420,width=160,height=128,framerate=30/1"
WATCH = "fakesink name=watch"
LONG = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"


@dataclass(frozen=True)
class Consumer:
    """What follows the source, and how the file that it writes, if it does, is read again."""

    then: str
    read: str = ""
    source: str = ""  # properties of gidsrc
    keep: int = 0  # buffers, by a program
    server: str = ""  # the source of a second process, which reads what this one serves


def recorder(encode: str, mux: str, read: str) -> Consumer:
    return Consumer(
        f"{encode} ! {mux} ! filesink location={{file}}",
        f"filesrc name=src location={{file}} ! {read}",
    )


MP4, MKV = "qtdemux", "matroskademux"
H264 = "h264parse ! avdec_h264"
CONSUMERS = {
    "x264enc to MP4": recorder("x264enc", "mp4mux", f"{MP4} ! {H264}"),
    "x264enc to fragmented MP4": recorder(
        "x264enc", "mp4mux fragment-duration=500", f"{MP4} ! {H264}"
    ),
    "x264enc to Matroska": recorder("x264enc", "matroskamux", f"{MKV} ! {H264}"),
    "x264enc, splitmuxsink of 1 s": Consumer(
        "x264enc key-int-max=15 ! splitmuxsink location={file}%02d.mp4 max-size-time=1000000000",
        f"splitmuxsrc name=src location={{file}}*.mp4 ! {H264}",
    ),
    "x264enc to a transport stream": recorder("x264enc", "mpegtsmux", f"tsdemux ! {H264}"),
    "x265enc to MP4": recorder("x265enc ! h265parse", "mp4mux", f"{MP4} ! h265parse ! avdec_h265"),
    "openh264enc to MP4": recorder("openh264enc ! h264parse", "mp4mux", f"{MP4} ! {H264}"),
    "vp8enc to WebM": recorder("vp8enc", "webmmux", f"{MKV} ! vp8dec"),
    "vp9enc to WebM": recorder("vp9enc", "webmmux", f"{MKV} ! vp9dec"),
    "av1enc to Matroska": recorder("av1enc", "matroskamux", f"{MKV} ! av1parse ! av1dec"),
    "svtav1enc to Matroska": recorder("svtav1enc", "matroskamux", f"{MKV} ! av1parse ! av1dec"),
    "theoraenc to Ogg": recorder("theoraenc", "oggmux", "oggdemux ! theoradec"),
    "avenc_mpeg4 to AVI": recorder("avenc_mpeg4", "avimux", "avidemux ! avdec_mpeg4"),
    "avenc_mpeg2video to MPEG-TS": recorder(
        "avenc_mpeg2video ! mpegvideoparse",
        "mpegtsmux",
        "tsdemux ! mpegvideoparse ! avdec_mpeg2video",
    ),
    "avenc_ffv1 to Matroska": recorder("avenc_ffv1", "matroskamux", f"{MKV} ! avdec_ffv1"),
    "jpegenc to AVI": recorder("jpegenc", "avimux", "avidemux ! jpegdec"),
    "latency of 200 ms": Consumer(f"{WATCH} sync=true ts-offset=200000000", source="latency=200"),
    "processing-deadline of 100 ms": Consumer(f"{WATCH} sync=true processing-deadline=100000000"),
    "queue of 12 at least": Consumer(f"queue min-threshold-buffers=12 ! {WATCH}"),
    "queue of 48 at least": Consumer(f"{LONG} min-threshold-buffers=48 ! {WATCH}"),
    "queue of 2 s at least": Consumer(f"{LONG} min-threshold-time=2000000000 ! {WATCH}"),
    "compositor": Consumer(f"compositor ! {CAPS} ! {WATCH}"),
    "videoconvert, videoscale": Consumer(f"videoconvert ! videoscale ! videoflip ! {WATCH}"),
    "videorate, which only drops": Consumer(f"videorate drop-only=true ! {WATCH}"),
    "videorate": Consumer(f"videorate ! {WATCH}"),
    "RTP, as a server sends it": Consumer(
        f"jpegenc ! rtpjpegpay ! rtpjpegdepay ! jpegdec ! {WATCH}"
    ),
    "elements that are too slow": Consumer(f"identity sleep-time=45000 ! {WATCH}"),
    "program that keeps 20": Consumer(WATCH, keep=20),
    "program that keeps all": Consumer(WATCH, keep=FRAMES * 100),
    "unixfdsink, to another program": Consumer(
        "unixfdsink socket-path={socket} wait-for-connection=true sync=false",
        server="unixfdsrc name=src socket-path={socket}",
    ),
    "shmsink, to another program": Consumer(
        "shmsink socket-path={socket} wait-for-connection=true sync=false",
        server=f"shmsrc name=src socket-path={{socket}} ! {CAPS}",
    ),
}


@dataclass(frozen=True)
class Source:
    """How frames come: {socket} is filled in."""

    send: str
    receive: str


SOURCES = {
    "gidsrc": Source(
        "gidsink stream=film wait-for-connection=true",
        "gidsrc name=src domain=open stream=film {properties}",
    ),
    "gidsrc is-live=false": Source(
        "gidsink stream=film wait-for-connection=true",
        "gidsrc name=src domain=open stream=film is-live=false {properties}",
    ),
    "unixfdsrc": Source(
        "unixfdsink socket-path={socket} wait-for-connection=true",
        "unixfdsrc name=src socket-path={socket}",
    ),
    "shmsrc": Source(
        "shmsink socket-path={socket} wait-for-connection=true",
        f"shmsrc name=src socket-path={{socket}} is-live=true do-timestamp=true ! {CAPS}",
    ),
}


def run_python(script: str, *arguments: object, domain: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, str(HERE / script), *map(str, arguments)],
        env=os.environ | {"GID_DOMAIN": domain},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_for(socket: Path, program: subprocess.Popen) -> None:
    for _ in range(1000):
        if socket.exists() or program.poll() is not None:
            return
        try:
            program.wait(0.01)
        except subprocess.TimeoutExpired:
            continue


@contextmanager
def sender(source: Source, folder: Path, frames: int) -> Iterator[None]:
    socket = folder / "source"
    program = run_python("send.py", frames, source.send.format(socket=socket), domain="open")
    try:
        if "{socket}" in source.send:
            wait_for(socket, program)
        yield
    finally:
        program.kill()
        program.communicate()


def result(program: subprocess.Popen, seconds: float = SECONDS) -> dict:
    try:
        output, _ = program.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        program.kill()
        output, _ = program.communicate()
    nothing = {"numbers": [], "copied": None, "errors": ["it failed"], "said": []}
    return json.loads(output) if output else nothing


def receive(consumer: Consumer, source: Source, folder: Path, frames: int, properties: str) -> dict:
    places = {"file": folder / "file", "socket": folder / "served"}
    begin = source.receive.format(
        socket=folder / "source", properties=f"{consumer.source} {properties}"
    )
    first = f"{begin} ! {consumer.then.format(**places)}"
    with sender(source, folder, frames):
        program = run_python(
            "receive.py", f"--keep={consumer.keep}", frames, first, domain="cluster"
        )
        second = None
        if consumer.server:
            wait_for(places["socket"], program)
            text = f"{consumer.server.format(**places)} ! {WATCH}"
            second = run_python("receive.py", frames, text, domain="cluster")
        found = result(program)
        if second is not None:
            found["numbers"] = result(second, LATER)["numbers"]
    if consumer.read:
        picture = CAPS.rpartition(",")[0]
        text = f"{consumer.read.format(**places)} ! videoconvert ! {picture} ! {WATCH}"
        program = run_python("receive.py", 1 << 30, text, domain="cluster")
        found["numbers"] = result(program)["numbers"]
    return found


def judge(numbers: list[int], frames: int) -> dict[str, int]:
    """What an aggregator shows of its own is not wrong: its background while it has no picture yet,
    and a picture once more when it has no other. What is missing for it is lost."""
    last, right, wrong = -1, 0, 0
    for number in dropwhile(lambda number: number < 0, numbers):
        if last < number < frames:
            last = number
            right += 1
        elif number != last or number < 0:
            wrong += 1
    return {"in order": right, "wrong": wrong, "lost": frames - right}


def row(name: str, way: str, frames: int, properties: str) -> dict:
    with tempfile.TemporaryDirectory(dir=common.memory_folder()) as folder:
        found = receive(CONSUMERS[name], SOURCES[way], Path(folder), frames, properties)
    return {
        "consumer": name,
        "source": way,
        **judge(found["numbers"], frames),
        "copied": found["copied"],
        "errors": found["errors"],
    }


def cell(rows: list[dict], name: str, way: str) -> str:
    """In order / wrong / lost, and in brackets what gidsrc copied."""
    for one in rows:
        if one["consumer"] == name and one["source"] == way:
            copied = "" if one["copied"] is None else f" ({one['copied']})"
            return f"{one['in order']}/{one['wrong']}/{one['lost']}{copied}"
    return ""


def table(rows: list[dict]) -> list[list[str]]:
    names = dict.fromkeys(one["consumer"] for one in rows)
    return [
        ["", *SOURCES],
        *([name, *(cell(rows, name, way) for way in SOURCES)] for name in names),
    ]


def write_document(document: Path, rows: list[dict], frames: int) -> None:
    """In place of what is between the marks."""
    before, begin, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise LabError(f"{document}: it has no place for the table: {BEGIN} … {END}")
    head, *lines = table(rows)
    text = [
        f"Of {frames} frames: in order/wrong/lost, and in brackets those that gidsrc copied.",
        "",
    ]
    text += ["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines)]
    document.write_text("\n".join([before + begin, "", *text, "", end + after]), encoding="utf-8")


def show(rows: list[dict], frames: int) -> None:
    print(f"Of {frames} frames: in order/wrong/lost; of gidsrc also those that it copied\n")
    width = max(map(len, CONSUMERS))
    for name, *cells in table(rows):
        print(f"{name:<{width}}", *(f"{text:>22}" for text in cells))


def worse(rows: list[dict]) -> list[str]:
    """The consumers of which some other source gives more frames, or fewer wrong ones."""
    found = []
    for name in dict.fromkeys(one["consumer"] for one in rows):
        of = {one["source"]: one for one in rows if one["consumer"] == name}
        ours = [one for way, one in of.items() if way.startswith("gidsrc")]
        others = [one for way, one in of.items() if not way.startswith("gidsrc")]
        lost = min((one["lost"] for one in others), default=0)
        found += [
            f"{name}: {one['source']} {one['errors']}"
            for one in ours
            if one["lost"] > lost or one["wrong"] > 0
        ]
    return found


def main() -> int:
    parser = common.parser("consumers", __doc__)
    parser.add_argument(
        "--frames", type=common.count, default=FRAMES, metavar="N", help="how many are sent"
    )
    parser.add_argument(
        "--only", metavar="TEXT", default="", help="consumers with it in their names"
    )
    parser.add_argument(
        "--sources", metavar="NAME,…", default=",".join(SOURCES), help="of " + ", ".join(SOURCES)
    )
    parser.add_argument(
        "--gidsrc", metavar="PROPERTIES", default="", help="for each gidsrc, besides the defaults"
    )
    parser.add_argument(
        "--document", type=Path, metavar="FILE", help="write the table there, between its two marks"
    )
    options: argparse.Namespace = parser.parse_args()
    names = [name for name in CONSUMERS if options.only in name]
    ways = [way for way in SOURCES if way in options.sources.split(",")]
    progress = common.Progress(len(names) * len(ways))
    rows = []
    with tempfile.TemporaryDirectory(dir=common.memory_folder()) as folder:
        with common.cockpit(Path(folder), "film"):
            for name in names:
                for way in ways:
                    progress.step(f"{name}, {way}")
                    rows.append(row(name, way, options.frames, options.gidsrc))
    progress.end()
    show(rows, options.frames)
    if options.document is not None:
        write_document(options.document, rows, options.frames)
    behind = worse(rows)
    print("\nNo row of gidsrc is worse." if not behind else "\nWorse:\n" + "\n".join(behind))
    ours = [one["lost"] == 0 for one in rows if one["source"].startswith("gidsrc")]
    common.write(options.json, rows, {"gidsrc_complete": sum(ours) / max(1, len(ours))})
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(common.run(main))
