# SPDX-License-Identifier: MIT
"""Rarer films, caps, sizes, clocks, tracers and limits: frames are the same, and nothing hangs."""

import itertools
import subprocess

import pytest
from lib.cockpit import Cockpit
from lib.length import at_length_but
from lib.pipeline import LOSSLESS, PATIENT, Pipeline, gst_env, send, watch

COUNT = 12
SECOND = 10**9
NOT_OF_FRAMES = 0x40 | 0x4000  # DISCONT, which gidsrc says of its first one; and TAG_MEMORY


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


def seen(frame: dict, times: tuple[str, ...]) -> list:
    what = {**frame, "flags": frame["flags"] & ~NOT_OF_FRAMES}
    return [what[key] for key in ("sum", *times)]


def compare(
    cockpit: Cockpit, source: str, properties: str, times: tuple[str, ...], least: int
) -> None:
    """What arrives, and what the source gives to a sink that is nothing else."""
    compare_behind(cockpit, source, "", properties, times, least)


def compare_behind(
    cockpit: Cockpit, source: str, then: str, properties: str, times: tuple[str, ...], least: int
) -> None:
    """The same, with other elements behind gidsrc."""
    alone = f"{source} {then} ! fakesink name=watch sync=false"
    itself = Pipeline(cockpit, "open", alone, "--video-meta", "1").finish()
    receiver = watch(cockpit, properties, then)
    sender = send(cockpit, source, LOSSLESS).finish()
    receiver.finish()
    told = [[seen(frame, times) for frame in one.frames] for one in (receiver, itself)]
    assert told[0] == told[1] and len(told[1]) >= least
    assert receiver.caps == itself.caps
    assert sender.stats("sink")["dropped"] == receiver.stats("src")["missed"] == 0


# Each kind of caps, times and sizes once.
USUAL = ("no rate in the middle", "other colours", "two views in one", "alternate fields")
USUAL += ("small ones", "rows apart", "begins late", "seldom", "a part of odd place")


@pytest.mark.parametrize("name", at_length_but(SOURCES, *USUAL))
def test_source(cockpit: Cockpit, name: str) -> None:
    compare(cockpit, SOURCES[name], "is-live=false", ("pts", "duration"), 10)


# --- films ---


def coded(encoder: str, decoder: str, first: str = "", second: str = "") -> str:
    """Two films in one stream, with which the decoder begins anew."""
    films = (first or ball(), second or ball(size=(642, 358)))
    return joined(*(f"{film} ! {encoder}" for film in films)) + f" ! {decoder}"


