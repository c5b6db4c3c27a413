# SPDX-License-Identifier: MIT
"""Of a camera that waits for nobody downstream has every frame, though it holds or is late.

By how much it may be late are times of a machine that lets both run: gst/held counts instead.
"""

import pytest
from lib.cockpit import Cockpit
from lib.pipeline import Pipeline, frames_of, send, watch

COUNT = 120
BALL = "videotestsrc {} pattern=ball num-buffers={} ! video/x-raw,format=I420,width=320,height=240"
QUEUE = "! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"
ON_TIME = "! fakesink name=watch sync=true"

HOLDS = {
    "queue": ("", f"{QUEUE} min-threshold-buffers=48"),
    "small queue": ("", "! queue min-threshold-buffers=12"),
    "delay": ("", f"{QUEUE} min-threshold-time=2500000000"),
    "slow": ("", "! queue max-size-buffers=1 ! identity sleep-time=50000"),
    "encoder": ("", "! tee name=t ! x264enc ! fakesink async=false t."),
    "latency": ("latency=200", ON_TIME),
    "deadline": ("", f"{ON_TIME} processing-deadline=100000000"),
    "offset": ("", f"{ON_TIME} ts-offset=400000000"),
    "delayed": ("", f"{ON_TIME} render-delay=300000000"),
}


def camera(count: int = COUNT, rate: int = 30) -> str:
    return f"{BALL.format('is-live=true', count)},framerate={rate}/1"


@pytest.mark.parametrize("what", HOLDS)
@pytest.mark.parametrize("live", ["true", "false"])
def test_nothing_is_missed(cockpit: Cockpit, what: str, live: str) -> None:
    properties, then = HOLDS[what]
    then = then if "watch" in then else f"{then} ! fakesink name=watch sync=false"
    text = f"gidsrc name=src domain=open stream=movie is-live={live} {properties} {then}"
    receiver = Pipeline(cockpit, "cluster", text, "--video-meta", "1")
    receiver.wait_state("waiting")
    sender = send(cockpit, camera(), "wait-for-connection=true").finish()
    receiver.finish()
    drawn = frames_of(cockpit, BALL.format("", COUNT) + ",framerate=30/1")
    assert receiver.sums == [frame["sum"] for frame in drawn]
    assert sender.stats("sink")["dropped"] == receiver.stats("src")["missed"] == 0


def test_who_shows_late_has_what_waits(cockpit: Cockpit) -> None:
    """By the LATENCY event: half a second of frames, which are sent without haste."""
    late = f"{QUEUE} {ON_TIME} render-delay=500000000"
    text = f"gidsrc name=src domain=open stream=movie {late}"
    receiver = Pipeline(cockpit, "cluster", text, "--video-meta", "1")
    send(cockpit, camera(10**6), "")
    receiver.wait_frames(20)
    before = receiver.stats("src")["copied-frames"]
    receiver.wait_frames(80)
    assert receiver.stats("src")["copied-frames"] == before


def test_leases_are_renewed_in_time(cockpit: Cockpit) -> None:
    """Of a fifth of a second."""
    receiver = watch(cockpit, "", "", "--video-meta", "1", "--hold", "14")
    send(cockpit, camera(10**6), "lease=200")
    receiver.wait_frames(120)
    assert receiver.stats("src")["taken"] == 0
    receiver.tell("quit")
    assert receiver.finish().lines("end")[0]["overwritten"] == 0
