# SPDX-License-Identifier: MIT
"""Live sources, and what gidsink and gidsrc choose and say where nobody has asked for anything."""

import itertools
import re
import time
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.pipeline import LOSSLESS, PATIENT, Pipeline, send, watch
from lib.program import TOP, wait_for

LIVE = "videotestsrc is-live=true num-buffers={} ! video/x-raw,width=320,height=240,framerate=30/1"

# As the manual says it, for encoders that look far ahead.
UNBOUNDED = "queue max-size-time=0 max-size-buffers=0 max-size-bytes=0"


def test_a_frame_of_a_film_does_not_leave_early(cockpit: Cockpit) -> None:
    """Without a live source all is sent at its time, 30 a second."""
    receiver = watch(cockpit)
    send(cockpit, LIVE.format(60).replace("is-live=true", ""), PATIENT).finish()
    receiver.finish()
    shown = at_their_time(receiver.frames)
    assert shown[-1]["due"] - shown[0]["due"] >= (len(shown) - 1) * 33_000_000
    assert len(shown) > 30


def test_times_of_a_film_that_is_sent_as_fast_as_can_be(cockpit: Cockpit) -> None:
    """Of a minute: no reader believes a time that is so far ahead, and none goes back."""
    receiver = watch(cockpit)
    film = "videotestsrc num-buffers=60 ! video/x-raw,width=320,height=240,framerate=1/1"
    send(cockpit, film, LOSSLESS).finish()
    times = [frame["pts"] for frame in receiver.finish().frames]
    assert len(times) == 60 and times == sorted(set(times))


def at_their_time(frames: list[dict]) -> list[dict]:
    """Those that came when both played: none of them before it is due on the sender's clock."""
    frames = [frame for frame in frames[1:] if frame["pts"] > 0]
    assert all(frame["submit_time"] >= frame["due"] - 1_000_000 for frame in frames)
    return frames


# --- formats ---


def format_of(cockpit: Cockpit, source: str) -> str:
    receiver = watch(cockpit)
    send(cockpit, source, "sync=false wait-for-connection=true").finish()
    receiver.finish()
    found = re.search(r"format=\(string\)(\w+)", receiver.caps[-1])
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("videotestsrc num-buffers=3", "BGRx"),
        ("videotestsrc num-buffers=3 ! videoconvert", "BGRx"),
        ("videotestsrc num-buffers=3 ! video/x-raw,format={I420_10LE,NV12}", "NV12"),
        ("videotestsrc num-buffers=3 ! video/x-raw,format=Y210 ! videoconvert", "Y210"),
        ("videotestsrc num-buffers=3 ! video/x-raw,format=P010_10LE", "P010_10LE"),
    ],
)
def test_more_than_8_bits_are_for_who_asks(cockpit: Cockpit, source: str, expected: str) -> None:
    assert format_of(cockpit, source) == expected


def test_what_the_stream_is_where_it_does_not_fit(cockpit: Cockpit) -> None:
    """As "not-negotiated" says nothing of it."""
    receiver = watch(cockpit, then="! video/x-raw,format=NV12")
    send(cockpit, "videotestsrc ! video/x-raw,format=BGRx,width=320,height=240", "")
    assert receiver.wait() == 1
    assert '"movie" is video/x-raw' in receiver.errors()[0]
    assert "BGRx" in receiver.errors()[0]
    assert "videoconvert" in receiver.errors()[0]


def warnings_of(pipeline: Pipeline) -> list[str]:
    return [message["text"] for message in pipeline.lines("bus") if message["bus"] == "warning"]


def test_film_that_is_to_be_turned(cockpit: Cockpit) -> None:
    """A tag says so, which does not travel: told once, and not where it is turned already."""
    film = 'videotestsrc num-buffers=3 ! taginject tags="image-orientation=rotate-90"'
    told = warnings_of(send(cockpit, f"{film} ! queue", "").finish())
    assert len(told) == 1 and "rotate-90" in told[0] and "videoflip" in told[0]
    turned = send(cockpit, f"{film} ! videoflip video-direction=auto", "").finish()
    assert not warnings_of(turned)


def test_views_that_are_pictures_of_their_own(cockpit: Cockpit) -> None:
    """All but the first would be lost."""
    caps = "video/x-raw,multiview-mode=(string)separated,views=(int)2"
    source = f'videotestsrc ! video/x-raw,format=I420 ! capssetter caps="{caps}"'
    sender = send(cockpit, source, "")
    assert sender.wait() == 1
    assert any("multiview-mode=separated" in text for text in sender.errors())


# --- the end, and counts ---


@pytest.mark.parametrize("live", ["true", "false"])
def test_end_while_nobody_came(cockpit: Cockpit, live: str) -> None:
    """What gst-launch-1.0 -e does at Ctrl-C ends a sink that waits for its first consumer."""
    sender = send(cockpit, f"videotestsrc is-live={live} ! queue", "wait-for-connection=true")
    wait_for(lambda: sender.stats("sink")["stream"] == "movie", "the sink")
    sender.wait_playing()
    sender.tell("eos")
    sender.finish()


def test_as_many_frames_as_rendered(cockpit: Cockpit) -> None:
    """The end of the film is none."""
    sender = send(cockpit, "videotestsrc num-buffers=90", "sync=false")
    sender.finish()
    stats = sender.stats("sink")
    assert (stats["rendered"], stats["frames"]) == (90, 90)