# Each decoder has another way to its memory, and to what of that is the picture.
PAL = "videotestsrc pattern=ball num-buffers=12 ! video/x-raw,format=I420,width=720,height=576"
PAL += ",framerate=50/1"
DEEP = ball("I420_10LE", (322, 242))
FILMS = {
    "H.264 that looks far ahead": f"{ball(count=70)} ! x264enc rc-lookahead=60 bframes=8 "
    "b-adapt=true b-pyramid=true ref=8 ! h264parse ! avdec_h264",
    "H.264 without B-frames": f"{ball()} ! openh264enc ! h264parse ! openh264dec",
    "H.264 of another size": coded("x264enc bframes=3 ! h264parse", "h264parse ! avdec_h264"),
    "H.264 of bytes": f"{ball()} ! x264enc byte-stream=true aud=false ! h264parse ! openh264dec",
    "H.265": f"{ball(count=30)} ! x265enc ! h265parse ! avdec_h265",
    "H.265 of 10 bits": f"{DEEP} ! x265enc ! h265parse ! avdec_h265",
    "H.265 by libde265": f"{ball(count=30)} ! x265enc ! h265parse ! libde265dec",
    "H.265 of another size": coded("x265enc ! h265parse", "h265parse ! avdec_h265"),
    "VP8": f"{ball()} ! vp8enc deadline=1 lag-in-frames=5 auto-alt-ref=true ! vp8dec",
    "VP8 of another size": coded("vp8enc deadline=1", "vp8dec"),
    "VP8 by libav": f"{ball()} ! vp8enc deadline=1 ! avdec_vp8",
    "VP9": f"{ball(count=30)} ! vp9enc deadline=1 cpu-used=8 lag-in-frames=20 ! vp9parse ! vp9dec",
    "VP9 of another size": coded("vp9enc deadline=1 cpu-used=8 ! vp9parse", "vp9parse ! vp9dec"),
    "VP9 of another size, by libav": coded(
        "vp9enc deadline=1 cpu-used=8 ! vp9parse", "vp9parse ! avdec_vp9"
    ),
    "AV1": f"{ball()} ! av1enc cpu-used=8 usage-profile=realtime ! av1parse ! av1dec",
    "AV1 of another size": coded("svtav1enc preset=13 ! av1parse", "av1parse ! av1dec"),
    "AV1 of 10 bits": f"{DEEP} ! svtav1enc preset=13 ! av1parse ! av1dec",
    "MPEG-1": f"{ball()} ! avenc_mpeg1video ! mpegvideoparse ! avdec_mpeg2video",
    "MPEG-2 by libmpeg2": f"{ball()} ! mpeg2enc ! mpegvideoparse ! mpeg2dec",
    "MPEG-2 of fields": f"{PAL} ! interlace field-pattern=1:1 "
    "! avenc_mpeg2video flags=ilme+ildct max-bframes=2 ! mpegvideoparse ! avdec_mpeg2video",
    "MPEG-4": f"{ball()} ! avenc_mpeg4 max-bframes=2 ! mpeg4videoparse ! avdec_mpeg4",
    "MPEG-4 of another size": coded("avenc_mpeg4 ! mpeg4videoparse", "avdec_mpeg4"),
    "H.263": ball(size=(352, 288)) + " ! avenc_h263p ! avdec_h263",
    "WMV": f"{ball()} ! avenc_wmv2 ! avdec_wmv2",
    "Flash": f"{ball()} ! avenc_flv ! avdec_flv",
    "Theora": ball(size=(333, 111)) + " ! theoraenc ! theoradec",
    "Theora of another size": coded("theoraenc", "theoradec"),
    "Theora of 4:4:4": ball("Y444", (35, 21)) + " ! theoraenc ! theoradec",
    "JPEG of other sizes": coded("jpegenc", "jpegdec", ball("Y42B", (97, 51)), ball("GRAY8")),
    "JPEG by libav": f"{ball()} ! jpegenc ! jpegparse ! avdec_mjpeg",
    "JPEG 2000": ball("Y444", (97, 51), 4) + " ! openjpegenc ! openjpegdec",
    "PNG": coded("pngenc", "pngparse ! pngdec", ball("RGB", (97, 51)), ball("GRAY8")),
    "PNG by libav": ball("RGBA", (97, 51)) + " ! pngenc ! avdec_png",
    "WebP": ball("RGB") + " ! webpenc ! webpdec",
    "BMP": ball("BGR", (97, 51)) + " ! avenc_bmp ! avdec_bmp",
    "PNM": ball("RGB", (97, 51)) + " ! pnmenc ! pnmdec",
    "ProRes": ball("Y444_10LE", (334, 112)) + " ! avenc_prores_ks ! avdec_prores",
    "DNxHD": ball("Y42B", (1920, 1080), 4) + " ! videorate ! video/x-raw,framerate=25/1 "
    "! avenc_dnxhd bitrate=120000000 ! avdec_dnxhd",
    "HuffYUV": ball("Y42B", (334, 112)) + " ! avenc_ffvhuff ! avdec_ffvhuff",
    "Cinepak": ball("RGB", (320, 240), 4) + " ! avenc_cinepak ! avdec_cinepak",
    "QuickTime's animation": ball("RGB") + " ! avenc_qtrle ! avdec_qtrle",
    "Y4M": ball(size=(35, 21)) + " ! y4menc ! y4mdec",
    "raw in QuickTime": ball("UYVY", (36, 22)) + " ! qtmux ! qtdemux",
    "3:2 taken back": f"{ball(count=40)} ! interlace field-pattern=2:3 ! ivtc",
    "every field of a film": f"{ball()} ! interlace field-pattern=1:1 "
    "! deinterlace fields=all method=yadif",
    "numbered": f"{ball()} ! timecodestamper ! timeoverlay time-mode=time-code ! video/x-raw",
    "marked": f"{ball()} ! simplevideomark ! videobalance hue=0.3 ! gamma gamma=2",
    "bent": ball("AYUV") + " ! videoconvert ! fisheye ! videoconvert ! video/x-raw,format=NV12",
    "old ones mixed in": ball("BGRx") + " ! agingtv ! dicetv ! warptv ! rippletv",
    "of two sources": "compositor name=all sink_1::xpos=33 sink_1::alpha=0.5 "
    f"{ball()} ! all. {ball('BGRA', (35, 21))} ! all. all. ! video/x-raw,framerate=30/1",
}
USUAL_FILMS = (
    "H.264 of another size",
    "VP9 of another size, by libav",
    "Theora",
    "JPEG of other sizes",
    "MPEG-2 of fields",
)


