# SPDX-License-Identifier: MIT
"""Two domains of one guest: a film, and a camera's own dma-bufs, on a kernel of their own.

What only a guest has for certain is the kernel's virtual camera, vivid.
"""

import json
import os
from collections.abc import Iterator

import pytest
from gid_vm.agent import Command, Result
from gid_vm.guest import Guest, why_not
from pipeline import FRAMES, LOSSLESS, gst_env, make_registry
from program import BUILD

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(300),
]

CONFIG = """
[cockpit]
runtime=/run/gidway
[domain open]
number=1
[domain cluster]
number=2
[share open cluster]
streams=movie camera/*
"""
PATIENCE = 120  # a guest under TCG, beside other tests


class Domains:
    """The two domains in a guest."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        folders = ("gidd", "tools/gidctl", "tools/cockpit")
        path = ":".join([*(str(BUILD / folder) for folder in folders), os.environ["PATH"]])
        env = {"PATH": path, "GID_RUNTIME_DIR": "/run/gidway"}
        self.env = gst_env(env, make_registry())

    def run(self, *words: str, stdin: bytes = b"") -> Result:
        result = self.guest.run(list(words), timeout=PATIENCE, env=self.env, stdin=stdin)
        assert result.code == 0, f"{words}:\n{result.out[-3000:]}\n{result.err[-3000:]}"
        return result

    def start(self, domain: str, pipeline: str, *options: str) -> Command:
        words = [str(FRAMES), *options, pipeline]
        return self.guest.start(words, env=self.env | {"GID_DOMAIN": domain})

    def transfer(self, source: str, stream: str) -> tuple[list[dict], list[dict], dict]:
        """The frames that left the source, those that came, and the sink's statistics."""
        watch = f"gidsrc domain=open stream={stream} ! fakesink name=watch sync=false"
        receiver = self.start("cluster", watch, "--video-meta", "1")
        sink = f"identity name=watch ! gidsink name=sink stream={stream} {LOSSLESS}"
        sent = lines(self.start("open", f"{source} ! {sink}"))
        received = lines(receiver)
        stats = [line["fields"] for line in sent if line.get("name") == "gid-sink-stats"]
        return frames(sent), frames(received), stats[-1]


def lines(command: Command) -> list[dict]:
    result = command.wait(PATIENCE)
    assert result.code == 0, f"{result.out[-3000:]}\n{result.err[-3000:]}"
    return [json.loads(line) for line in result.out.splitlines()]


def frames(lines: list[dict]) -> list[dict]:
    return [line for line in lines if "frame" in line]


@pytest.fixture(scope="module")
def domains() -> Iterator[Domains]:
    with Guest("open") as guest:
        domains = Domains(guest)
        domains.run("sh", "-c", "cat > /run/cockpit.conf", stdin=CONFIG.encode())
        domains.run("gid-cockpit", "--config", "/run/cockpit.conf", "up")
        yield domains
        domains.run("gid-cockpit", "--config", "/run/cockpit.conf", "down")


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
