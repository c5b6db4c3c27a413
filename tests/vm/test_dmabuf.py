# SPDX-License-Identifier: MIT
"""Frames from their producer to the pixels on the screens of four renderers; nobody copies them.

In a guest, whose kernel has what that takes: udmabuf, a virtual camera, and no graphics card, so
that GL renderers run on the processor: surfaceless llvmpipe, which takes any dma-buf. YUV is taken
plane by plane: by Weston's renderer, and for wlroots by wlroots/yuv.c.
"""

from collections.abc import Iterator

import pytest
from frame_kinds import (
    CODEC_NAMES,
    SLOWLY,
    Kinds,
    chosen,
    codec_sources,
    guest_with_kinds,
    is_rgb,
    raw,
)
from gid_vm.own_kernel import why_no_kernel
from lib.length import at_length_but
from lib.pipeline import decode
from lib.pipeline import film as make_film
from lib.versions import h264_is_decoded_in_place

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(1800),
]

SCREENS = ["weston-gl", "weston-pixman", "gles2", "pixman"]
TOLERANCE = 1.0  # of 255, in any colour of any pixel: GL rounds, the reference does not


NAMES = ["memory-rgb", "memory-yuyv", "memory-nv12", "rgb", "nv12", "yuyv-odd", "film"]
NAMES += ["camera-BGRx", "camera-NV12", "camera-I420", "camera-YUY2", *CODEC_NAMES]
# Of memory and dma-bufs one of RGB each; of YUV one with two planes, which is shown again, one with
# three, of a driver, and one that is packed, with a row's end that only one display shows.
USUAL = ["memory-rgb", "rgb", "nv12", "yuyv-odd", "camera-I420"]


def case(name: str, source: str, pixels: str, width: int, height: int, **more: object) -> dict:
    shown = SCREENS if is_rgb(name) else ["weston-gl", "gles2"]
    said = {"screens": shown} | more
    return {
        "name": name,
        "source": source,
        "options": "dmabuf=true",
        "environment": {},
        "format": pixels,
        "width": width,
        "height": height,
        "tolerance": 0.0 if is_rgb(name) else TOLERANCE,
        "refused": [name for name in SCREENS if name not in said["screens"]],
        **said,
    }


def cases(kinds: Kinds) -> list[dict]:
    """Widths that are no multiple of 4 have strides that are not the width."""

    def test(pixels: str, width: int, height: int) -> tuple[str, str, int, int]:
        source = f"videotestsrc pattern=smpte is-live=true ! {raw(pixels, width, height)}"
        return f"{source},framerate=10/1", pixels, width, height

    def camera(pixels: str) -> tuple[str, str, int, int]:
        source = f"v4l2src device={kinds.camera} io-mode=dmabuf ! {raw(pixels, 320, 180)}"
        return source, pixels, 320, 180

    codec = "h264" if h264_is_decoded_in_place() else "mpeg4"
    film = f"{decode(make_film(320, 180, 300, codec), codec)} max-threads=1 ! {SLOWLY}"
    of_codecs = {} if kinds.codecs is None else codec_sources()
    return [
        case("memory-rgb", *test("BGRx", 322, 182), options=""),
        case("memory-yuyv", *test("YUY2", 322, 182), options="", screens=["weston-gl"]),
        case("memory-nv12", *test("NV12", 322, 242), options="", screens=[]),
        case("rgb", *test("BGRx", 322, 182)),
        case("nv12", *test("NV12", 322, 242), reuse="gles2"),
        # With half a block at the end of each row, which Weston's own GL does not show right.
        case("yuyv-odd", *test("YUY2", 323, 182), screens=["gles2"], refused=["pixman"]),
        case("film", film, "I420", 320, 180),
        *(case(f"camera-{name}", *camera(name)) for name in ("BGRx", "NV12", "I420", "YUY2")),
        *(case(name, *made, environment=kinds.codecs) for name, made in of_codecs.items()),
    ]


# As the compositors say it.
WAYS = {
    "weston-gl": {"memory": "shown", "rgb": "shown as a dma-buf", "yuv": "shown as a dma-buf"},
    "weston-pixman": {"memory": "shown", "rgb": "shown"},
    "gles2": {
        "memory": "read from memory",
        "rgb": "sampled from its dma-bufs",
        "yuv": "drawn from its dma-bufs",
    },
    "pixman": {"memory": "read from memory", "rgb": "read from memory"},
}


