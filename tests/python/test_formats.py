# SPDX-License-Identifier: MIT
"""Every format: what GStreamer makes is what Python sees, and the other way round."""

import math
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import gi
import gid
import numpy as np
import pytest
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.pipeline import gst_env, make_registry

gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

# All of gidsink's, by their names in DRM, with what a sample is and how many stand side by side.
_FORMATS = {
    "BGRx": ("XR24", "u1", 4),
    "BGRA": ("AR24", "u1", 4),
    "RGBx": ("XB24", "u1", 4),
    "RGBA": ("AB24", "u1", 4),
    "xBGR": ("RX24", "u1", 4),
    "ABGR": ("RA24", "u1", 4),
    "xRGB": ("BX24", "u1", 4),
    "ARGB": ("BA24", "u1", 4),
    "BGR": ("RG24", "u1", 3),
    "RGB": ("BG24", "u1", 3),
    "RGB16": ("RG16", "u2", 1),
    "BGR16": ("BG16", "u2", 1),
    "RGB15": ("XR15", "u2", 1),
    "BGR15": ("XB15", "u2", 1),
    "BGR10A2_LE": ("AR30", "u4", 1),
    "RGB10A2_LE": ("AB30", "u4", 1),
    "BGRA64_LE": ("AR48", "u2", 4),
    "RGBA64_LE": ("AB48", "u2", 4),
    "GRAY8": ("R8", "u1", 1),
    "GRAY16_LE": ("R16", "u2", 1),
    "VUYA": ("AYUV", "u1", 4),
    "v308": ("VU24", "u1", 3),
    "Y410": ("Y410", "u4", 1),
    "Y412_LE": ("Y412", "u2", 4),
    "Y416_LE": ("Y416", "u2", 4),
    "YUY2": ("YUYV", "u1", 4),
    "YVYU": ("YVYU", "u1", 4),
    "UYVY": ("UYVY", "u1", 4),
    "VYUY": ("VYUY", "u1", 4),
    "Y210": ("Y210", "u2", 4),
    "Y212_LE": ("Y212", "u2", 4),
    "Y216_LE": ("Y216", "u2", 4),
    "NV12": ("NV12", "u1", 1),
    "NV21": ("NV21", "u1", 1),
    "NV16": ("NV16", "u1", 1),
    "NV61": ("NV61", "u1", 1),
    "NV24": ("NV24", "u1", 1),
    "P010_10LE": ("P010", "u2", 1),
    "P012_LE": ("P012", "u2", 1),
    "P016_LE": ("P016", "u2", 1),
    "YUV9": ("YUV9", "u1", 1),
    "YVU9": ("YVU9", "u1", 1),
    "Y41B": ("YU11", "u1", 1),
    "I420": ("YU12", "u1", 1),
    "YV12": ("YV12", "u1", 1),
    "Y42B": ("YU16", "u1", 1),
    "Y444": ("YU24", "u1", 1),
    "I420_10LE": ("S010", "u2", 1),
    "I422_10LE": ("S210", "u2", 1),
    "Y444_10LE": ("S410", "u2", 1),
    "I420_12LE": ("S012", "u2", 1),
    "I422_12LE": ("S212", "u2", 1),
    "Y444_12LE": ("S412", "u2", 1),
    "Y444_16LE": ("S416", "u2", 1),
    # From GStreamer 1.28 on.
    "BGR10x2_LE": ("XR30", "u4", 1),
    "RGB10x2_LE": ("XB30", "u4", 1),
}
_UNKNOWN = GstVideo.VideoFormat.UNKNOWN
FORMATS = {
    name: format
    for name, format in _FORMATS.items()
    if GstVideo.VideoFormat.from_string(name) != _UNKNOWN
}
WIDTH, HEIGHT = 68, 52


@pytest.fixture(scope="module")
def cockpit() -> Iterator[Cockpit]:
    cockpit = Cockpit(DEFAULT_CONFIG)
    cockpit.start_all()
    yield cockpit
    cockpit.close()


@pytest.fixture(scope="module")
def domain(cockpit: Cockpit) -> Iterator[gid.Domain]:
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        yield domain


def start(cockpit: Cockpit, text: str) -> subprocess.Popen[bytes]:
    text = text.replace("gidsink", "gidsink lease=60000")
    words = ["gst-launch-1.0", "-q", *text.split()]
    return subprocess.Popen(words, env=gst_env(cockpit.env("open"), make_registry()))


def end(program: subprocess.Popen[bytes]) -> None:
    program.kill()
    program.wait()


@cache
def video_info(name: str) -> GstVideo.VideoInfo:
    Gst.init(None)
    info = GstVideo.VideoInfo.new()
    info.set_format(GstVideo.VideoFormat.from_string(name), WIDTH, HEIGHT)
    return info