@pytest.mark.parametrize("name", at_length_but(FILMS, *USUAL_FILMS))
def test_film(cockpit: Cockpit, name: str) -> None:
    compare(cockpit, FILMS[name], "is-live=false", ("pts", "duration", "flags"), 4)


# --- behind gidsrc ---

FIELDS = f"{ball()} ! interlace field-pattern=1:1"
BEHIND = {
    "fewer": (ball(), "! videorate drop-only=true max-rate=7"),
    "more": (ball(), "! videorate ! video/x-raw,framerate=100/1"),
    "turned": (ball("NV12", (334, 112)), "! videoflip method=rotate-180"),
    "smaller": (ball("BGRx", (333, 111)), "! videoscale method=lanczos ! video/x-raw,width=77"),
    "other format": (
        ball("NV12", (333, 111)),
        "! videoconvert n-threads=4 ! video/x-raw,format=Y444",
    ),
    "a part of a part": (
        ball("I420", (333, 111)),
        "! videocrop left=5 bottom=3 ! videobox left=-3",
    ),
    "written on": (ball("YUY2", (334, 112)), "! textoverlay text=gid ! videobalance hue=0.2"),
    "both fields": (FIELDS, "! deinterlace fields=all method=greedyh"),
    "fields again": (FIELDS, "! deinterlace mode=disabled ! fieldanalysis"),
    "in Matroska": (ball("I420", (35, 21)), "! matroskamux ! matroskademux"),
    "in Y4M": (ball("I420", (35, 21)), "! y4menc ! y4mdec"),
    "in GDP": (joined(ball(), ball("NV12", (333, 111))), "! gdppay ! gdpdepay"),
    "by RTP": (ball("I420", (334, 112)), "! rtpvrawpay ! rtpvrawdepay"),
    "JPEG": (ball("Y444", (35, 21)), "! jpegenc ! jpegdec"),
    "PNG": (ball("RGB", (35, 21)), "! pngenc ! pngdec"),
    "FFV1": (ball("I420_10LE", (334, 112)), "! avenc_ffv1 ! avdec_ffv1"),
    "VP9": (ball(), "! vp9enc deadline=1 cpu-used=8 lag-in-frames=5 ! vp9dec"),
    "H.265": (ball(), "! x265enc ! h265parse ! avdec_h265"),
    "H.264 of another size": (
        joined(ball(), ball(size=(642, 358))),
        "! x264enc bframes=3 ! h264parse ! avdec_h264",
    ),
    "MPEG-2 of fields": (FIELDS, "! avenc_mpeg2video flags=ilme+ildct ! avdec_mpeg2video"),
    "several queues": (ball(), "! multiqueue ! queue2 ! queue max-size-buffers=1"),
    "one of several": (ball(), "! input-selector ! funnel ! valve"),
    "one segment": (joined(ball(), ball()), "! identity single-segment=true"),
    "with sound's clock": (ball(), "! clocksync sync=false"),
    "bent": (ball("BGRx"), "! videoconvert ! fisheye"),
    "old ones mixed in": (ball("BGRx"), "! streaktv ! vertigotv"),
    "sealed in files": (ball("I420", (35, 21)), "! gdkpixbufoverlay ! gamma gamma=2"),
}


