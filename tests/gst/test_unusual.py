# SPDX-License-Identifier: MIT
"""Rarer caps, sizes, clocks, tracers and limits: frames are the same, and nothing hangs."""

import itertools

import pytest
from lib.cockpit import Cockpit
from lib.pipeline import LOSSLESS, PATIENT, Pipeline, send, watch

COUNT = 12
SECOND = 10**9


def ball(pixels: str = "I420", size: tuple[int, int] = (320, 240), count: int = COUNT) -> str:
    return (
        f"videotestsrc pattern=ball num-buffers={count} "
        f"! video/x-raw,format={pixels},width={size[0]},height={size[1]},framerate=30/1"
    )


def said(fields: str, source: str = "") -> str:
    """With caps that say this, too."""
    return f'{source or ball()} ! capssetter caps="video/x-raw,{fields}"'


def joined(*parts: str) -> str:
    return "concat name=all " + " ".join(f"{part} ! all." for part in parts) + " all."


SMALL = [
    ball(pixels, size, 4)
    for pixels in ("NV12", "NV21", "NV16", "P010_10LE", "Y42B", "Y41B", "YUY2", "YVU9", "v308")
    for size in ((1, 1), (3, 5))
]
# One plane of bytes, of which a part is the picture: rows are further apart than it is wide.
PART = "plane-offsets=<64> plane-strides=<320> frame-size=115200 format=gray8"
SOURCES = {
    "no rate": said("framerate=(fraction)0/1"),
    "no rate in the middle": joined(ball(), said("framerate=(fraction)0/1"), ball()),
    "another shape of pixels": joined(ball(), said("pixel-aspect-ratio=(fraction)16/11"), ball()),
    "other colours": joined(said("colorimetry=(string)bt601"), said("colorimetry=(string)bt709")),
    "other places of chroma": joined(
        said("chroma-site=(string)jpeg"), said("chroma-site=(string)mpeg2")
    ),
    "two views in one": joined(
        ball(), said("multiview-mode=(string)side-by-side,views=(int)2"), ball()
    ),
    "alternate fields": f"{ball()} ! interlace "
    "! video/x-raw(format:Interlaced),interlace-mode=alternate",
    "small ones": joined(*SMALL),
    "rows apart": f"{ball()} ! rawvideoparse width=300 height=200 framerate=30/1 {PART}",
    "in Matroska": f"{ball()} ! matroskamux ! matroskademux",
    "in GDP": f"{ball()} ! gdppay ! gdpdepay",
    "begins late": ball().replace("ball", "ball timestamp-offset=5000000000"),
    "one segment": f"{joined(ball(), ball())} ! identity single-segment=true",
    "seldom": f"{ball(count=60)} ! videorate drop-only=true max-rate=7",
    "in time": f"{ball()} ! clocksync",
    "a part of odd place": f"{ball('NV12', (333, 111))} ! videocrop left=3 top=5 right=2 bottom=1",
    "larger by itself": f"{ball()} ! videobox left=-3 top=-5 right=-7 bottom=-2",
    "one after another as a picture": f"{ball()} ! imagefreeze num-buffers=20",
}


def compare(
    cockpit: Cockpit, source: str, properties: str, times: tuple[str, ...], least: int
) -> None:
    """What arrives, and what the source gives to a sink that is nothing else."""
    alone = f"{source} ! fakesink name=watch sync=false"
    itself = Pipeline(cockpit, "open", alone, "--video-meta", "1").finish()
    receiver = watch(cockpit, properties)
    sender = send(cockpit, source, LOSSLESS).finish()
    receiver.finish()
    told = [
        [[frame[what] for what in ("sum", *times)] for frame in one.frames]
        for one in (receiver, itself)
    ]
    assert told[0] == told[1] and len(told[1]) >= least
    assert receiver.caps == itself.caps
    assert sender.stats("sink")["dropped"] == receiver.stats("src")["missed"] == 0


@pytest.mark.parametrize("name", SOURCES)
def test_source(cockpit: Cockpit, name: str) -> None:
    compare(cockpit, SOURCES[name], "is-live=false", ("pts", "duration"), 10)


@pytest.mark.parametrize("name", ["no rate", "small ones", "alternate fields", "rows apart"])
def test_source_that_is_read_live(cockpit: Cockpit, name: str) -> None:
    compare(cockpit, SOURCES[name], "", (), 10)


# --- clocks ---

