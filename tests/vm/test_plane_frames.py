# SPDX-License-Identifier: MIT
"""Every kind of frame as a role on a plane of its own, by Weston's forwarding: vkms in a guest."""

import pytest
from frame_kinds import CODEC_NAMES, Kinds, chosen, codec_sources, guest_with_kinds, is_rgb, raw
from gid_vm.own_kernel import why_no_kernel
from lib.length import at_length_but

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(1800),
]

SIZE = (320, 180)
NAMES = ["memory-rgb", "memory-yuyv", "memory-nv12", "rgb", "nv12"]
NAMES += ["camera-BGRx", "camera-NV12", "camera-YUY2", *CODEC_NAMES, "map"]
# Each way to a plane: copied, copied when it was converted, and itself; with a client of GL.
USUAL = ["memory-rgb", "memory-nv12", "rgb", "camera-NV12", "map"]
DIRECT = {"rgb", "camera-BGRx", "map"}  # RGB in dma-bufs: on the plane themselves


def case(name: str, source: str, pixels: str, options: str = "dmabuf=true", **more: object) -> dict:
    keys = {"name": name, "source": source, "format": pixels, "options": options}
    return keys | {"environment": {}, "width": SIZE[0], "height": SIZE[1]} | more


def cases(kinds: Kinds) -> list[dict]:
    def test(pixels: str) -> tuple[str, str]:
        source = f"videotestsrc pattern=smpte is-live=true ! {raw(pixels, *SIZE)},framerate=10/1"
        return source, pixels

    every = [
        case("memory-rgb", *test("BGRx"), options=""),
        case("memory-yuyv", *test("YUY2"), options=""),
        case("rgb", *test("BGRx")),
        case("nv12", *test("NV12")),
    ]
    for pixels in ("BGRx", "NV12", "YUY2"):
        source = f"v4l2src device={kinds.camera} io-mode=dmabuf ! {raw(pixels, *SIZE)}"
        every.append(case(f"camera-{pixels}", source, pixels))
    of_codecs = {} if kinds.codecs is None else codec_sources()
    for name, (source, pixels, width, height) in of_codecs.items():
        # Cropped by what goes with each frame: nobody copies.
        crop = f"videocrop right={width - SIZE[0]} bottom={height - SIZE[1]}"
        more = {"environment": kinds.codecs, "width": width, "height": height}
        every.append(case(name, f"{source} ! {crop}", pixels, **more))
    return [*every, case("map", "", "BGRx")]


@pytest.fixture(scope="module")
def shown(request: pytest.FixtureRequest) -> dict[str, dict]:
    with guest_with_kinds("vkms enable_overlay=1") as kinds:
        return kinds.run("plane_frames.py", chosen(request, cases(kinds)))


def found(shown: dict[str, dict], name: str) -> dict:
    if name not in shown and name in CODEC_NAMES:
        pytest.skip("the drivers for codecs cannot be had here")
    return shown[name]


def is_red_green_blue(name: str) -> bool:
    return is_rgb(name) or name == "map"


@pytest.mark.parametrize("name", at_length_but(NAMES, *USUAL))
def test_the_controller_shows_it(shown: dict[str, dict], name: str) -> None:
    """Its checksum is that of the composed picture, whose pixels are the frame's."""
    seen = found(shown, name)
    print(f"{name}: {seen['difference']}, {seen['role']}")
    assert seen["difference"]["largest"] <= (0 if is_red_green_blue(name) else 1)
    assert seen["difference"]["colours"] > 1
    assert seen["role"]["differed"] == 0, "of what the writeback has read back"


@pytest.mark.parametrize("name", at_length_but(NAMES, *USUAL))
def test_what_is_copied(shown: dict[str, dict], name: str) -> None:
    """To the plane, once, unless it is shown itself; YUV is converted before. Nobody else does."""
    seen = found(shown, name)
    role = seen["role"]
    assert (role["converted_frames"] == 0) == is_red_green_blue(name)
    if name in DIRECT:
        assert role["plane_direct"] > 0
        # The fallback, and more only where a busy host has the device write too late.
        assert role["plane_copies"] <= 1 or seen["read_back_failed"] >= 3
    else:
        assert 0 < role["plane_copies"] <= role["shown_frames"] and role["plane_direct"] == 0
    if name != "memory-nv12":
        assert seen["counts"]["copied_frames"] == 0
    if "sink" in seen:
        assert seen["sink"]["copied-frames"] == 0
