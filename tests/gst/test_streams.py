# SPDX-License-Identifier: MIT
"""What pipelines do: they end, seek, change caps, branch, and are put together by playbin."""

import os
import signal
import time
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.length import at_length_but
from lib.pipeline import (
    LOSSLESS,
    PATIENT,
    Pipeline,
    clip,
    decode,
    film,
    frames_of,
    pairs,
    send,
    sums_of,
    watch,
)
from lib.program import wait_for
from lib.versions import check_h264_copies

DISCONT = 0x40
SECOND = 10**9


def test_source(size: str = "320x240", count: int = 20, more: str = "") -> str:
    width, height = size.split("x")
    return (
        f"videotestsrc pattern=ball num-buffers={count} ! "
        f"video/x-raw,format=I420,width={width},height={height}{more}"
    )


test_source.__test__ = False


# --- ends and seeks ---


def test_end_of_one_film_need_not_be_the_end(cockpit: Cockpit) -> None:
    receiver = watch(cockpit, "forward-eos=false")
    send(cockpit, test_source()).finish()
    receiver.wait_frames(20)
    send(cockpit, test_source()).finish()
    receiver.wait_frames(40)
    assert receiver.is_running()
    assert receiver.frames[20]["flags"] & DISCONT


def test_late_consumer_gets_what_comes(cockpit: Cockpit) -> None:
    sender = send(cockpit, "videotestsrc is-live=true pattern=ball", "")
    sender.wait_playing()
    receiver = watch(cockpit)
    receiver.wait_frames(5)
    assert receiver.frames[0]["flags"] & DISCONT


def test_seek(cockpit: Cockpit) -> None:
    """Frames from before a seek are forgotten, those after it say that they do not follow."""
    receiver = watch(cockpit)
    sender = send(cockpit, decode(film(640, 360, 600)), PATIENT)  # so long that its end is far
    receiver.wait_frames(10)
    sender.tell(f"seek {4 * SECOND}")
    wait_for(
        lambda: any(f["media_time"] >= 4 * SECOND for f in receiver.frames), "frames after the seek"
    )
    first = next(f for f in receiver.frames if f["media_time"] >= 4 * SECOND)
    assert first["flags"] & DISCONT
    assert first["media_time"] < 4.1 * SECOND
    sender.tell("seek 0")
    receiver.wait_frames(first["frame"] + 40)
    times = [f["pts"] for f in receiver.frames]
    assert times == sorted(times), "running time goes on"
    sender.tell("eos")
    sender.finish()
    receiver.finish()


@pytest.mark.parametrize("which", at_length_but(["real", "made"], "made"))
def test_seek_while_paused_shows_the_frame(cockpit: Cockpit, which: str) -> None:
    """Where to is a time of the film, which in a file with B-frames is not that of its buffers."""
    path = clip() if which == "real" else film(1280, 720, 132)
    expected = frames_of(cockpit, decode(path))
    receiver = watch(cockpit)
    sender = send(cockpit, decode(path), PATIENT)
    receiver.wait_frames(3)
    sender.tell("state paused")
    sender.wait_changes("PAUSED", 2)
    wait_for(
        lambda: len(receiver.frames) == sender.stats("sink")["frames"], "all to arrive that is sent"
    )
    for at in (50, 20, 100):
        before = len(receiver.frames)
        # Not to its very begin, which by a rounded nanosecond is the end of the frame before.
        sender.tell(f"seek {expected[at]['stream_time'] + SECOND // 200}")
        receiver.wait_frames(before + 1)
        assert receiver.frames[-1]["sum"] == expected[at]["sum"]
        assert len(receiver.frames) == before + 1


def test_first_frame_after_a_seek_is_never_lost(cockpit: Cockpit) -> None:
    """Not even where the consumer holds all that it may hold, and the sink is to lose nothing."""
    receiver = watch(cockpit, "credit=2", "! queue max-size-buffers=1 ! identity sleep-time=100000")
    source = "videotestsrc pattern=ball ! video/x-raw,width=320,height=240,framerate=10/1"
    sender = send(cockpit, source, PATIENT)
    receiver.wait_frames(4)
    for second in range(100, 110):
        sender.tell(f"seek {second * SECOND}")
        first = wait_for(
            lambda at=second: [
                f["media_time"]
                for f in receiver.frames
                if at * SECOND <= f["media_time"] < (at + 1) * SECOND
            ],
            "a frame from behind the seek",
        )[0]
        assert first == second * SECOND


def change_state(pipeline: Pipeline, state: str) -> None:
    before = pipeline.changes_to(state.upper())
    pipeline.tell(f"state {state}")
    pipeline.wait_changes(state.upper(), before + 1)