CLOCKS = {"monotonic": "", "realtime": "clock-id=realtime", "tai": "clock-id=tai"}


def under_clock(name: str, pipeline: str) -> str:
    return f"clockselect. ( {CLOCKS[name]} {pipeline} )"


@pytest.mark.parametrize(
    ("sends", "reads"), [("realtime", "monotonic"), ("monotonic", "tai"), ("realtime", "tai")]
)
def test_other_clocks(cockpit: Cockpit, sends: str, reads: str) -> None:
    """Frames leave at their pace, and are due about when they come."""
    source = "gidsrc name=src domain=open stream=movie ! fakesink name=watch sync=true"
    receiver = Pipeline(cockpit, "cluster", under_clock(reads, source), "--video-meta", "1")
    receiver.wait_state("waiting")
    sink = f"gidsink name=sink stream=movie {PATIENT}"
    sender = Pipeline(cockpit, "open", under_clock(sends, f"{ball(count=30)} ! {sink}"))
    sender.finish()
    frames = receiver.finish().frames
    assert len(frames) == 30
    times = [frame["pts"] for frame in frames]
    assert times == sorted(set(times)) or times[1:] == sorted(set(times[1:]))
    assert 0.8 * SECOND < times[-1] - times[0] < 20 * SECOND
    assert frames[-1]["submit_time"] - frames[0]["submit_time"] > 0.8 * SECOND


# --- what looks on ---

# Not `latency`: with that also `videotestsrc ! queue ! fakesink` of GStreamer 1.26 hangs.
TRACERS = "leaks;stats;rusage"


@pytest.mark.parametrize("levels", ["GST_TRACER:7", "*:9"])
def test_everything_is_written_down(cockpit: Cockpit, levels: str) -> None:
    """Tracers see each buffer, message and lock of an object."""
    traced = {
        "GST_TRACERS": TRACERS,
        "GST_DEBUG": levels,
        "GST_DEBUG_FILE": str(cockpit.folder / "log-%p"),
    }
    receiver = watch(cockpit, "is-live=false", **traced)
    sink = f"gidsink name=sink stream=movie stats-interval=1 {LOSSLESS}"
    sender = Pipeline(cockpit, "open", f"{ball(count=40)} ! queue ! {sink}", **traced)
    sender.finish()
    assert len(receiver.finish().frames) == 40


def test_pauses_and_seeks_that_are_traced(cockpit: Cockpit) -> None:
    """While the sink waits for its reader, and tells of its state all the time."""
    slow = "! queue max-size-buffers=1 ! identity sleep-time=5000"
    receiver = watch(cockpit, "credit=2", slow, "--video-meta", "1", GST_TRACERS=TRACERS)
    sink = f"gidsink name=sink stream=movie stats-interval=1 {LOSSLESS}"
    sender = Pipeline(cockpit, "open", f"{ball(count=10**6)} ! queue ! {sink}", GST_TRACERS=TRACERS)
    receiver.wait_frames(5)
    for turn in range(10):
        sender.tell("state paused")
        sender.stats("sink")
        sender.tell("state playing")
        sender.tell(f"seek {turn * SECOND}")
        receiver.wait_frames(len(receiver.frames) + 5)
    sender.tell("quit")
    sender.finish()


# --- limits ---

LIMITS = ["--nofile=24", "--nofile=32", "--memlock=0", "--as=300000000", "--nproc=1"]


@pytest.mark.parametrize(
    ("end", "limit"),
    [*itertools.product(["sink", "src"], LIMITS), ("sink", "--fsize=10240")],
)
def test_limits(cockpit: Cockpit, end: str, limit: str) -> None:
    """Under a limit a pipeline plays, or says what it lacks and ends: it never stands still."""
    under = ("prlimit", limit, "--")
    source = "gidsrc domain=open stream=movie is-live=false ! fakesink name=watch sync=false"
    if end == "src":
        sender = send(cockpit, ball(count=30), "sync=false wait-for-connection=true")
        limited = Pipeline(cockpit, "cluster", source, "--video-meta", "1", under=under)
    else:
        sink = "gidsink name=sink stream=movie sync=false"
        limited = Pipeline(cockpit, "open", f"{ball(count=30)} ! {sink}", under=under)
    status = limited.wait()
    assert status == 0 or limited.errors() or limited.stderr
    if end == "src":
        assert status != 0 or len(limited.frames) == 30
        sender.stop()