def rows_of(raw: bytes, name: str) -> list[np.ndarray]:
    """The bytes of each plane, by GStreamer's own account of where they lie, with their padding."""
    info = video_info(name)
    ends = [*list(info.offset)[1 : info.finfo.n_planes], len(raw)]
    planes = []
    for start_, end, stride in zip(info.offset, ends, info.stride, strict=False):
        planes.append(np.frombuffer(raw[start_:end], np.uint8).reshape(-1, stride))
    return planes


def as_bytes(plane: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(plane).view(np.uint8).reshape(plane.shape[0], -1)


def test_the_list_is_whole() -> None:
    """Of libgid's formats GStreamer has no names for the others."""
    listed = subprocess.run(
        ["gst-inspect-1.0", "gidsink"],
        env=gst_env({}, make_registry()) | {"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (line, *_) = [line for line in listed.splitlines() if "format: { (string)BGRx" in line]
    assert set(re.findall(r"\(string\)(\w+)", line)) == set(FORMATS)
    assert {name for name, _, _ in FORMATS.values()} <= set(gid.formats())


@pytest.mark.parametrize("name", FORMATS)
def test_there_and_back(cockpit: Cockpit, domain: gid.Domain, tmp_path: Path, name: str) -> None:
    drm, kind, side_by_side = FORMATS[name]
    caps = f"video/x-raw,format={name},width={WIDTH},height={HEIGHT},framerate=30/1"
    there, back = tmp_path / "there", tmp_path / "back"
    consumer = domain.consumer(f"there/{name}", "open")
    one = f"videotestsrc pattern=smpte-rp-219 num-buffers=1 ! {caps} ! filesink location={there}"
    assert start(cockpit, one).wait(300) == 0
    sender = start(
        cockpit,
        f"videotestsrc pattern=smpte-rp-219 is-live=true ! {caps} ! gidsink stream=there/{name}",
    )
    frame = consumer.frame(60)
    assert (frame.format, frame.width, frame.height) == (drm, WIDTH, HEIGHT)
    planes = frame.planes
    copy = [plane.copy() for plane in planes]
    assert frame.release()
    end(sender)
    check(copy, there.read_bytes(), name, kind, side_by_side)

    own = domain.producer(f"back/{name}", drm, WIDTH, HEIGHT, slots=4)
    receiver = start(
        cockpit,
        f"gidsrc domain=cluster stream=back/{name} num-buffers=1 ! video/x-raw,format={name} "
        f"! filesink location={back}",
    )
    while receiver.poll() is None:
        own.submit(copy if len(copy) > 1 else copy[0])
        try:
            receiver.wait(0.05)
        except subprocess.TimeoutExpired:
            pass
    assert receiver.returncode == 0
    own.close(drain=0)
    check(copy, back.read_bytes(), name, kind, side_by_side)


def check(planes: list[np.ndarray], raw: bytes, name: str, kind: str, side_by_side: int) -> None:
    expected = rows_of(raw, name)
    assert len(planes) == len(expected)
    assert planes[0].dtype == np.dtype(f"<{kind}")
    assert math.prod(planes[0].shape[2:]) == side_by_side
    for plane, rows in zip(planes, expected, strict=True):
        bytes_ = as_bytes(plane)
        assert np.array_equal(bytes_, rows[: bytes_.shape[0], : bytes_.shape[1]])
    assert len({row.tobytes() for row in planes[0]}) > 1  # not one row again and again
    assert np.unique(planes[0]).size > 3


def test_colours_are_where_the_document_says(cockpit: Cockpit, domain: gid.Domain) -> None:
    """Blue, green, red of XR24; 10 bits of brightness in the upper ones of P010."""
    for name, stream in (("BGRx", "red"), ("P010_10LE", "grey")):
        colour = "0xffff0000" if stream == "red" else "0xffffffff"
        sender = start(
            cockpit,
            f"videotestsrc pattern=solid-color foreground-color={colour} is-live=true ! "
            f"video/x-raw,format={name},width=64,height=48,framerate=30/1 ! "
            f"gidsink stream={stream}",
        )
        frame = domain.consumer(stream, "open").frame(60)
        if stream == "red":
            assert frame.picture[5, 5, :3].tolist() == [0, 0, 255]
        else:
            assert 940 <= frame.picture[0][5, 5] >> 6 <= 943
            assert ((frame.picture[1] >> 6).clip(512, 515) == frame.picture[1] >> 6).all()
        frame.release()
        end(sender)


def test_what_is_cropped_away_is_not_seen(cockpit: Cockpit, domain: gid.Domain) -> None:
    sender = start(
        cockpit,
        "videotestsrc pattern=smpte is-live=true ! "
        "video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! gidalloc ! "
        "videocrop left=20 top=10 right=100 bottom=30 ! gidsink stream=cropped",
    )
    with domain.consumer("cropped", "open").frame(60) as planes:
        assert [plane.shape for plane in planes] == [(200, 200), (100, 100), (100, 100)]
    end(sender)