def test_pauses_send_nothing_twice(cockpit: Cockpit) -> None:
    """The sink prerolls a frame each time that it is paused before the frame is due."""
    receiver = watch(cockpit)
    source = (
        "videotestsrc pattern=ball ! video/x-raw,width=320,height=240,framerate=2/1 "
        "! identity name=watch"
    )
    sender = send(cockpit, source, PATIENT)
    receiver.wait_frames(1)
    for _ in range(8):
        change_state(sender, "paused")
        change_state(sender, "playing")
    receiver.wait_frames(len(receiver.frames) + 1)
    sender.tell("eos")
    sender.finish()
    receiver.finish()
    assert [f["media_time"] for f in receiver.frames] == [f["pts"] for f in sender.frames]


@pytest.mark.parametrize("slots", ["enough", "held by the consumer"])
def test_pauses_where_frames_are_copied(cockpit: Cockpit, slots: str) -> None:
    """A pause ends the wait for memory to copy to, and is not the end of the stream."""
    source = f"{test_source(count=10**6, more=',framerate=200/1')} ! identity drop-allocation=true"
    if slots == "enough":
        receiver = watch(cockpit)
        sender = send(cockpit, source, "sync=false")
    else:
        receiver = watch(cockpit, "credit=2", "", "--video-meta", "1", "--hold", "100")
        sender = send(cockpit, source, "slots=2 lease=60000")
        wait_for(lambda: sender.stats("sink")["waits"], "a wait")
    for _ in range(20 if slots == "enough" else 1):
        change_state(sender, "paused")
        before = sender.stats("sink")["frames"]
        receiver.tell("release")
        change_state(sender, "playing")
        wait_for(lambda b=before: sender.stats("sink")["frames"] > b, "frames after a pause")


def test_end_of_the_film_while_paused(cockpit: Cockpit) -> None:
    """Who looks for a place in a film may come by its end: it is none before the film plays."""
    receiver = watch(cockpit)
    sender = send(cockpit, f"{decode(film(640, 360, 600))} ! identity name=watch", PATIENT)
    receiver.wait_frames(3)
    change_state(sender, "paused")
    sender.tell(f"seek {30 * SECOND}")
    wait_for(lambda: sender.events("eos"), "the end")
    sender.tell("seek 0")
    before = len(receiver.frames)
    change_state(sender, "playing")
    receiver.wait_frames(before + 10)
    sender.tell("eos")
    sender.finish()
    receiver.finish()


def test_the_end_waits_for_who_is_late(cockpit: Cockpit) -> None:
    """By more than the second that any reader gets: with leaky=false no frame is lost."""
    receiver = watch(cockpit)
    gate = "identity name=gate ! identity name=watch"
    sender = send(cockpit, f"{test_source(count=20)} ! {gate}", PATIENT)
    sender.tell("pass 3")
    receiver.wait_frames(3)
    receiver.signal(signal.SIGSTOP)
    sender.tell("open")
    wait_for(lambda: sender.events("eos"), "the end")
    time.sleep(2)
    assert sender.is_running()
    receiver.signal(signal.SIGCONT)
    sender.finish()
    receiver.finish()
    assert len(receiver.frames) == 20


def test_producer_that_pauses(cockpit: Cockpit) -> None:
    receiver = watch(cockpit)
    sender = send(cockpit, test_source(count=100), PATIENT)
    receiver.wait_frames(5)
    sender.tell("state paused")
    sender.tell("state playing")
    sender.finish()
    receiver.finish()
    assert len(receiver.frames) == 100


# --- still pictures ---


@pytest.mark.parametrize("old", ["false", "true"])
@pytest.mark.parametrize("memory", ["descriptor", "plain"])
def test_still_picture(cockpit: Cockpit, old: str, memory: str) -> None:
    """The same slot again and again, to a sink that keeps its last buffer until the next."""
    receiver = watch(cockpit, f"drop-old={old} fd-memory={str(memory == 'descriptor').lower()}")
    still = f"{test_source(count=1)} ! imagefreeze is-live=true ! video/x-raw,framerate=60/1"
    sender = send(cockpit, still, "")
    receiver.wait_frames(60)
    assert len(set(receiver.sums)) == 1
    assert sender.stats("sink")["copied-frames"] == 0
    assert sender.stats("sink")["leases-expired"] == 0


# --- times ---


def test_times_of_the_producer(cockpit: Cockpit) -> None:
    """Not live, timestamps are the producer's own."""
    source = f"{decode(clip())} ! identity name=watch"
    sender, receiver = pairs(cockpit, source, properties="is-live=false")
    for key in ("pts", "dts", "duration"):
        assert [f[key] for f in receiver.frames] == [f[key] for f in sender.frames]


