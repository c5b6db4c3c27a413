# SPDX-License-Identifier: MIT
"""Pipelines that people run before gidsink and behind gidsrc: each gives what it gives alone."""

import functools
import http.server
import itertools
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.length import at_length_but
from lib.pipeline import (
    LEASE,
    LOSSLESS,
    Pipeline,
    film,
    frames_of,
    gst_env,
    quoted,
    send,
    watch,
)
from lib.program import wait_for

COUNT = 60
BALL = (
    "videotestsrc pattern=ball num-buffers={count} "
    "! video/x-raw,format=I420,width={width},height={height},framerate=30/1"
)
WATCH = "fakesink name=watch sync=false"
DEEP = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"


def ball(count: int = COUNT, width: int = 320, height: int = 240) -> str:
    return BALL.format(count=count, width=width, height=height)


def drawn(cockpit: Cockpit, count: int = COUNT) -> list[str]:
    return [frame["sum"] for frame in frames_of(cockpit, ball(count))]


# What follows the source, which has no frame but by its times: `{}` is a file of the test's.
CHAINS = {
    "encoder beside a display": f"tee name=t ! queue ! {WATCH} "
    "t. ! queue ! x264enc tune=zerolatency ! mp4mux ! filesink location={} async=false",
    "encoder that looks ahead beside a display": f"tee name=t ! {DEEP} ! {WATCH} "
    f"t. ! {DEEP} ! x264enc ! matroskamux ! filesink location={{}} async=false",
    "display in time beside an encoder": f"tee name=t ! {DEEP} ! fakesink name=watch sync=true "
    f"t. ! {DEEP} ! x264enc ! fakesink async=false",
    "encoded and decoded": f"x264enc ! avdec_h264 ! {WATCH}",
    "files of half a second": f"tee name=t ! queue ! {WATCH} t. ! queue "
    "! x264enc tune=zerolatency key-int-max=15 "
    "! splitmuxsink async-handling=true max-size-time=500000000 location={}%02d.mp4",
    "compositor": f"compositor ! {WATCH}",
    "another rate": f"videorate ! video/x-raw,framerate=25/1 ! {WATCH}",
    "every field": f"interlace field-pattern=1:1 ! deinterlace fields=all ! {WATCH}",
    "one picture for long": f"imagefreeze num-buffers=50 ! {WATCH}",
    "a part of it": f"videocrop left=10 top=21 ! videobox left=-4 ! {WATCH}",
    "drawn on": f"gdkpixbufoverlay ! timeoverlay ! {WATCH}",
    "turned": f"videoflip method=clockwise ! videoscale ! video/x-raw,width=100 ! {WATCH}",
    "queue2": f"queue2 max-size-buffers=40 max-size-bytes=0 max-size-time=0 ! {WATCH}",
    "programs of the same pipeline": f"tee name=t ! {DEEP} min-threshold-buffers=50 ! {WATCH} "
    f"t. ! {DEEP} min-threshold-buffers=20 ! fakesink async=false sync=false",
}


def recorded(cockpit: Cockpit, side: str) -> list[str]:
    """What is in the files of that side."""
    play = "filesrc location={} ! parsebin ! avdec_h264 ! fakesink name=watch"
    return [
        one
        for path in sorted(cockpit.folder.glob(f"{side}-*"))
        for one in Pipeline(cockpit, "open", play.format(quoted(path))).finish().sums
    ]


def ended(receiver: Pipeline) -> bool:
    return any(message["bus"] == "eos" for message in receiver.lines("bus"))


# Each kind of element that holds, drops, adds or changes frames once; and what reads twice.
CHAINS_USUAL = ("encoder that looks ahead beside a display", "files of half a second", "compositor")
CHAINS_USUAL += ("another rate", "drawn on", "queue2", "programs of the same pipeline")


