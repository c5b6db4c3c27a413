# SPDX-License-Identifier: MIT
"""Every frame arrives, bit by bit as its producer made it, with its caps and its flags."""

import itertools
import os
import re
import subprocess

import pytest
from lib.cockpit import Cockpit
from lib.length import at_length_but
from lib.pipeline import (
    clip,
    decode,
    film,
    frames_of,
    gst_env,
    pairs,
    send,
    sums_of,
    watch,
)
from lib.program import TOP, wait_for
from lib.versions import check_h264_copies, gstreamer_version, h264_is_decoded_in_place
from PIL import Image

# Where gidsrc itself runs late no frame waits as a copy: its patient producer does.
IN_TIME = "max-size-bytes=0"
IN_PLACE = ["h264", "mpeg4"] if h264_is_decoded_in_place() else ["mpeg4"]


def transfer(cockpit: Cockpit, source: str, **watching) -> tuple[dict, list[dict], list[str]]:
    """The sink's statistics, the frames received and the caps, when all frames were equal."""
    expected = sums_of(cockpit, source)
    sender, receiver = pairs(cockpit, source, **watching)
    assert receiver.sums == expected
    assert len(expected) > 10
    assert len(set(expected)) > 5, "frames that are all alike show nothing"
    return sender.stats("sink"), receiver.frames, receiver.caps


def test_film(cockpit: Cockpit) -> None:
    """avdec_h264's frames are sent where they were decoded, but for its first ones.

    Where it does not decode in place each is counted.
    """
    stats, frames, _ = transfer(cockpit, decode(clip()))
    assert len(frames) >= 132
    assert stats["copied-frames"] >= 1
    check_h264_copies(stats, len(frames))
    assert stats["dropped"] == 0


def test_memory_is_the_same_again_and_again(cockpit: Cockpit) -> None:
    stats, frames, _ = transfer(cockpit, decode(clip()), properties=IN_TIME)
    assert len({frame["memory"] for frame in frames}) <= stats["slots"] <= 32
    assert all(frame["read_only"] for frame in frames)


@pytest.mark.parametrize(
    ("pixels", "size"),
    at_length_but(
        itertools.product(
            ["I420", "NV12", "BGRx", "BGRA", "RGB16"],
            [(320, 240), (321, 241), (1366, 96), (1920, 120)],
        ),
        ("I420", (321, 241)),
        ("NV12", (1366, 96)),
        ("BGRx", (320, 240)),
        ("BGRA", (1920, 120)),
        ("RGB16", (321, 241)),
    ),
)
def test_formats(cockpit: Cockpit, pixels: str, size: tuple[int, int]) -> None:
    """Sources that write where they are asked to need no copy, whatever format and width."""
    stats, _, caps = transfer(
        cockpit,
        f"videotestsrc pattern=ball num-buffers=20 ! video/x-raw,format={pixels},"
        f"width={size[0]},height={size[1]},framerate=50/1",
    )
    assert stats["copied-frames"] == 0
    assert f"format=(string){pixels}" in caps[0]
    assert f"width=(int){size[0]}" in caps[0]


# Presets by their names, and what has none: range, matrix, transfer, primaries.
COLORIMETRY = ["bt601", "bt709", "smpte240m", "bt2020", "bt2020-10", "bt2100-pq", "bt2100-hlg"]
COLORIMETRY += ["1:4:7:1", "2:2:13:8", "1:3:16:12"]
HDR = (
    "mastering-display-info=(string)35400:14600:8500:39850:6550:2300:15635:16450:10000000:1,"
    "content-light-level=(string)1000:400"
)


@pytest.mark.parametrize(
    ("colorimetry", "way"),
    at_length_but(
        itertools.product(COLORIMETRY, ["in words", "by numbers"]),
        ("bt709", "in words"),
        ("bt2100-pq", "by numbers"),
        ("1:4:7:1", "in words"),
        ("2:2:13:8", "by numbers"),
    ),
)
def test_colours(cockpit: Cockpit, colorimetry: str, way: str) -> None:
    """Caps that are too long to travel come back from the slab's layout, colours and all."""
    long = f",note=(string){'x' * 2100}" if way == "by numbers" else f",{HDR}"
    stats, _, caps = transfer(
        cockpit,
        "videotestsrc pattern=ball num-buffers=20 ! video/x-raw,format=I420_10LE,width=320,"
        f"height=240,framerate=50/1,colorimetry={colorimetry}{long}",
    )
    assert stats["copied-frames"] == 0
    assert f"colorimetry=(string){colorimetry}" in caps[0].replace('"', "")
    assert ("note=" in caps[0]) is False
    assert ("mastering-display-info" in caps[0]) == (way == "in words")


