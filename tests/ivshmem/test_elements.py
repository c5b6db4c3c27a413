# SPDX-License-Identifier: MIT
"""GStreamer's elements between machines: as between domains of one, and as little is copied."""

import signal
import subprocess
from collections.abc import Callable

import pytest
from lib.cockpit import Cockpit
from lib.machines import CONFIG, start
from lib.pipeline import LOSSLESS, Pipeline, clip, decode, pairs, sums_of, watch
from lib.program import BUILD, wait_for
from lib.versions import check_h264_copies

SOURCE = (
    "videotestsrc pattern=ball num-buffers=40 ! "
    "video/x-raw,format=BGRx,width=640,height=360,framerate=50/1"
)


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG.replace("window=4M", "window=64M"))
    start(cockpit)
    return cockpit


@pytest.mark.parametrize("reader", ["host", "cluster"])
def test_pictures(machines: Cockpit, reader: str) -> None:
    expected = sums_of(machines, SOURCE)
    sender, receiver = pairs(machines, SOURCE, domain=reader)
    assert receiver.sums == expected and len(expected) == 40
    assert sender.stats("sink")["copied-frames"] == 0


def test_film(machines: Cockpit) -> None:
    """Decoded into the window, but for the frames before memory was negotiated."""
    expected = sums_of(machines, decode(clip()))
    sender, receiver = pairs(machines, decode(clip()), domain="host")
    assert receiver.sums == expected
    check_h264_copies(sender.stats("sink"), len(expected))


def test_memory_of_others_is_copied_once(machines: Cockpit) -> None:
    """What comes from another stream lies in slabs that this sink did not make."""
    expected = sums_of(machines, SOURCE)
    receiver = watch(machines, domain="host")
    relay = Pipeline(
        machines,
        "open",
        f"gidsrc domain=open stream=camera/rear ! gidsink name=sink stream=movie {LOSSLESS}",
    )
    sender = Pipeline(
        machines, "open", f"{SOURCE} ! gidsink name=sink stream=camera/rear {LOSSLESS}"
    )
    sender.finish()
    relay.finish()
    receiver.finish()
    assert receiver.sums == expected
    stats = relay.stats("sink")
    assert stats["dropped"] == 0
    assert stats["copy-reasons"] == {"other-machine": 40}


def test_memory_that_is_left_too_late(machines: Cockpit) -> None:
    """What upstream has in it is lost, which nobody else can tell."""
    source = SOURCE.replace("num-buffers=40", "is-live=true")
    sender = Pipeline(machines, "open", f"{source} ! gidsink name=sink stream=movie")
    receiver = watch(machines, domain="host")
    receiver.wait_frames(10)

    def slabs() -> list[str]:
        return [slab["gid"] for slab in machines.status("open")["slabs"] if slab["owner"]]

    for gid in slabs():
        sender.signal(signal.SIGSTOP)
        words = [BUILD / "tools" / "gidctl" / "gidctl", "revoke", "open", gid]
        subprocess.run(words, env=machines.env("host"), check=True)
        wait_for(lambda gid=gid: gid not in slabs(), "gidd to take it back")
        sender.signal(signal.SIGCONT)

    def warned() -> bool:
        return any("came too late" in str(line) for line in sender.lines("bus"))

    wait_for(warned, "a warning")
    seen = len(receiver.frames)
    receiver.wait_frames(seen + 10)
