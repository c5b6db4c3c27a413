# SPDX-License-Identifier: MIT
"""dma-bufs from their producer to the pixels on a GL renderer's screen, and nobody copies them.

In a guest, whose kernel has what that takes: udmabuf, a virtual camera, and no graphics card, so
that GL renderers run on the processor: surfaceless llvmpipe, which takes any dma-buf. YUV is taken
plane by plane: by Weston's renderer, and in gid-cluster by wlroots/yuv.c.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm.own_kernel import own_kernel, why_no_kernel
from pipeline import decode, make_registry
from pipeline import film as make_film
from program import BUILD
from versions import h264_is_decoded_in_place

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(800),
]

HERE = Path(__file__).parent
TOLERANCE = 1.0  # of 255, in any colour of any pixel: GL rounds, the reference does not


def case(name: str, source: str, pixels: str, width: int, height: int) -> dict:
    keys = ("name", "source", "format", "width", "height", "tolerance", "screens")
    rgb = pixels == "BGRx"
    rest = (0.0, ["gles2", "pixman"]) if rgb else (TOLERANCE, ["weston", "gles2"])
    return dict(zip(keys, (name, source, pixels, width, height, *rest), strict=True))


def raw(pixels: str, width: int, height: int) -> str:
    return f"video/x-raw,format={pixels},width={width},height={height}"


def cases() -> list[dict]:
    """Widths that are no multiple of 4 have strides that are not the width."""
    pattern = "videotestsrc pattern=smpte is-live=true"
    codec = "h264" if h264_is_decoded_in_place() else "mpeg4"
    # Slowly: it must not end before the slowest screen has shown some of it.
    film = f"{decode(make_film(320, 180, 300, codec), codec)} max-threads=1"
    film += " ! identity sleep-time=300000"
    camera = "v4l2src device=/dev/video0 io-mode=dmabuf"
    nv12 = f"{pattern} ! {raw('NV12', 322, 242)},framerate=10/1"
    return [
        case("film", film, "I420", 320, 180),
        case("nv12", nv12, "NV12", 322, 242) | {"reuse": "gles2"},
        case("camera-nv12", f"{camera} ! {raw('NV12', 320, 180)}", "NV12", 320, 180),
        case("camera-i420", f"{camera} ! {raw('I420', 320, 180)}", "I420", 320, 180),
        case("rgb", f"{pattern} ! {raw('BGRx', 322, 182)},framerate=10/1", "BGRx", 322, 182),
        case("camera-rgb", f"{camera} ! {raw('BGRx', 320, 180)}", "BGRx", 320, 180),
    ]


NAMES = ["film", "nv12", "camera-nv12", "camera-i420", "rgb", "camera-rgb"]

# As the compositors say it.
WAYS = {
    "weston": "shown as a dma-buf",
    "gles2": "drawn from its dma-bufs",
    "gles2 rgb": "sampled from its dma-bufs",
    "pixman rgb": "read from memory",
}


@pytest.fixture(scope="module")
def shown() -> Iterator[dict[str, dict]]:
    """What came of each case; all in one guest, one after the other."""
    lines = "".join(json.dumps(case) + "\n" for case in cases())
    of_tests = (str(HERE.parent / name) for name in ("common", "gst", "compositor"))
    folders = ":".join([*of_tests, str(HERE.parents[1] / "vm")])
    environment = {"PYTHONPATH": folders, "GIDWAY_BUILD": str(BUILD), "GIDWAY_PATIENCE": "180"}
    with own_kernel("open") as guest:
        assert guest.run(["modprobe", "vivid"]).code == 0
        command = guest.start(
            ["python3", str(HERE / "dmabufs.py"), str(make_registry())],
            env=environment,
            stdin=lines.encode(),
        )
        result = command.wait(720)
        answers = [json.loads(line) for line in result.out.splitlines()]
        assert result.code == 0, f"{result.err[-4000:]}\n{result.out}"
        yield {answer["name"]: answer for answer in answers}


@pytest.mark.parametrize("name", NAMES)
def test_the_renderer_takes_the_dmabufs_as_they_are(shown: dict[str, dict], name: str) -> None:
    for screen, found in shown[name]["screens"].items():
        way = WAYS[f"{screen} rgb" if name.endswith("rgb") else screen]
        assert way in found["shown"] and set(found["shown"]) <= {way, "revoked"}, found


@pytest.mark.parametrize("name", NAMES)
def test_its_pixels_are_those_of_the_frame(shown: dict[str, dict], name: str) -> None:
    for screen, found in shown[name]["screens"].items():
        difference = found["difference"]
        print(f"{name} on {screen}: {difference}")
        assert difference["largest"] <= (0 if name.endswith("rgb") else TOLERANCE)
        assert difference["colours"] > 1  # not a blank screen


def test_other_pixels_in_the_same_memory(shown: dict[str, dict]) -> None:
    again = shown["nv12"]["again"]
    print(f"nv12 on gles2, in buffers that were there before: {again}")
    assert again["largest"] <= TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_nobody_copied_a_byte(shown: dict[str, dict], name: str) -> None:
    sink = shown[name]["sink"]
    # A decoder may have decoded its first frames before its memory was negotiated.
    before = sink["copy-reasons"].get("startup", 0)
    assert sink["copied-frames"] == before <= (8 if name == "film" else 0)
    assert sink["copy-reasons"].keys() <= {"startup"}
    for found in shown[name]["screens"].values():
        assert found["view"]["copied_frames"] <= before  # the producer says so with each frame
    assert shown[name]["sums"]  # each frame that came has the hash of one that left


def test_a_safety_picture_in_dmabufs_is_live(shown: dict[str, dict]) -> None:
    roles = shown["lamp"]["roles"]
    assert roles["gles2"]["sampled_frames"] == roles["gles2"]["shown_frames"] > 0
    assert roles["pixman"]["sampled_frames"] == 0


def test_what_is_offered(shown: dict[str, dict]) -> None:
    """llvmpipe names YUV formats: whether it takes them as one image or not, they are drawn."""
    formats = shown["lamp"]["formats"]
    shared, dmabuf = 1, 2
    assert formats["gles2"]["XR24"] == formats["pixman"]["XR24"] == shared | dmabuf
    semi_planar = {"NV12", "NV21", "NV16", "NV61", "NV24", "NV42", "P010", "P012", "P016"}
    yuv = semi_planar | {"YU12", "YV12", "YU16", "YV16", "YU24", "YV24"}
    assert {formats["gles2"].get(name) for name in yuv} == {dmabuf}
    assert not yuv & formats["pixman"].keys()