@pytest.mark.parametrize(
    "pixels",
    at_length_but(
        ["BGR15", "RGB10A2_LE", "RGBA64_LE", "v308"]
        + ["P016_LE", "I420_10LE", "I422_12LE", "Y444_16LE"],
        "RGB10A2_LE",
        "v308",
        "P016_LE",
        "I422_12LE",
    ),
)
def test_formats_that_gstreamer_knows_no_fourcc_of(cockpit: Cockpit, pixels: str) -> None:
    stats, _, caps = transfer(
        cockpit,
        "videotestsrc pattern=ball num-buffers=20 ! videoconvert "
        f"! video/x-raw,format={pixels},width=322,height=242",
    )
    assert stats["copied-frames"] == 0
    assert f"format=(string){pixels}" in caps[0]


def test_manual_lists_the_formats(cockpit: Cockpit) -> None:
    """A younger GStreamer may map some more of libgid's."""
    inspected = subprocess.run(
        ["gst-inspect-1.0", "gidsink"],
        env=gst_env(dict(os.environ), cockpit.folder / "registry.bin"),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    offered = re.search(r"format: \{ (.*?) \}", inspected)
    assert offered
    manual = (TOP / "gst" / "gid-gstreamer.7.scd").read_text()
    listed = re.search(r"# FORMATS\n.*?:\n\n(.*?)\n\n", manual, re.DOTALL)
    assert listed
    formats = set(re.findall(r"\w+", offered[1].replace("(string)", "")))
    assert formats >= set(re.findall(r"\w+", listed[1].replace("\\_", "_")))
    if gstreamer_version() < (1, 27):
        assert formats <= set(re.findall(r"\w+", listed[1].replace("\\_", "_")))


@pytest.mark.parametrize("codec", at_length_but(IN_PLACE, IN_PLACE[0]))
def test_full_hd(cockpit: Cockpit, codec: str) -> None:
    """libav decodes 1080 lines into more, and says so in the layout."""
    stats, frames, _ = transfer(cockpit, decode(film(1920, 1080, codec=codec), codec))
    assert stats["copied-frames"] <= 4
    direct = frames[-1]
    assert direct["meta_height"] == 1080
    assert direct["offsets"][1] // direct["strides"][0] > 1080


@pytest.mark.parametrize(
    ("width", "height"),
    at_length_but(
        [(1366, 96), (854, 98), (1918, 78), (1080, 120), (322, 240)], (1366, 96), (854, 98)
    ),
)
def test_widths_that_decoders_pad(cockpit: Cockpit, width: int, height: int) -> None:
    """Exactly one copy of each frame, and it says why."""
    stats, frames, _ = transfer(cockpit, decode(film(width, height)))
    assert stats["copied-frames"] == len(frames)
    assert stats["copy-reasons"] == {"padded-width": len(frames)}


def test_decoder_with_memory_of_its_own(cockpit: Cockpit) -> None:
    stats, frames, _ = transfer(cockpit, decode(film(640, 360, codec="vp9"), "vp9"))
    assert stats["copied-frames"] == len(frames)
    assert stats["copied-bytes"] == len(frames) * 640 * 360 * 3 // 2
    assert stats["copy-reasons"] == {"upstream-memory": len(frames)}


def test_jpeg(cockpit: Cockpit) -> None:
    stats, _, _ = transfer(cockpit, decode(film(640, 360, codec="jpeg"), "jpeg"))
    assert stats["copied-frames"] == 0


def test_conversion(cockpit: Cockpit) -> None:
    """The conversion writes straight into the slab."""
    stats, _, _ = transfer(cockpit, f"{decode(clip())} ! videoconvert ! video/x-raw,format=BGRx")
    assert stats["copied-frames"] == 0


@pytest.mark.parametrize(
    "caps",
    [
        "format=I420,colorimetry=bt601,chroma-site=mpeg2",
        "format=NV12,colorimetry=bt2100-pq,pixel-aspect-ratio=4/3",
        "format=BGRx,framerate=24000/1001",
        "format=I420,framerate=0/1,max-framerate=30/1",
        "format=I420,interlace-mode=interleaved,field-order=top-field-first",
        "format=I420,multiview-mode=side-by-side",
    ],
)
def test_caps(cockpit: Cockpit, caps: str) -> None:
    """Caps arrive word by word."""
    source = (
        "videotestsrc pattern=ball num-buffers=12 ! video/x-raw,width=640,height=480 ! "
        f"capssetter replace=false caps=video/x-raw,{caps} ! video/x-raw,{caps}"
    )
    source = source.replace("height=480", f"height=480,{caps.split(',')[0]}")
    sender, receiver = pairs(cockpit, f"{source} ! identity name=watch")
    assert receiver.caps == sender.caps
    for word in caps.split(","):
        assert word.split("=")[0] in receiver.caps[0]


def test_pixels_of_no_shape(cockpit: Cockpit) -> None:
    """avidemux gives raw films of some recorders pixels of -1/1. Nothing else is forgotten."""
    source = (
        "videotestsrc pattern=ball num-buffers=12 ! video/x-raw,format=BGR,width=64,height=48,"
        "framerate=25/1 ! capssetter caps=video/x-raw,pixel-aspect-ratio=-1/1,note=kept"
    )
    _, _, caps = transfer(cockpit, source)
    assert "framerate=(fraction)25/1" in caps[0] and "note=(string)kept" in caps[0]


def test_interlaced_flags(cockpit: Cockpit) -> None:
    source = (
        "videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=I420,width=640,height=480,"
        "framerate=60/1 ! interlace field-pattern=2:3 ! identity name=watch"
    )
    sender, receiver = pairs(cockpit, source)
    fields = 0x100000 | 0x200000 | 0x400000 | 0x800000  # INTERLACED, TFF, RFF, ONEFIELD
    assert [f["flags"] & fields for f in receiver.frames] == [
        f["flags"] & fields for f in sender.frames
    ]
    assert len({f["flags"] & fields for f in sender.frames}) > 1
    assert receiver.sums == sender.sums
    assert "interlace-mode=(string)mixed" in receiver.caps[0]


def test_alternate_fields(cockpit: Cockpit) -> None:
    source = (
        "videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=I420,width=640,height=480 ! "
        "interlace ! video/x-raw(format:Interlaced),interlace-mode=alternate ! identity name=watch"
    )
    sender, receiver = pairs(cockpit, source)
    assert "format:Interlaced" in receiver.caps[0]
    assert receiver.caps == sender.caps
    assert receiver.sums == sender.sums


@pytest.mark.parametrize("takes_crop", [1, 2])
def test_crop(cockpit: Cockpit, takes_crop: int) -> None:
    """videocrop only marks what is to be seen, where downstream takes that."""
    source = (
        "videotestsrc pattern=ball num-buffers=20 ! video/x-raw,format=NV12,width=640,height=480 ! "
        "videocrop left=64 top=32 right=20 bottom=10"
    )
    expected = sums_of(cockpit, source)
    receiver = watch(cockpit, "", "", "--video-meta", str(takes_crop))
    sender = send(cockpit, source).finish()
    receiver.finish()
    assert receiver.sums == expected
    assert sender.stats("sink")["copied-frames"] == 0
    assert "width=(int)556" in receiver.caps[0]
    assert ("crop" in receiver.frames[0]) == (takes_crop == 2)


CROPPED = "videotestsrc pattern=ball num-buffers=12 ! video/x-raw,format=BGRx,width=320,height=240"
CROPS = ["videocrop left=32 top=64", "aspectratiocrop aspect-ratio=16/9"]


DRAWN = [
    "textoverlay text=gid valignment=top halignment=left",
    "gdkpixbufoverlay location={} offset-x=4 ! queue",
]


@pytest.mark.parametrize(
    ("drawn", "crop"),
    at_length_but(itertools.product(DRAWN, CROPS), *zip(DRAWN, CROPS, strict=True)),
)
def test_drawn_on_a_part(cockpit: Cockpit, drawn: str, crop: str) -> None:
    """It stands where it stands in front of any other sink."""
    mark = cockpit.folder / "mark.png"
    Image.new("RGB", (40, 30), "red").save(mark)
    source = f"{CROPPED} ! {crop} ! {drawn.format(mark)}"
    transfer(cockpit, source)


@pytest.mark.parametrize("drawn", DRAWN)
def test_drawn_on_a_part_that_came(cockpit: Cockpit, drawn: str) -> None:
    """Behind gidsrc, too, where the sink understands what a part is: what draws does not."""
    mark = cockpit.folder / "mark.png"
    Image.new("RGB", (40, 30), "red").save(mark)
    part, drawn = f"{CROPPED} ! {CROPS[0]}", drawn.format(mark)
    expected = sums_of(cockpit, f"{part} ! {drawn}")
    receiver = watch(cockpit, "", f"! {drawn}", "--video-meta", "2")
    send(cockpit, part).finish()
    assert receiver.finish().sums == expected


@pytest.mark.parametrize("before", [True, False])
def test_part_that_is_converted_later(cockpit: Cockpit, before: bool) -> None:
    """videoconvert passes on what a sink says as long as it has nothing to do, and then converts
    all of the picture. It may be before gidsink or behind gidsrc.
    """
    source = f"{CROPPED.replace('ball num-buffers=12', 'colors {}')} ! {CROPS[0]}"
    still, stream = source.format("num-buffers=1"), source.format("! identity sleep-time=10000")
    other = "video/x-raw,format=RGB16"
    (expected,) = sums_of(cockpit, f"{still} ! videoconvert ! {other}")
    convert = " ! videoconvert ! capsfilter name=form caps=video/x-raw"
    receiver = watch(cockpit, "", "" if before else convert, "--video-meta", "2")
    sender = send(cockpit, stream + convert * before)
    receiver.wait_frames(5)
    (sender if before else receiver).tell(f"set form caps {other}")
    wait_for(lambda: len(receiver.caps) > 1, "the other format")
    receiver.wait_frames(len(receiver.frames) + 20)
    first, *others = dict.fromkeys(receiver.sums)
    assert first != expected and others == [expected]
    sender.stop()


@pytest.mark.parametrize("between", ["queue ! identity", "gidalloc ! tee ! queue"])
def test_part_behind_what_leaves_it_as_it_is(cockpit: Cockpit, between: str) -> None:
    """Its maker need not copy it."""
    source = f"{CROPPED} ! {CROPS[0]} ! {between}"
    expected = sums_of(cockpit, source)
    receiver = watch(cockpit, "", "", "--video-meta", "2")
    send(cockpit, source).finish()
    assert receiver.finish().sums == expected
    assert all("crop" in frame for frame in receiver.frames)


@pytest.mark.parametrize("pixels", ["I420", "NV12"])
def test_crop_at_an_odd_place_to_the_end(cockpit: Cockpit, pixels: str) -> None:
    """What `watch` hashes ends with each plane: behind it are other colours, or no memory."""
    source = (
        "videotestsrc pattern=solid-color foreground-color=0xff2060c0 num-buffers=20 "
        f"! video/x-raw,format={pixels},width="
    )
    expected = sums_of(cockpit, f"{source}575,height=447")
    receiver = watch(cockpit, "", "", "--video-meta", "2")
    send(cockpit, f"{source}640,height=480 ! videocrop left=65 top=33").finish()
    assert receiver.finish().sums == expected
    assert receiver.frames[0]["crop"] == [65, 33, 575, 447]


@pytest.mark.parametrize(
    ("pixels", "takes_crop"),
    at_length_but(
        itertools.product(["I420", "NV12", "BGRx", "YUY2", "UYVY"], [1, 2]),
        ("I420", 1),
        ("NV12", 2),
        ("YUY2", 2),
    ),
)
def test_crop_in_the_middle_of_a_sample(cockpit: Cockpit, pixels: str, takes_crop: int) -> None:
    """Colours that pixels share cannot be cut in two; the brightness is exact."""
    source = (
        f"videotestsrc pattern=ball num-buffers=20 ! video/x-raw,format={pixels},"
        "width=640,height=480 ! videocrop left=65 top=33 right=20 bottom=10"
    )
    grey = "! videoconvert ! video/x-raw,format=GRAY8"
    expected = sums_of(cockpit, f"{source} {grey}")
    receiver = watch(cockpit, "", grey, "--video-meta", str(takes_crop))
    send(cockpit, source).finish()
    assert receiver.finish().sums == expected


@pytest.mark.parametrize("codec", IN_PLACE)
def test_downstream_without_video_meta(cockpit: Cockpit, codec: str) -> None:
    """Padded rows are copied away for elements that know one layout only, and it is counted."""
    source = decode(film(1920, 1080, codec=codec), codec)
    expected = frames_of(cockpit, source)
    receiver = watch(cockpit, IN_TIME, "", "--video-meta", "0", G_DEBUG="fatal-criticals")
    send(cockpit, source).finish()
    receiver.finish()
    assert receiver.sums == [frame["sum"] for frame in expected]
    assert [frame["media_time"] for frame in receiver.frames] == [f["pts"] for f in expected]
    assert {frame["size"] for frame in receiver.frames} == {1920 * 1080 * 3 // 2}
    copies = receiver.stats("src")
    assert copies["copy-reasons"] == {"plain-layout": copies["copied-frames"]}
    assert copies["copied-frames"] == len(expected)