# --- wait-for-connection ---


def test_a_film_begins_when_somebody_comes(cockpit: Cockpit) -> None:
    """All of it at its pace, and its sound with it; not what was due before at once."""
    film = "videotestsrc num-buffers=60 ! video/x-raw,width=320,height=240,framerate=30/1"
    sound = "audiotestsrc num-buffers=400 samplesperbuffer=882 ! fakesink name=watch sync=true"
    text = f"{film} ! queue ! gidsink name=sink stream=movie {PATIENT} {sound}"
    sender = Pipeline(cockpit, "open", text)
    sender.wait_playing()
    sender.tell("state paused")  # which counts as no wait
    sender.wait_changes("PAUSED", 2)
    heard = len(sender.frames)
    time.sleep(1)
    sender.tell("state playing")
    sender.wait_frames(heard + 100)  # two seconds of sound, for which the film waits
    came = time.monotonic_ns()
    receiver = watch(cockpit)
    receiver.finish()
    sender.finish()
    assert receiver.stats("src")["missed"] == 0
    assert len(receiver.frames) == 60
    assert all(frame["due"] > came for frame in at_their_time(receiver.frames))
    # 50 buffers of sound a second; it stands still in the pause, and when the film has waited
    heard = [frame["time"] for frame in sender.frames]
    assert sum(later - earlier > 500_000_000 for earlier, later in itertools.pairwise(heard)) >= 2


# --- who comes late ---


def test_late_to_a_paused_film(cockpit: Cockpit) -> None:
    """A reader that comes gets what is shown; the others do not get it again, and all go on."""
    early = watch(cockpit, "is-live=false")
    film = "videotestsrc ! video/x-raw,width=320,height=240,framerate=30/1"
    sender = send(cockpit, film, PATIENT)
    early.wait_frames(20)
    sender.tell("state paused")
    sender.wait_changes("PAUSED", 2)
    early.wait_frames(sender.stats("sink")["frames"])
    late = watch(cockpit, "is-live=false")
    late.wait_frames(1)
    shown = early.frames[-1]
    assert (late.frames[-1]["sum"], late.frames[-1]["pts"]) == (shown["sum"], shown["pts"])
    sender.tell("state playing")
    late.wait_frames(10)
    early.wait_frames(len(early.frames) + 10)
    for reader in (early, late):
        times = [frame["pts"] for frame in reader.frames]
        assert times == sorted(set(times))


def test_late_to_a_still_picture(cockpit: Cockpit) -> None:
    """Of which there is one frame, and no other."""
    sender = Pipeline(
        cockpit,
        "open",
        "videotestsrc num-buffers=1 ! gidsink name=sink stream=movie sync=false",
        "--stay",
    )
    wait_for(lambda: sender.stats("sink")["frames"] == 1, "the picture")
    for _ in range(2):
        watch(cockpit).wait_frames(1)
    assert sender.stats("sink")["frames"] == 1


def test_late_to_a_film_that_is_late(cockpit: Cockpit) -> None:
    """Its frames were due before the reader came: their times go on all the same, for encoders."""
    film = "videotestsrc ! video/x-raw,width=32,height=24,framerate=1000/1"
    sender = send(cockpit, f"{film} ! identity sleep-time=10000", "")
    wait_for(lambda: sender.stats("sink")["frames"] > 100, "it to be late by a second")
    receiver = watch(cockpit)
    receiver.wait_frames(30)
    times = [frame["pts"] for frame in receiver.frames]
    assert times == sorted(set(times))
    assert times[-1] - times[1] > 100_000_000  # as they were sent


# --- what the manual says ---


def manual_line(title: str) -> str:
    """The pipeline of an example, as text."""
    manual = (TOP / "gst" / "gid-gstreamer.7.scd").read_text()
    block = manual.split(f"\n{title}")[1].split("```")[1]
    return block.replace("\\\\\n", " ").strip()


@pytest.mark.parametrize(
    ("queue", "encoder"),
    [
        ("queue", "x264enc tune=zerolatency"),
        (UNBOUNDED, "x264enc"),  # looks 40 frames ahead, more than a queue's second
        pytest.param(UNBOUNDED, "x264enc rc-lookahead=60 bframes=16", marks=pytest.mark.at_length),
    ],
)
def test_the_manuals_camera_that_is_also_recorded(
    cockpit: Cockpit, tmp_path: Path, queue: str, encoder: str
) -> None:
    """As it is written there, with a test picture for the camera; and with other encoders."""
    line = manual_line("A camera that is also recorded,")
    program, pipeline = re.sub(r"\s+", " ", line).split(" ! ", 1)
    assert program == "gst-launch-1.0 -e v4l2src"
    path = tmp_path / "rear.mp4"
    assert "location=rear.mp4" in pipeline
    recorded = pipeline.replace("location=rear.mp4", f"location={path}")
    recorded = recorded.replace("camera/rear", "movie")
    assert "x264enc tune=zerolatency" in recorded and "queue ! gidsink" in recorded
    recorded = recorded.replace("x264enc tune=zerolatency", encoder)
    recorded = recorded.replace("queue ! gidsink", f"{queue} ! gidsink")
    Pipeline(cockpit, "open", f"{LIVE.format(100)} ! {recorded}").finish()
    played = Pipeline(
        cockpit, "open", f"filesrc location={path} ! qtdemux ! avdec_h264 ! fakesink name=watch"
    )
    assert len(played.finish().frames) == 100
