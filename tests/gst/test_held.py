# SPDX-License-Identifier: MIT
"""What downstream holds, for whatever reason and time: it gets every frame, and none changes."""

import signal
import time

import pytest
from cockpit import Cockpit
from pipeline import LOSSLESS, Pipeline, decode, film, frames_of, send, watch
from program import wait_for

BALL = (
    "videotestsrc is-live=true pattern=ball num-buffers={} "
    "! video/x-raw,format=I420,width=320,height=240,framerate={}/1"
)
COUNT = 120


def ball(count: int = COUNT, rate: int = 30) -> str:
    return BALL.format(count, rate)


def drawn(cockpit: Cockpit, count: int = COUNT) -> list[str]:
    """Their sums, in order: the ball moves by time."""
    source = ball(count).replace("is-live=true ", "")
    return [frame["sum"] for frame in frames_of(cockpit, source)]


def sent_to(cockpit: Cockpit, receiver: Pipeline, rate: int = 30, properties: str = "") -> Pipeline:
    receiver.wait_state("waiting")
    sender = send(cockpit, ball(rate=rate), f"wait-for-connection=true {properties}")
    sender.finish()
    receiver.finish()
    return sender


# --- what holds by itself ---

QUEUE = "! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"
LOOKS_AHEAD = {
    "queue": f"{QUEUE} min-threshold-buffers=48",
    "small queue": "! queue min-threshold-buffers=12",
    "delay": f"{QUEUE} min-threshold-time=2500000000",
}


@pytest.mark.parametrize("what", LOOKS_AHEAD)
@pytest.mark.parametrize("live", ["true", "false"])
def test_queues(cockpit: Cockpit, what: str, live: str) -> None:
    receiver = watch(cockpit, f"is-live={live}", LOOKS_AHEAD[what])
    sender = sent_to(cockpit, receiver)
    assert receiver.sums == drawn(cockpit)
    assert sender.stats("sink")["leases-expired"] == 0
    assert sender.stats("sink")["dropped"] == 0
    stats = receiver.stats("src")
    assert stats["missed"] == stats["taken"] == 0
    assert stats["copy-reasons"].get("held", 0) == stats["copied-frames"]


@pytest.mark.parametrize(
    ("properties", "sink"),
    [
        ("latency=200", "sync=true"),
        ("", "sync=true processing-deadline=100000000"),
        ("", "sync=true ts-offset=400000000"),
        ("", "sync=true render-delay=300000000"),
    ],
)
def test_latency(cockpit: Cockpit, properties: str, sink: str) -> None:
    """Wherever it comes from."""
    receiver = Pipeline(
        cockpit,
        "cluster",
        f"gidsrc name=src domain=open stream=movie {properties} ! fakesink name=watch {sink}",
        "--video-meta",
        "1",
    )
    sent_to(cockpit, receiver, rate=60)
    assert receiver.sums == drawn(cockpit)


@pytest.mark.parametrize("live", ["true", "false"])
def test_encoder_that_looks_ahead(cockpit: Cockpit, live: str) -> None:
    path = cockpit.folder / "copy.mkv"
    receiver = Pipeline(
        cockpit,
        "cluster",
        f"gidsrc name=src domain=open stream=movie is-live={live} ! x264enc ! matroskamux "
        f"! filesink location={path}",
    )
    sent_to(cockpit, receiver)
    copy = Pipeline(
        cockpit,
        "open",
        f"filesrc location={path} ! matroskademux ! h264parse ! avdec_h264 ! fakesink name=watch",
    )
    assert len(copy.finish().frames) == COUNT
    said = [
        m["text"] for m in receiver.lines("bus") if m["bus"] == "info" and "copied" in m["text"]
    ]
    assert len(said) == 1
    assert not [m for m in receiver.lines("bus") if m["bus"] == "warning"]


def test_who_looks_ahead_may_be_late(cockpit: Cockpit) -> None:
    """Who says that it will hold more than there is leaves the ring room from the start."""
    text = "gidsrc name=src domain=open stream=movie ! x264enc ! fakesink"
    receiver = Pipeline(cockpit, "cluster", text)
    receiver.wait_state("waiting")
    sender = send(cockpit, ball(60, 10), "wait-for-connection=true")

    def sent() -> int:
        return sender.stats("sink")["frames"]

    wait_for(lambda: sent() >= 24, "more frames than it has credit for")
    receiver.signal(signal.SIGSTOP)
    before = sent()
    wait_for(lambda: sent() > before + 3, "frames while it does not run")
    receiver.signal(signal.SIGCONT)
    sender.finish()
    receiver.finish()
    assert receiver.stats("src")["missed"] == 0
    assert sender.stats("sink")["dropped"] == 0


