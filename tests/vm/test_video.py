# SPDX-License-Identifier: MIT
"""Two domains of one guest: a film, and the dma-bufs of a camera and of codecs, on its own kernel.

What only a guest has for certain are the kernel's virtual camera, vivid, its decoders, visl (which
keeps no state) and vicodec (which does), and its converter, vim2m.
"""

import copy
import itertools
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from domains import Domains, domains_of_a_guest
from drivers import CODECS, HEIGHT, WIDTH, environment_of_codecs, sources
from gid_vm.initramfs import CannotBoot
from gid_vm.own_kernel import why_no_kernel
from lib.length import at_length_but
from lib.pipeline import film, quoted

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def guest() -> Iterator[tuple[Domains, str]]:
    """One for all, and why it is without codecs, if it is."""
    with ExitStack() as stack:
        try:
            yield stack.enter_context(domains_of_a_guest(CODECS)), ""
        except CannotBoot as error:
            yield stack.enter_context(domains_of_a_guest()), str(error)


@pytest.fixture(scope="module")
def domains(guest: tuple[Domains, str]) -> Domains:
    return guest[0]


@pytest.fixture(scope="module")
def camera(domains: Domains) -> str:
    """vivid's first capture device: a decoder may come before it."""
    domains.run("modprobe", "vivid")
    command = "grep -l vivid-000-vid-cap /sys/class/video4linux/video*/name"
    (found,) = domains.run("sh", "-c", command).out.split()
    return f"/dev/{found.split('/')[-2]}"


@pytest.fixture(scope="module")
def codecs(guest: tuple[Domains, str]) -> Domains:
    """The same with GStreamer's elements for them."""
    domains, why_without = guest
    if why_without:
        pytest.skip(why_without)
    mine = copy.copy(domains)
    mine.env = domains.env | environment_of_codecs(domains.run)
    return mine


@pytest.mark.at_length
def test_300_frames_arrive_as_they_left_without_a_copy(domains: Domains) -> None:
    sent, received, stats = domains.transfer(
        "videotestsrc pattern=ball num-buffers=300 ! "
        "video/x-raw,format=I420,width=320,height=240,framerate=60/1",
        "movie",
    )
    assert len(received) == 300
    assert [frame["sum"] for frame in received] == [frame["sum"] for frame in sent]
    assert len({frame["sum"] for frame in sent}) > 100
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)
    assert stats["dropped"] == 0


def check_lent(domains: Domains, received: list[dict]) -> None:
    """A reader that is behind, as on a busy machine, copies what it holds, and counts it."""
    uncopied = [frame["memory_type"] == "dmabuf" for frame in received]
    assert any(uncopied)
    assert uncopied.count(False) <= domains.reader_stats["copied-frames"]


@pytest.mark.parametrize("pixels", at_length_but(["YUY2", "NV12", "I420"], "NV12"))
def test_a_cameras_own_dmabufs_arrive_without_a_copy(
    domains: Domains, camera: str, pixels: str
) -> None:
    sent, received, stats = domains.transfer(
        f"v4l2src device={camera} io-mode=dmabuf num-buffers=40 ! "
        f"video/x-raw,format={pixels},width=320,height=180",
        "camera/rear",
    )
    assert len(received) == 40
    # While the driver has few buffers left, on a busy machine, v4l2src itself copies out of them.
    own = [frame["memory_type"] == "dmabuf" for frame in sent]
    assert own.count(True) > 3
    lent = [frame for frame, is_own in zip(received, own, strict=True) if is_own]
    check_lent(domains, lent)
    assert stats["copied-frames"] == own.count(False)
    assert [frame["sum"] for frame in received] == [frame["sum"] for frame in sent]
    assert len({frame["sum"] for frame in sent}) > 10


def test_a_camera_captures_into_our_memory(domains: Domains, camera: str) -> None:
    """vivid writes each frame into the slot that is sent: `userptr` takes memory of any program."""
    sent, received, stats = domains.transfer(
        f"v4l2src device={camera} io-mode=userptr num-buffers=40 ! "
        "video/x-raw,format=BGRx,width=320,height=180",
        "camera/rear",
    )
    assert len(received) == 40
    assert [frame["sum"] for frame in received] == [frame["sum"] for frame in sent]
    assert len({frame["sum"] for frame in sent}) > 10
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)
    assert stats["slots-used"] > 0  # of ours, not of the driver's


def test_a_camera_captures_into_our_dmabufs(domains: Domains, camera: str) -> None:
    """As with `userptr`, into memory of /dev/udmabuf."""
    sent, received, stats = domains.transfer(
        f"v4l2src device={camera} io-mode=dmabuf-import num-buffers=40 ! "
        "video/x-raw,format=NV12,width=320,height=180",
        "camera/rear",
        "dmabuf=true",
    )
    assert len(received) == 40
    assert {frame["memory_type"] for frame in sent} == {"dmabuf"}
    check_lent(domains, received)
    assert [frame["sum"] for frame in received] == [frame["sum"] for frame in sent]
    assert len({frame["sum"] for frame in sent}) > 10
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)
    assert stats["slots-used"] > 0


def test_a_stateless_decoders_dmabufs_arrive_without_a_copy(codecs: Domains) -> None:
    """visl reads H.264 as hardware does. What it gives are notes about it, and not the film."""
    path = film(WIDTH, HEIGHT)
    sent, received, stats = codecs.transfer(
        f"filesrc location={quoted(path)} ! qtdemux ! h264parse ! v4l2slh264dec", "movie"
    )
    assert len(received) == len(sent) == 40
    assert {frame["memory_type"] for frame in sent} == {"dmabuf"}
    check_lent(codecs, received)
    # The decoder's side says nothing of pixels, as its caps say DMA_DRM.
    assert len({frame["sum"] for frame in received}) > 10
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)


@pytest.mark.parametrize(
    ("mode", "name"),
    at_length_but(
        itertools.product(["dmabuf", "dmabuf-import"], sources("")),
        ("dmabuf", "stateful decoder"),
        ("dmabuf-import", "converter"),
    ),
)
def test_a_codecs_dmabufs_arrive_without_a_copy(codecs: Domains, name: str, mode: str) -> None:
    """What is sent is what they made: in their own dma-bufs, or in those that gidsink gave them."""
    options = "dmabuf=true" if mode == "dmabuf-import" else ""
    sent, received, stats = codecs.transfer(sources(mode)[name], "movie", options)
    assert len(received) == len(sent) == 40
    assert {frame["memory_type"] for frame in sent} == {"dmabuf"}
    check_lent(codecs, received)
    assert [frame["sum"] for frame in received] == [frame["sum"] for frame in sent]
    assert len({frame["sum"] for frame in sent}) > 10
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)