@pytest.mark.parametrize("name", at_length_but(CHAINS, *CHAINS_USUAL))
def test_chain(cockpit: Cockpit, name: str) -> None:
    """With the defaults of gidsrc, but that it is a film."""
    chain, behind = CHAINS[name], cockpit.folder / "behind-"
    itself = Pipeline(cockpit, "open", f"{ball()} ! {chain.format(cockpit.folder / 'itself-')}")
    source = "gidsrc name=src domain=open stream=movie is-live=false"
    receiver = Pipeline(cockpit, "cluster", f"{source} ! {chain.format(behind)}", "--stay")
    sender = send(cockpit, ball())
    wait_for(lambda: ended(receiver), "the end")
    stats = receiver.stats("src")
    assert stats["missed"] == stats["lost"] == stats["taken"] == 0
    receiver.tell("quit")
    assert receiver.finish().sums == itself.finish().sums and len(receiver.sums) >= 50
    sender.stop()
    films = recorded(cockpit, "behind")
    assert films == recorded(cockpit, "itself")
    assert len(films) == (COUNT if "location" in chain else 0)


# --- what happens while downstream holds ---

HOLDS = ("--video-meta", "1", "--hold", "40", "--stay")


def holder(cockpit: Cockpit, properties: str = "is-live=false") -> Pipeline:
    receiver = watch(cockpit, properties, "", *HOLDS)
    receiver.wait_state("waiting")
    return receiver


def expect_unchanged(receiver: Pipeline) -> None:
    assert receiver.stats("src")["taken"] == 0
    receiver.tell("quit")
    assert receiver.finish().lines("end")[0]["overwritten"] == 0


def test_film_that_begins_again(cockpit: Cockpit) -> None:
    """Its times go back, and those of what is behind gidsrc go on, as behind the film itself."""
    twice = f"{ball(20)} ! c. {ball(20)} ! c. concat name=c"
    expected = frames_of(cockpit, twice)
    receiver = watch(cockpit, "is-live=false")
    send(cockpit, twice).finish()
    came = receiver.finish().frames
    assert [frame["sum"] for frame in came] == [frame["sum"] for frame in expected]
    for time in ("pts", "running_time"):
        assert [frame[time] for frame in came] == [frame[time] for frame in expected]
    assert came[20]["pts"] == 0 < came[20]["running_time"]


def test_film_that_does_not_begin_at_0(cockpit: Cockpit) -> None:
    """Running time does, as behind a demuxer."""
    path = quoted(cockpit.folder / "film.ts")
    Pipeline(cockpit, "open", f"{ball()} ! x264enc ! mpegtsmux ! filesink location={path}").finish()
    film = f"filesrc location={path} ! tsdemux ! h264parse ! avdec_h264"
    expected = frames_of(cockpit, film)
    receiver = watch(cockpit, "is-live=false")
    send(cockpit, film).finish()
    came = receiver.finish().frames
    for what in ("sum", "pts", "running_time"):
        assert [frame[what] for frame in came] == [frame[what] for frame in expected]
    assert came[0]["running_time"] == 0 < came[0]["pts"]


def test_films_behind_one_another_are_recorded(cockpit: Cockpit) -> None:
    """The encoder holds a dozen frames, and a film that has ended the buffers of its pool, for
    nobody: the next film takes them.
    """
    films = f"{ball(20)} ! c. " * 3 + "concat name=c"
    recorder = watch(cockpit, "is-live=false", "! x264enc ! avdec_h264")
    send(cockpit, films).finish()
    assert len(recorder.finish().frames) == 60


def test_so_many_and_no_more(cockpit: Cockpit) -> None:
    receiver = watch(cockpit, "is-live=false num-buffers=25")
    sender = send(cockpit, ball())
    assert receiver.finish().sums == drawn(cockpit)[:25]
    sender.stop()


ENDS = (
    "gidsrc domain=open stream=movie is-live=false num-buffers=25 "
    "! fakesink name=watch sync=false enable-last-sample={}"
)


def test_nobody_waits_for_a_reader_at_its_end(cockpit: Cockpit) -> None:
    """It holds a frame yet, and the producer's leases are of minutes."""
    receiver = Pipeline(cockpit, "cluster", ENDS.format("true"), "--stay")
    send(cockpit, ball()).finish()
    assert receiver.sums == drawn(cockpit)[:25]