def test_film_into_a_file(cockpit: Cockpit) -> None:
    """As fast as it goes, by an encoder with its defaults: not one frame each lease."""
    receiver = Pipeline(
        cockpit,
        "cluster",
        "gidsrc name=src domain=open stream=movie is-live=false ! x264enc ! mp4mux ! fakesink",
    )
    receiver.wait_state("waiting")
    start = time.monotonic()
    source = decode(film(320, 240, 250))
    sender = send(cockpit, source, LOSSLESS.replace("lease=30000", "lease=1000"))
    sender.finish()
    receiver.finish()
    assert sender.stats("sink")["delivered"] >= 250
    assert sender.stats("sink")["dropped"] == 0
    assert sender.stats("sink")["leases-expired"] == 0
    assert time.monotonic() - start < 30


# --- programs that hold ---


@pytest.mark.parametrize("hold", [5, 14, 100])
def test_program_that_holds(cockpit: Cockpit, hold: int) -> None:
    """For longer than the lease, which the producer would end in a fifth of a second."""
    receiver = watch(cockpit, "", "", "--video-meta", "1", "--hold", str(hold), "--stay")
    receiver.wait_state("waiting")
    sender = send(cockpit, ball(), "wait-for-connection=true lease=200")
    receiver.wait_frames(COUNT)
    time.sleep(1)
    receiver.tell("quit")
    receiver.finish()
    sender.finish()
    assert receiver.sums == drawn(cockpit)
    assert receiver.lines("end")[0]["overwritten"] == 0
    stats = receiver.stats("src")
    assert stats["taken"] == 0
    assert (stats["copied-frames"] == 0) == (hold < 14)


def test_who_asks_for_many_gets_them(cockpit: Cockpit) -> None:
    """As an encoder that looks ahead does, in its answer to the ALLOCATION query."""
    options = ("--video-meta", "1", "--hold", "16", "--stay", "--asks-for", "17")
    receiver = watch(cockpit, "", "", *options)
    receiver.wait_state("waiting")
    sender = send(cockpit, ball(), "wait-for-connection=true")
    receiver.wait_frames(COUNT)
    receiver.tell("quit")
    receiver.finish()
    sender.finish()
    assert receiver.sums == drawn(cockpit)
    assert receiver.stats("src")["copied-frames"] == 0


def test_who_shows_late_has_what_waits(cockpit: Cockpit) -> None:
    """By the LATENCY event: half a second of frames, which are sent without haste."""
    late = f"{QUEUE} ! fakesink name=watch sync=true render-delay=500000000"
    receiver = Pipeline(
        cockpit, "cluster", f"gidsrc name=src domain=open stream=movie {late}", "--video-meta", "1"
    )
    sender = send(cockpit, ball(10**6), "")
    receiver.wait_frames(20)
    before = receiver.stats("src")["copied-frames"]
    receiver.wait_frames(80)
    assert receiver.stats("src")["copied-frames"] == before
    receiver.tell("quit")
    receiver.finish()
    sender.stop()


def test_leases_too_short_to_be_renewed(cockpit: Cockpit) -> None:
    """Then each frame is a copy."""
    receiver = watch(cockpit, "", "", "--video-meta", "1", "--hold", "3")
    sender = send(cockpit, ball(10**6, 100), "lease=5")
    receiver.wait_frames(200)
    stats = receiver.stats("src")
    assert stats["taken"] == 0
    assert stats["copied-frames"] == stats["copy-reasons"]["held"] >= 200
    receiver.tell("quit")
    assert receiver.finish().lines("end")[0]["overwritten"] == 0
    sender.stop()


@pytest.mark.parametrize("state", ["paused", "stuck"])
def test_pause(cockpit: Cockpit, state: str) -> None:
    """What was given downstream stays as it is while the producer goes on."""
    receiver = watch(cockpit, "", "", "--video-meta", "1", "--hold", "6")
    sender = send(cockpit, ball(10**6, 100), "lease=200")
    receiver.wait_frames(20)
    if state == "paused":
        receiver.tell("state paused")
    sent = sender.stats("sink")["frames"]
    wait_for(lambda: sender.stats("sink")["frames"] > sent + 300, "many frames")
    assert receiver.stats("src")["taken"] == 0
    receiver.tell("quit")
    receiver.finish()
    assert receiver.lines("end")[0]["overwritten"] == 0


def test_pause_is_no_backlog(cockpit: Cockpit) -> None:
    """Live, what came in a pause is past: only its last picture is given downstream after it."""
    receiver = watch(cockpit)
    sender = send(cockpit, ball(10**6), "")
    receiver.wait_frames(20)
    receiver.tell("state paused")
    sent = sender.stats("sink")["frames"]
    wait_for(lambda: sender.stats("sink")["frames"] > sent + 60, "frames in the pause")
    count = len(receiver.frames)
    receiver.tell("state playing")
    receiver.wait_frames(count + 30)
    # one may have been in its hand when it was paused
    assert receiver.frames[count + 1]["offset"] > sent + 55


MANY = 3  # of the six that it holds


