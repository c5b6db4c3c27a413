# SPDX-License-Identifier: MIT
"""Two domains of one guest: a film, and a camera's own dma-bufs, on a kernel of their own.

What only a guest has for certain is the kernel's virtual camera, vivid.
"""

from collections.abc import Iterator

import pytest
from domains import Domains, domains_of_a_guest
from gid_vm.guest import why_not

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def domains() -> Iterator[Domains]:
    with domains_of_a_guest() as domains:
        yield domains


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


@pytest.mark.parametrize("pixels", ["YUY2", "NV12", "I420"])
def test_a_cameras_own_dmabufs_arrive_without_a_copy(domains: Domains, pixels: str) -> None:
    domains.run("modprobe", "vivid")
    sent, received, stats = domains.transfer(
        "v4l2src device=/dev/video0 io-mode=dmabuf num-buffers=40 ! "
        f"video/x-raw,format={pixels},width=320,height=180",
        "camera/rear",
    )
    assert len(received) == 40
    assert {frame["memory_type"] for frame in sent + received} == {"dmabuf"}
    assert [frame["sum"] for frame in received] == [frame["sum"] for frame in sent]
    assert len({frame["sum"] for frame in sent}) > 10
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)


def test_a_camera_captures_into_our_memory(domains: Domains) -> None:
    """vivid writes each frame into the slot that is sent: `userptr` takes memory of any program."""
    domains.run("modprobe", "vivid")
    sent, received, stats = domains.transfer(
        "v4l2src device=/dev/video0 io-mode=userptr num-buffers=40 ! "
        "video/x-raw,format=BGRx,width=320,height=180",
        "camera/rear",
    )
    assert len(received) == 40
    assert [frame["sum"] for frame in received] == [frame["sum"] for frame in sent]
    assert len({frame["sum"] for frame in sent}) > 10
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)
    assert stats["slots-used"] > 0  # of ours, not of the driver's