@pytest.mark.parametrize("name", at_length_but(BEHIND, "in Y4M", "in GDP", "both fields"))
def test_behind(cockpit: Cockpit, name: str) -> None:
    source, then = BEHIND[name]
    compare_behind(cockpit, source, then, "is-live=false", ("pts", "duration"), 2)


# GStreamer's own: they read behind the ends of rows, or take them to be next to each other.
MISREAD = {"JPEG", "bent", "old ones mixed in"}


@pytest.mark.at_length
@pytest.mark.parametrize("name", sorted(set(BEHIND) - MISREAD))
def test_behind_a_part(cockpit: Cockpit, name: str) -> None:
    """Whose rows begin somewhere in the memory."""
    source, then = BEHIND[name]
    part = f"{source} ! videocrop left=4 top=4 right=2"
    compare_behind(cockpit, part, then, "is-live=false", ("pts", "duration"), 2)


# --- programs of others ---


def run(cockpit: Cockpit, *words: str) -> str:
    env = gst_env(cockpit.env("cluster"), cockpit.folder / "registry.bin")
    done = subprocess.run(
        words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_discoverer(cockpit: Cockpit) -> None:
    """It asks a player what there is at an address."""
    sender = send(cockpit, "videotestsrc is-live=true ! video/x-raw,width=322,height=242", "")
    said = run(cockpit, "gst-discoverer-1.0", "-v", "gid://open/movie")
    assert "Width: 322" in said and "Height: 242" in said
    sender.stop()


def test_player(cockpit: Cockpit) -> None:
    """Until the film's end."""
    sender = send(cockpit, ball(), LOSSLESS)
    sink = "--videosink=fakesink sync=false"
    said = run(cockpit, "gst-play-1.0", "--no-interactive", sink, "gid://open/movie")
    assert "Now playing gid://open/movie" in said and "ERROR" not in said
    sender.finish()


# --- formats ---

FORMATS = """BGRx BGRA RGBx RGBA xBGR ABGR xRGB ARGB BGR RGB RGB16 BGR16 RGB15 BGR15 BGR10A2_LE
RGB10A2_LE BGRA64_LE RGBA64_LE GRAY8 GRAY16_LE VUYA v308 Y410 Y412_LE Y416_LE YUY2 YVYU UYVY VYUY
Y210 Y212_LE Y216_LE NV12 NV21 NV16 NV61 NV24 P010_10LE P012_LE P016_LE YUV9 YVU9 Y41B I420 YV12
Y42B Y444 I420_10LE I422_10LE Y444_10LE I420_12LE I422_12LE Y444_12LE Y444_16LE""".split()


# Those that GStreamer's elements cut, cut anywhere without a change of colours, or make fields of.
CUT = """RGB BGR RGB16 RGB15 RGBx xRGB BGRx xBGR RGBA ARGB BGRA ABGR GRAY8 GRAY16_LE YVYU YUY2 UYVY
I420 YV12 Y444 Y42B Y41B NV12 NV21 I420_10LE Y444_10LE I422_10LE I420_12LE Y444_12LE
I422_12LE""".split()
CUT_ANYWHERE = CUT[:14] + ["Y444", "Y444_10LE", "Y444_12LE"]
LACED = """Y412_LE VUYA Y444_16LE Y444_12LE Y410 Y444_10LE v308 Y444 NV24 I422_12LE Y212_LE UYVY
Y210 I422_10LE YUY2 VYUY YVYU Y42B NV16 NV61 P016_LE I420_12LE P012_LE I420_10LE P010_10LE I420
YV12 NV12 NV21 Y41B YUV9 YVU9""".split()


def each(formats: list[str], width: int, height: int, then: str = "") -> str:
    return joined(
        *(
            f"videotestsrc pattern=ball num-buffers=3 ! video/x-raw,framerate=30/1 ! videoconvert "
            f"! video/x-raw,format={pixels},width={width},height={height} {then}"
            for pixels in formats
        )
    )


COPIED = "! identity drop-allocation=true"
OF_EACH_FORMAT = {
    "of odd size": each(FORMATS, 37, 23),
    "that are copied": f"{each(FORMATS, 37, 23)} {COPIED}",
    "that are a part": each(CUT, 37, 23, "! videocrop left=4 top=4 right=3 bottom=2"),
    "that are a part of odd place": each(CUT_ANYWHERE, 37, 23, "! videocrop left=3 top=5"),
    "that are a part, and copied": f"{each(CUT, 37, 23, '! videocrop left=4 top=4')} {COPIED}",
    "of two rows": each(FORMATS, 16384, 2),
    "of two columns": each(FORMATS, 2, 16384),
    "of one pixel": each(FORMATS, 1, 1),
    "of fields": each(LACED, 40, 24, "! interlace field-pattern=1:1"),
}


@pytest.mark.parametrize("name", at_length_but(OF_EACH_FORMAT, "that are a part"))
def test_pictures_of_each_format(cockpit: Cockpit, name: str) -> None:
    compare(cockpit, OF_EACH_FORMAT[name], "is-live=false", ("pts", "duration"), 30)


@pytest.mark.at_length
@pytest.mark.parametrize("name", OF_EACH_FORMAT)
def test_pictures_for_who_knows_one_layout(cockpit: Cockpit, name: str) -> None:
    """Without GstVideoMeta."""
    source = OF_EACH_FORMAT[name]
    itself = Pipeline(cockpit, "open", f"{source} ! fakesink name=watch", "--video-meta", "0")
    receiver = watch(cockpit, "is-live=false", "", "--video-meta", "0")
    send(cockpit, source, LOSSLESS).finish()
    assert receiver.finish().sums == itself.finish().sums
    assert receiver.caps == itself.caps


@pytest.mark.parametrize(
    "name",
    at_length_but(["no rate", "small ones", "alternate fields", "rows apart"], "no rate"),
)
def test_source_that_is_read_live(cockpit: Cockpit, name: str) -> None:
    compare(cockpit, SOURCES[name], "", (), 10)


# --- clocks ---

CLOCKS = {"monotonic": "", "realtime": "clock-id=realtime", "tai": "clock-id=tai"}


def under_clock(name: str, pipeline: str) -> str:
    return f"clockselect. ( {CLOCKS[name]} {pipeline} )"


@pytest.mark.parametrize(
    ("sends", "reads"),
    at_length_but(
        [("realtime", "monotonic"), ("monotonic", "tai"), ("realtime", "tai")], ("realtime", "tai")
    ),
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


@pytest.mark.parametrize("levels", at_length_but(["GST_TRACER:7", "*:9"], "GST_TRACER:7"))
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
    at_length_but(
        [*itertools.product(["sink", "src"], LIMITS), ("sink", "--fsize=10240")],
        ("sink", "--nofile=24"),
        ("src", "--nofile=32"),
        ("src", "--memlock=0"),
        ("sink", "--as=300000000"),
        ("src", "--nproc=1"),
        ("sink", "--fsize=10240"),
    ),
)
def test_limits(cockpit: Cockpit, end: str, limit: str) -> None:
    """Under a limit a pipeline plays, or says what it lacks and ends: it never stands still."""
    under = ("prlimit", limit, "--")
    source = "gidsrc domain=open stream=movie is-live=false ! fakesink name=watch sync=false"
    if end == "src":
        sender = send(cockpit, ball(count=30))
        limited = Pipeline(cockpit, "cluster", source, "--video-meta", "1", under=under)
    else:
        sink = "gidsink name=sink stream=movie sync=false"
        limited = Pipeline(cockpit, "open", f"{ball(count=30)} ! {sink}", under=under)
    status = limited.wait()
    assert status == 0 or limited.errors() or limited.stderr
    if end == "src":
        assert status != 0 or len(limited.frames) == 30
        sender.stop()