def test_reader_at_its_end_reads_no_more(cockpit: Cockpit) -> None:
    """Once downstream holds nothing of it, the stream is nobody's."""
    Pipeline(cockpit, "cluster", ENDS.format("false"), "--stay")
    sender = send(cockpit, ball(-1))
    wait_for(
        lambda: [one["consumers"] for one in sender.messages("gid-consumers")] == [1, 0],
        "it to unsubscribe",
    )
    sender.stop()


def test_flush_takes_the_end_back(cockpit: Cockpit) -> None:
    """It subscribes again, and has the next film."""
    text = ENDS.format("false").replace("num-buffers=25", "name=src")
    receiver = Pipeline(cockpit, "cluster", text, "--stay")
    receiver.wait_state("waiting")
    assert cockpit.status("cluster")["subscriptions"]
    send(cockpit, ball(20)).finish()
    wait_for(lambda: not cockpit.status("cluster")["subscriptions"], "it to unsubscribe")
    receiver.tell("flush src")
    send(cockpit, ball()).finish()
    wait_for(lambda: len(receiver.sums) == 20 + COUNT, "all of the next film")
    assert receiver.sums == drawn(cockpit, 20) + drawn(cockpit)


SLOW = f"{ball(5000)} ! identity sleep-time=20000"  # µs
NOBODYS = 60  # frames that come while nobody wants any, of which the ring has room for 24


def wait_sent(sender: Pipeline, more: int) -> None:
    sent = sender.stats("sink")["frames"]
    wait_for(lambda: sender.stats("sink")["frames"] > sent + more, f"{more} frames")


def expect_no_warning(receiver: Pipeline) -> None:
    """Nor behind those that the ring had room for."""
    receiver.wait_frames(len(receiver.frames) + 40)
    assert not [line["text"] for line in receiver.lines("bus") if line["bus"] == "warning"]


@pytest.mark.parametrize("holds", ["false", "true"])
def test_what_comes_at_the_end_is_not_missed(cockpit: Cockpit, holds: str) -> None:
    """A flush takes it back: where it had unsubscribed, and where a frame is held still."""
    text = "gidsrc name=src domain=open stream=movie is-live=false ! identity name=watch "
    text += f"! fakesink sync=false enable-last-sample={holds}"
    receiver = Pipeline(cockpit, "cluster", text, "--stay")
    receiver.wait_state("waiting")
    sender = send(cockpit, SLOW, f"sync=false {LEASE}")
    receiver.wait_frames(10)
    receiver.tell("eos")
    wait_for(lambda: receiver.events("eos"), "its end")
    wait_sent(sender, NOBODYS)
    receiver.tell("flush src")
    expect_no_warning(receiver)


def test_what_comes_in_a_pause_is_not_missed(cockpit: Cockpit) -> None:
    text = "gidsrc name=src domain=open stream=movie ! identity name=watch ! fakesink sync=false"
    receiver = Pipeline(cockpit, "cluster", text, "--stay")
    receiver.wait_state("waiting")
    sender = send(cockpit, SLOW, f"sync=false {LEASE}")
    receiver.wait_frames(10)
    receiver.tell("state paused")
    wait_sent(sender, NOBODYS)
    receiver.tell("state playing")
    expect_no_warning(receiver)
    times = [frame["pts"] for frame in receiver.frames]
    assert times[1:] == sorted(set(times[1:])), "for encoders and files"


def test_end_of_the_stream(cockpit: Cockpit) -> None:
    receiver = holder(cockpit)
    send(cockpit, ball()).finish()
    wait_for(lambda: receiver.events("eos"), "the end")
    assert receiver.sums == drawn(cockpit)
    expect_unchanged(receiver)


def test_pauses(cockpit: Cockpit) -> None:
    receiver = holder(cockpit)
    send(cockpit, f"{ball()} ! identity sleep-time=10000")
    for count in range(5, COUNT, 10):
        receiver.wait_frames(count)
        receiver.tell("state paused")
        receiver.tell("state playing")
    receiver.wait_frames(COUNT)
    assert receiver.sums == drawn(cockpit)
    expect_unchanged(receiver)