def paused_with_slots(receiver: Pipeline) -> int:
    """Pauses it, and tells how many of the producer's own slots downstream has then.

    Where the machine did not let it run for a while there are copies instead, which nobody takes.
    """
    receiver.tell("state paused")
    held = receiver.stats("src")["held"]
    if held < MANY:
        count = len(receiver.frames)
        receiver.tell("state playing")
        receiver.wait_frames(count + 20)
    return held


def test_stopped_program_is_told(cockpit: Cockpit) -> None:
    """A reader that does not move loses what it held, and hears of it all when it moves again."""
    receiver = watch(cockpit, "", "", "--video-meta", "1", "--hold", "6")
    sender = send(cockpit, ball(10**6, 100), "lease=200")
    receiver.wait_frames(20)
    held = 0
    while held < MANY:
        held = paused_with_slots(receiver)
    told = sum(message["frames"] for message in receiver.messages("gid-taken"))
    receiver.signal(signal.SIGSTOP)
    expired = sender.stats("sink")["leases-expired"]
    wait_for(
        lambda: sender.stats("sink")["leases-expired"] >= expired + held,
        "its leases to run out",
    )
    sent = sender.stats("sink")["frames"]
    wait_for(lambda: sender.stats("sink")["frames"] > sent + 100, "others in their place")
    receiver.signal(signal.SIGCONT)
    wait_for(
        lambda: sum(message["frames"] for message in receiver.messages("gid-taken")) >= told + held,
        f"messages of the {held} frames that it held",
    )
    warned = [m["text"] for m in receiver.lines("bus") if m["bus"] == "warning"]
    assert any("taken back" in text for text in warned)
    count = len(receiver.frames)
    receiver.tell("state playing")
    receiver.wait_frames(count + 20)


def test_producer_makes_slots_for_who_holds(cockpit: Cockpit) -> None:
    """More than it was told to have, rather than that it stands still."""
    receiver = watch(cockpit, "", "", "--video-meta", "1", "--hold", "100")
    sender = send(cockpit, ball(10**6, 100), "slots=3 lease=2000")
    receiver.wait_frames(300)
    assert receiver.stats("src")["taken"] == 0
    assert sender.stats("sink")["leases-expired"] == 0
    receiver.tell("quit")
    assert receiver.finish().lines("end")[0]["overwritten"] == 0


LITTLE = """
[domain open]
number=1
memory=2M
client-memory=800K
[domain cluster]
number=2
[share open cluster]
streams=*
"""


@pytest.mark.cockpit(LITTLE)
def test_producer_that_lacks_memory(cockpit: Cockpit) -> None:
    """It has no slot but those that a program holds: it waits for a lease, and takes them."""
    receiver = watch(cockpit, "credit=63", "", "--video-meta", "1", "--hold", "100")
    sender = send(cockpit, ball(10**6, 100), "credit=63 lease=200")
    wait_for(lambda: receiver.messages("gid-taken"), "the message of it")
    receiver.wait_frames(len(receiver.frames) + 20)
    assert sender.stats("sink")["slots"] <= 8


# --- downstream that is slow ---


@pytest.mark.parametrize("live", ["true", "false"])
def test_stall(cockpit: Cockpit, live: str) -> None:
    """Downstream takes a second for one frame, and the others wait."""
    receiver = watch(
        cockpit,
        f"is-live={live}",
        "! queue max-size-buffers=1 ! identity sleep-time=50000",
    )
    sent_to(cockpit, receiver)
    assert receiver.sums == drawn(cockpit)
    assert receiver.stats("src")["missed"] == 0


def test_what_comes_back_while_a_frame_is_taken(cockpit: Cockpit) -> None:
    """A frame that is being copied out of the ring goes before the one that comes meanwhile."""
    receiver = watch(cockpit, "credit=8", "! queue max-size-buffers=1 ! identity sleep-time=15000")
    receiver.wait_state("waiting")
    source = "videotestsrc is-live=true pattern=black num-buffers=300 "
    source += "! video/x-raw,format=BGRx,width=1920,height=1080,framerate=60/1"
    send(cockpit, source, "wait-for-connection=true credit=8").finish()
    receiver.finish()
    times = [frame["pts"] for frame in receiver.frames]
    assert times == sorted(times)
    assert receiver.stats("src")["waiting"] == 0


def test_what_is_missed_is_told(cockpit: Cockpit) -> None:
    """Where nothing more may wait."""
    receiver = watch(
        cockpit,
        "is-live=false max-size-bytes=0 credit=4",
        "! queue max-size-buffers=1 ! identity sleep-time=100000",
    )
    sent_to(cockpit, receiver)
    missed = receiver.stats("src")["missed"]
    assert missed > 0
    warned = [m["text"] for m in receiver.lines("bus") if m["bus"] == "warning"]
    assert sum("missed" in text for text in warned) == 1
    assert len(receiver.frames) + missed == COUNT