def test_times_of_the_clock(cockpit: Cockpit) -> None:
    """Live, frames are due when their producer shows them."""
    receiver = watch(cockpit)
    sender = send(cockpit, test_source(count=120) + " ! identity name=watch", PATIENT)
    sender.finish()
    receiver.finish()
    frames = receiver.frames
    assert len(frames) > 30
    assert {f["media_time"] for f in frames} <= {f["pts"] for f in sender.frames}
    # The difference between the two pipelines' running times, the same for all but the first, which
    # is sent before the sender's clock runs, and those that were due before the receiver's ran.
    shifts = [f["pts"] - f["media_time"] for f in frames[1:] if f["pts"] > 0]
    assert len(shifts) > 10
    assert max(shifts) - min(shifts) < 10**6
    # and a frame is due about when it was sent
    assert all(f["submit_time"] <= f["time"] for f in frames)


def test_segment_without_times(cockpit: Cockpit) -> None:
    """As of filesrc, or of an appsrc that nobody told of times: GStreamer complains of nothing."""
    raw = cockpit.folder / "raw"
    raw.write_bytes(bytes(320 * 240 * 4 * 3))
    receiver = watch(cockpit)
    sender = Pipeline(
        cockpit,
        "open",
        f"filesrc location={raw} blocksize={320 * 240 * 4} "
        "! video/x-raw,format=BGRx,width=320,height=240,framerate=30/1 "
        f"! gidsink stream=movie {LOSSLESS}",
        G_DEBUG="fatal-criticals",
    )
    sender.finish()
    receiver.finish()
    assert len(receiver.frames) == 3


def test_latency_can_change(cockpit: Cockpit) -> None:
    """Sinks only ask for it again when they are told."""
    send(cockpit, "videotestsrc is-live=true", "")
    receiver = watch(cockpit)
    receiver.wait_frames(3)

    def told() -> int:
        return sum(m["bus"] == "latency" and m["from"] == "src" for m in receiver.lines("bus"))

    before = told()
    receiver.tell("set src latency 200")
    wait_for(lambda: told() > before, "the new latency to be told")


# --- caps ---


@pytest.mark.parametrize(
    "first, second",
    [
        ("width=320,height=240", "width=642,height=358"),
        ("width=320,height=240,framerate=30/1", "width=320,height=240,framerate=60/1"),
        ("width=320,height=240,format=I420", "width=320,height=240,format=BGRx"),
    ],
)
def test_caps_change(cockpit: Cockpit, first: str, second: str) -> None:
    sources = "".join(
        f"videotestsrc num-buffers=20 pattern=ball ! video/x-raw,{caps} ! c. "
        for caps in (first, second)
    )
    source = f"{sources} concat name=c ! identity name=watch"
    sender, receiver = pairs(cockpit, source)
    assert receiver.caps == sender.caps
    assert len(receiver.caps) == 2
    assert receiver.sums == sender.sums
    assert len(receiver.sums) == 40
    assert sender.stats("sink")["copied-frames"] == 0


def test_caps_change_behind_the_pool(cockpit: Cockpit) -> None:
    """Memory that was asked for under other caps is sent without a copy, with the right caps."""
    source = test_source(more=",framerate=30/1") + " ! videorate ! video/x-raw,framerate=60/1"
    sender, receiver = pairs(cockpit, f"{source} ! identity name=watch")
    assert receiver.caps == sender.caps
    assert "framerate=(fraction)60/1" in receiver.caps[0]
    assert receiver.sums == sender.sums
    assert sender.stats("sink")["copied-frames"] == 0


# --- branches and queues ---


def test_tee_hides_the_sink(cockpit: Cockpit) -> None:
    """Behind a tee nobody is asked for memory, so there is one copy."""
    source = f"{test_source()} ! tee name=t  t. ! queue ! fakesink sync=false  t. ! queue"
    sender, receiver = pairs(cockpit, source)
    assert len(receiver.frames) == 20
    assert sender.stats("sink")["copy-reasons"] == {"upstream-memory": 20}