@pytest.fixture(scope="module")
def shown(request: pytest.FixtureRequest) -> Iterator[dict[str, dict]]:
    """What came of each case; all in one guest, one after the other."""
    with guest_with_kinds() as kinds:
        yield kinds.run("dmabufs.py", chosen(request, cases(kinds)))


def found(shown: dict[str, dict], name: str) -> dict:
    if name not in shown and name in CODEC_NAMES:
        pytest.skip("the drivers for codecs cannot be had here")
    return shown[name]


@pytest.mark.parametrize("name", at_length_but(NAMES, *USUAL))
def test_the_renderer_takes_the_memory_as_it_is(shown: dict[str, dict], name: str) -> None:
    for screen, seen in found(shown, name)["screens"].items():
        kind = "memory" if name.startswith("memory") else "rgb" if is_rgb(name) else "yuv"
        way = WAYS[screen][kind]
        assert way in seen["shown"] and set(seen["shown"]) <= {way, "revoked"}, (screen, seen)


@pytest.mark.parametrize("name", at_length_but(NAMES, *USUAL))
def test_its_pixels_are_those_of_the_frame(shown: dict[str, dict], name: str) -> None:
    for screen, seen in found(shown, name)["screens"].items():
        difference = seen["difference"]
        print(f"{name} on {screen}: {difference}")
        assert difference["largest"] <= (0 if is_rgb(name) else TOLERANCE), screen
        assert difference["colours"] > 1  # not a blank screen


@pytest.mark.parametrize(
    "name",
    at_length_but(
        [name for name in NAMES if not is_rgb(name)], *[name for name in USUAL if not is_rgb(name)]
    ),
)
def test_what_cannot_be_shown_is_said(shown: dict[str, dict], name: str) -> None:
    refused = found(shown, name)["refused"]
    assert "pixman" in refused
    for said in refused.values():
        assert "cannot show the stream's format" in said and "--convert" in said


@pytest.mark.parametrize("name", ["nv12"])
def test_other_pixels_in_the_same_memory(shown: dict[str, dict], name: str) -> None:
    again = shown[name]["again"]
    print(f"{name} on gles2, in buffers that were there before: {again}")
    assert again["largest"] <= TOLERANCE


@pytest.mark.parametrize("name", at_length_but(NAMES, *USUAL))
def test_nobody_copied_a_byte(shown: dict[str, dict], name: str) -> None:
    sink = found(shown, name)["sink"]
    # A decoder may have decoded its first frames before its memory was negotiated.
    before = sink["copy-reasons"].get("startup", 0)
    assert sink["copied-frames"] == before <= (8 if name == "film" else 0)
    assert sink["copy-reasons"].keys() <= {"startup"}
    for seen in shown[name]["screens"].values():
        assert seen["view"]["copied_frames"] <= before  # the producer says so with each frame
    if name != "stateless":  # of which the side that decodes says nothing of pixels
        assert shown[name]["sums"]  # each frame that came has the hash of one that left


def test_a_gl_client_without_gids(shown: dict[str, dict]) -> None:
    """Its own dma-bufs where a display takes them, and else the shared memory that EGL has."""
    by_dmabuf, by_memory = shown["map"]["dmabuf"], shown["map"]["memory"]
    taken = by_dmabuf.pop("weston-gl")
    assert taken["code"] == 0 and taken["difference"]["largest"] == 0
    assert taken["difference"]["colours"] > 4
    for seen in by_dmabuf.values():
        assert seen["code"] == 1 and "takes no dma-bufs" in seen["said"]
    for screen, seen in by_memory.items():
        print(f"the map in shared memory on {screen}: {seen['difference']}")
        assert seen["code"] == 0 and seen["difference"]["largest"] <= TOLERANCE, screen


def test_what_is_offered(shown: dict[str, dict]) -> None:
    """llvmpipe names YUV formats: whether it takes them as one image or not, they are drawn."""
    formats = shown["offers"]["formats"]
    shared, dmabuf = 1, 2
    assert formats["gles2"]["XR24"] == formats["pixman"]["XR24"] == shared | dmabuf
    semi_planar = {"NV12", "NV21", "NV16", "NV61", "NV24", "NV42", "P010", "P012", "P016"}
    yuv = semi_planar | {"YU12", "YV12", "YU16", "YV16", "YU24", "YV24"}
    assert {formats["gles2"].get(name) for name in yuv} == {dmabuf}
    assert not yuv & formats["pixman"].keys()