@pytest.mark.parametrize("live", ["true", "false"])
def test_flushes_of_the_reader(cockpit: Cockpit, live: str) -> None:
    """A seek that the source refuses, and one that flushes what is behind it."""
    receiver = holder(cockpit, f"is-live={live}")
    sender = send(cockpit, f"{ball()} ! identity sleep-time=10000")
    for count in (5, 15, 25):
        receiver.wait_frames(count)
        receiver.tell("seek 0")
    receiver.wait_frames(COUNT)
    assert receiver.sums == drawn(cockpit)
    expect_unchanged(receiver)
    sender.stop()


def wait_picture(receiver: Pipeline, before: int, picture: str) -> None:
    wait_for(lambda: picture in receiver.sums[before:], "the picture")


def test_seeks_of_the_producer(cockpit: Cockpit) -> None:
    """Its flush drops what waits, and changes nothing that was given downstream."""
    receiver = holder(cockpit)
    sender = send(cockpit, f"{ball(300)} ! identity sleep-time=10000")
    expected = drawn(cockpit, 300)
    for place in (200, 20, 100):
        before = len(receiver.frames)
        receiver.wait_frames(before + 10)
        sender.tell(f"seek {place * 10**9 // 30}")
        wait_picture(receiver, before, expected[place])
    assert set(receiver.sums) <= set(expected)
    expect_unchanged(receiver)
    sender.stop()


def test_another_size(cockpit: Cockpit) -> None:
    receiver = holder(cockpit)
    send(cockpit, f"{ball(30)} ! c. {ball(30, 640, 360)} ! c. concat name=c").finish()
    wait_for(lambda: receiver.events("eos"), "the end")
    sizes = (ball(30), ball(30, 640, 360))
    assert receiver.sums == [one["sum"] for size in sizes for one in frames_of(cockpit, size)]
    expect_unchanged(receiver)


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_another_producer(cockpit: Cockpit, end: str) -> None:
    receiver = holder(cockpit)
    first = send(cockpit, f"{ball()} ! identity sleep-time=10000")
    receiver.wait_frames(20)
    getattr(first, end)()
    expected = drawn(cockpit)
    send(cockpit, ball())
    wait_for(lambda: receiver.sums[-1] == expected[-1], "the last of the second producer")
    sums = receiver.sums
    assert len(sums) >= 20 + COUNT
    assert sums[-COUNT:] == expected and sums[:-COUNT] == expected[: len(sums) - COUNT]
    expect_unchanged(receiver)


def test_a_source_that_waits_for_another(cockpit: Cockpit) -> None:
    """Its frames wait, and none is missed: concat takes it when the first is at its end."""
    behind = "gidsrc domain=open stream={} is-live=false {} ! c. "
    receiver = Pipeline(
        cockpit,
        "cluster",
        f"concat name=c ! {WATCH} "
        + behind.format("one", "num-buffers=40")
        + behind.format("two", "name=src"),
    )
    receiver.wait_state("waiting")
    two = send(cockpit, ball(), LOSSLESS, "two")
    one = send(cockpit, f"{ball()} ! identity sleep-time=20000", LOSSLESS, "one")
    sums = receiver.finish().sums
    expected = drawn(cockpit)
    assert sums == expected[:40] + expected
    assert receiver.stats("src")["missed"] == 0
    one.stop()
    two.stop()


def test_sent_on_while_it_is_shown(cockpit: Cockpit) -> None:
    """As it lies, also what gidsrc copied because a display beside it holds so much."""
    end = watch(cockpit, "is-live=false", stream="again", domain="open")
    relay = Pipeline(
        cockpit,
        "open",
        f"gidsrc name=src domain=open stream=movie is-live=false ! tee name=t "
        f"! {DEEP} min-threshold-buffers=40 ! fakesink async=false sync=false "
        f"t. ! queue ! gidsink name=sink stream=again {LOSSLESS}",
    )
    send(cockpit, ball()).finish()
    relay.finish()
    assert end.finish().sums == drawn(cockpit)
    assert relay.stats("src")["copied-frames"] > 0
    assert relay.stats("sink")["copied-frames"] == 0