@pytest.mark.parametrize("source", at_length_but(["test", "film"], "test"))
def test_gidalloc_in_front_of_a_tee(cockpit: Cockpit, source: str) -> None:
    """The same memory goes to two streams, each frame kept until both have let go of it."""
    source = test_source(count=100) if source == "test" else decode(clip())
    expected = sums_of(cockpit, source)
    receivers = [watch(cockpit, stream="a"), watch(cockpit, "", "", stream="b", domain="open")]
    sender = Pipeline(
        cockpit,
        "open",
        f"{source} ! gidalloc ! tee name=t"
        f"  t. ! queue ! gidsink name=sink stream=a {LOSSLESS}"
        f"  t. ! queue ! gidsink name=other stream=b {LOSSLESS}",
    )
    sender.finish()
    for receiver in receivers:
        assert receiver.finish().sums == expected
    for stats in sender.messages("gid-sink-stats"):
        assert "upstream-memory" not in stats["copy-reasons"]


def test_two_consumers_and_a_long_queue(cockpit: Cockpit) -> None:
    """Decoded in place, queued and held: the release guard keeps every frame whole."""
    expected = sums_of(cockpit, decode(clip()))
    receivers = [
        watch(cockpit, "credit=8", "", "--video-meta", "1", "--hold", "6") for _ in range(2)
    ]
    for receiver in receivers:
        receiver.wait_state("waiting")
    source = f"{decode(clip())} ! queue max-size-buffers=12 max-size-bytes=0 max-size-time=0"
    sender = send(cockpit, source, LOSSLESS).finish()
    for receiver in receivers:
        receiver.finish()
        assert receiver.sums == expected[-len(receiver.sums) :]
        assert receiver.lines("end")[0]["overwritten"] == 0
    assert any(receiver.sums == expected for receiver in receivers)
    check_h264_copies(sender.stats("sink"), len(expected))


def test_frames_that_are_in_use_outlive_the_stream(cockpit: Cockpit) -> None:
    expected = sums_of(cockpit, decode(clip()))
    receiver = watch(cockpit, "credit=8", "", "--video-meta", "1", "--hold", "6", "--stay")
    receiver.wait_state("waiting")
    send(cockpit, decode(clip()), LOSSLESS).finish()

    def has_lost_the_memory() -> bool:
        links = Path(f"/proc/{receiver.pid}/fd").iterdir()
        return any("gid-revoked" in os.readlink(link) for link in links)

    wait_for(has_lost_the_memory, "the end of the sender's memory")
    receiver.tell("quit")
    receiver.finish()
    assert receiver.sums == expected
    assert receiver.lines("end")[0]["overwritten"] == 0


# --- put together by others ---


@pytest.mark.parametrize("bin", at_length_but(["decodebin3", "decodebin"], "decodebin3"))
def test_decodebin(cockpit: Cockpit, bin: str) -> None:
    expected = sums_of(cockpit, decode(clip()))
    sender, receiver = pairs(cockpit, f"filesrc location={clip()} ! {bin}")
    assert receiver.sums == expected
    check_h264_copies(sender.stats("sink"), len(expected))


@pytest.mark.parametrize("bin", at_length_but(["playbin3", "playbin"], "playbin"))
def test_playbin(cockpit: Cockpit, bin: str) -> None:
    expected = sums_of(cockpit, decode(clip()))
    receiver = watch(cockpit)
    sender = Pipeline(
        cockpit,
        "open",
        f'{bin} uri={clip().as_uri()} audio-sink="fakesink sync=false" '
        f'video-sink="gidsink name=sink stream=movie {LOSSLESS}"',
    )
    sender.finish()
    receiver.finish()
    assert receiver.sums == expected
    check_h264_copies(sender.stats("sink"), len(expected))


def test_player_of_two_films(cockpit: Cockpit) -> None:
    """One behind the other without a gap (about-to-finish), of another size."""
    first, second = film(320, 240), film(640, 360)
    expected = sums_of(cockpit, decode(first)) + sums_of(cockpit, decode(second))
    receiver = watch(cockpit, "is-live=false")
    sink = f"gidsink name=sink stream=movie {LOSSLESS}"
    player = f'playbin3 uri={first.as_uri()} flags=video video-sink="{sink}"'
    Pipeline(cockpit, "open", player, "--next", second.as_uri()).finish()
    assert receiver.finish().sums == expected


@pytest.mark.parametrize(
    "player",
    [
        'playbin3 uri=gid://open/movie video-sink="fakesink name=watch sync=false"',
        'playbin uri=gid://open/movie video-sink="fakesink name=watch sync=false"',
        "uridecodebin3 uri=gid://1/movie ! fakesink name=watch sync=false",
        "gidsrc domain=1 stream=movie ! fakesink name=watch sync=false",
        *at_length_but(
            f"{bin} uri=gid://open/movie ! fakesink name=watch sync=false"
            for bin in ("uridecodebin3", "uridecodebin")
        ),
    ],
)
def test_players_read_a_uri(cockpit: Cockpit, player: str) -> None:
    source = test_source()
    expected = sums_of(cockpit, source)
    receiver = Pipeline(cockpit, "cluster", player)
    send(cockpit, source).finish()
    assert receiver.finish().sums == expected