# --- in front of gidsink ---


def named(pixels: str, count: int = 20, size: tuple[int, int] = (320, 240)) -> str:
    return ball(count, *size).replace("I420", pixels)


def joined(*parts: str) -> str:
    return "concat name=all " + " ".join(f"{part} ! all." for part in parts) + " all."


ODD = (333, 111)
SOURCES = {
    "beside another branch": f"{ball()} ! tee name=t t. ! queue ! fakesink async=false t. ! queue",
    "pictures again, drawn on": f"{ball()} ! videorate ! video/x-raw,framerate=77/1 ! timeoverlay",
    "fewer pictures": f"{ball()} ! videorate ! video/x-raw,framerate=11/1",
    "a part again and again": f"{ball()} ! videocrop left=4 top=6 ! videorate "
    "! video/x-raw,framerate=60/1",
    "part of a part": f"{named('I420', size=ODD)} ! videocrop left=3 top=5 ! videocrop right=7",
    "turned": f"{named('I420', size=(321, 241))} ! videoflip method=clockwise",
    "old pictures in new ones": f"{named('BGRx')} ! streaktv ! vertigotv",
    "pictures of fields": f"{ball()} ! interlace",
    "fields and frames": f"{ball()} ! interlace ! fieldanalysis",
    "other sizes": joined(ball(9), ball(9, 111, 77), ball(9, 1, 1), ball(9)),
    "other formats": joined(ball(9), named("NV12", 9), named("P010_10LE", 9), named("GRAY8", 9)),
    "other modes": joined(ball(9), f"{ball(9)} ! interlace field-pattern=1:1", ball(9)),
    "a long queue": f"{ball()} ! queue min-threshold-buffers=20 max-size-buffers=25",
    "by RTP": f"{ball()} ! rtpvrawpay ! rtpvrawdepay",
    "4:4:4": f"{named('Y444', size=ODD)} ! jpegenc ! jpegdec",
    "4:4:4 of 10 bits": f"{named('Y444_10LE', size=ODD)} ! avenc_ffv1 ! avdec_ffv1",
    "4:2:2 of 10 bits": f"{named('I422_10LE', size=(334, 111))} ! x264enc ! avdec_h264",
    "H.264 of fields": f"{ball()} ! interlace field-pattern=1:1 ! x264enc interlaced=true "
    "! avdec_h264",
    "frames out of order": f"{ball()} ! avenc_mpeg2video max-bframes=2 ! mpegvideoparse "
    "! avdec_mpeg2video",
}


# Each way once by which other pictures, sizes, formats, modes or orders come.
SOURCES_USUAL = ("pictures again, drawn on", "part of a part", "old pictures in new ones")
SOURCES_USUAL += ("fields and frames", "other sizes", "other formats", "4:2:2 of 10 bits")
SOURCES_USUAL += ("frames out of order",)


@pytest.mark.parametrize("name", at_length_but(SOURCES, *SOURCES_USUAL))
def test_source(cockpit: Cockpit, name: str) -> None:
    """Pixels and times of each."""
    compare(cockpit, lambda sink: f"{SOURCES[name]} ! {sink}", 8)


def compare(cockpit: Cockpit, pipeline: Callable[[str], str], least: int) -> None:
    """The pipeline with gidsink, and what it gives to a sink that is nothing else."""
    itself = Pipeline(cockpit, "open", pipeline(WATCH), "--video-meta", "1").finish()
    receiver = watch(cockpit, "is-live=false")
    sender = Pipeline(cockpit, "open", pipeline(f"gidsink name=sink stream=movie {LOSSLESS}"))
    assert sender.finish().messages("gid-sink-stats")[-1]["dropped"] == 0
    told = [
        [[frame[what] for what in ("sum", "pts", "duration")] for frame in one.frames]
        for one in (receiver.finish(), itself)
    ]
    assert told[0] == told[1] and len(told[1]) >= least


def launch(cockpit: Cockpit, text: str) -> None:
    env = gst_env(cockpit.env("open"), cockpit.folder / "registry.bin")
    subprocess.run(["gst-launch-1.0", "-q", *text.split()], env=env, check=True, timeout=60)