PLAYER = 'playbin3 uri={} video-sink="fakesink name=watch sync=true"'


def test_player_goes_on_with_a_uri(cockpit: Cockpit) -> None:
    """Behind a film, all of it, and at its pace: at none GStreamer's decodebin3 has a race."""
    before, source = film(320, 240), test_source(count=60)
    expected = sums_of(cockpit, decode(before)) + sums_of(cockpit, source)
    player = PLAYER.format(before.as_uri())
    receiver = Pipeline(cockpit, "cluster", player, "--next", "gid://open/movie")
    send(cockpit, source).finish()
    assert receiver.finish().sums == expected


@pytest.mark.parametrize("what", ["a film", "another stream"])
def test_player_ends_behind_a_uri(cockpit: Cockpit, what: str) -> None:
    """GStreamer's players never find that raw video is about to finish. It ends in good order."""
    source = test_source()
    following = film(320, 240).as_uri() if what == "a film" else "gid://open/again"
    player = PLAYER.format("gid://open/movie")
    receiver = Pipeline(cockpit, "cluster", player, "--next", following, G_DEBUG="fatal-criticals")
    send(cockpit, source).finish()
    assert receiver.finish().sums == sums_of(cockpit, source)


def test_uri_of_our_own_domain(cockpit: Cockpit) -> None:
    source = test_source()
    receiver = Pipeline(
        cockpit, "open", "uridecodebin3 uri=gid:///camera/rear ! fakesink name=watch sync=false"
    )
    sender = send(cockpit, source, stream="camera/rear").finish()
    assert len(receiver.finish().frames) == sender.stats("sink")["frames"] > 0


@pytest.mark.parametrize(
    "uri",
    at_length_but(
        ["gid://open", "gid://open/", "gid:///", "gid://op%en/movie", "gid://open/a?b"],
        "gid://open",
        "gid://op%en/movie",
    ),
)
def test_uris_that_name_no_stream(cockpit: Cockpit, uri: str) -> None:
    player = Pipeline(cockpit, "cluster", f"uridecodebin3 uri={uri} ! fakesink")
    assert player.wait() != 0
    assert "write gid://DOMAIN/STREAM, as gid://open/movie" in player.account()


# --- memory that is there already ---


def is_listening(socket: Path) -> bool:
    """Seen from outside: who connects gets frames."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return any(f" {socket}" in line and line.split()[3] == "00010000" for line in lines)


def test_memory_that_readers_could_write_is_copied(cockpit: Cockpit) -> None:
    """unixfdsrc's files can be opened again for writing, by whoever can read them."""
    socket = cockpit.folder / "fd"
    source = Pipeline(
        cockpit,
        "open",
        f"{test_source(count=60)} ! identity name=watch "
        f"! unixfdsink socket-path={socket} wait-for-connection=true sync=false",
    )
    wait_for(lambda: is_listening(socket), "unixfdsink")
    receiver = watch(cockpit)
    sender = send(cockpit, f"unixfdsrc socket-path={socket}", LOSSLESS)
    source.finish()
    sender.finish()
    receiver.finish()
    assert receiver.sums == source.sums
    assert sender.stats("sink")["copy-reasons"] == {"unsealed-memory": 60}


@pytest.mark.parametrize("hold", [0, 20])
def test_relay(cockpit: Cockpit, hold: int) -> None:
    """What gidsrc received can be sent on as it is, and as it is held: it has credit for 8."""
    expected = sums_of(cockpit, decode(film(640, 360)))
    options = ("--video-meta", "1", "--hold", str(hold), "--stay")
    # where nothing is held, no more of them are waiting than the relay may hold
    receiver = watch(cockpit, f"credit={hold + 4}", "", *options, stream="again", domain="open")
    source = "gidsrc name=src domain=open stream=movie credit=8"
    sink = f"gidsink name=sink stream=again {LOSSLESS} credit=63"
    relay = Pipeline(cockpit, "open", f"{source} ! {sink}")
    send(cockpit, decode(film(640, 360))).finish()
    relay.finish()
    receiver.wait_frames(len(expected))
    receiver.tell("quit")
    receiver.finish()
    assert receiver.sums == expected
    assert receiver.lines("end")[0]["overwritten"] == 0
    assert relay.stats("sink")["copied-frames"] == 0
    if hold:
        assert relay.stats("src")["copy-reasons"]["held"] > 0