def as_hls(cockpit: Cockpit, place: Path) -> str:
    """splitmuxsink of GStreamer 1.26, which could cut it, now and then does not end."""
    for number in range(5):
        source = ball(30).replace("ball", f"ball timestamp-offset={number * 1_000_000_000}")
        mux = "x264enc ! h264parse ! mpegtsmux"
        launch(cockpit, f"{source} ! {mux} ! filesink location={place}/{number}.ts")
    segments = "".join(f"#EXTINF:1.0,\n{number}.ts\n" for number in range(5))
    (place / "film.m3u8").write_text(
        f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n{segments}#EXT-X-ENDLIST\n"
    )
    return "film.m3u8"


MPD = """\
<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT5S"
     minBufferTime="PT1S" profiles="urn:mpeg:dash:profile:isoff-live:2011">
  <Period><AdaptationSet mimeType="video/mp4" segmentAlignment="true" startWithSAP="1">
    <SegmentTemplate timescale="1" duration="1" startNumber="0" initialization="begin.mp4"
                     media="$Number$.m4s"/>
    <Representation id="1" codecs="avc1.42c01e" bandwidth="500000" width="320" height="240"/>
  </AdaptationSet></Period>
</MPD>
"""


def as_dash(cockpit: Cockpit, place: Path) -> str:
    """One film of fragments of a second, cut in front of each."""
    mux = "x264enc key-int-max=30 bframes=0 ! h264parse ! mp4mux fragment-duration=1000"
    launch(cockpit, f"{ball(150)} ! {mux} fragment-mode=dash-or-mss ! filesink location={place}/f")
    data, at, cuts = (place / "f").read_bytes(), 0, []
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        cuts += [at] if kind == b"moof" else []
        at += size
    (place / "begin.mp4").write_bytes(data[: cuts[0]])
    for number, (begin, end) in enumerate(itertools.pairwise([*cuts, len(data)])):
        (place / f"{number}.m4s").write_bytes(data[begin:end])
    assert len(cuts) == 5
    (place / "film.mpd").write_text(MPD)
    return "film.mpd"


SITES = {"hls": as_hls, "dash": as_dash}


@pytest.fixture
def site(cockpit: Cockpit, request: pytest.FixtureRequest) -> Iterator[str]:
    """A film of five seconds in segments of one: its address."""
    place = cockpit.folder / "site"
    place.mkdir()
    name = SITES[request.param](cockpit, place)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Handler, directory=str(place))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/{name}"
        server.shutdown()


PLAYERS = {
    "uridecodebin3": "uridecodebin3 uri={uri} caps=video/x-raw ! {sink}",
    "playbin3": 'playbin3 uri={uri} flags=video video-sink="{sink}"',
}


@pytest.mark.parametrize(
    ("site", "player"),
    at_length_but(
        itertools.product(SITES, PLAYERS), ("hls", "playbin3"), ("dash", "uridecodebin3")
    ),
    indirect=["site"],
)
def test_film_in_segments(cockpit: Cockpit, site: str, player: str) -> None:
    compare(cockpit, lambda sink: PLAYERS[player].format(uri=site, sink=sink), 150)


def test_timeline_of_an_editor(cockpit: Cockpit) -> None:
    """gst-editing-services: one second of a film, and half a second of bars."""
    receiver = watch(cockpit, "is-live=false")
    clips = ["+clip", str(film(640, 360, 90)), "inpoint=0.5", "duration=1.0"]
    clips += ["+test-clip", "smpte", "duration=0.5"]
    sink = f"gidsink stream=movie {LOSSLESS}"
    command = ["ges-launch-1.0", *clips, "--track-types", "video", "--videosink", sink]
    env = gst_env(cockpit.env("open"), cockpit.folder / "registry.bin")
    try:
        subprocess.run(command, env=env, cwd=cockpit.folder, check=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("needs more: ./run shell --with ges1.0-tools -- ./run test gst/pipelines")
    assert len(receiver.finish().frames) == 45
    assert receiver.stats("src")["missed"] == receiver.stats("src")["lost"] == 0
