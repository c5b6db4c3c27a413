# SPDX-License-Identifier: MIT
"""What stands behind gidsrc: sinks that import memory, elements that write, and other senders."""

import os
from collections.abc import Iterator

import pytest
from lib.cockpit import Cockpit
from lib.length import at_length_but
from lib.pipeline import LOSSLESS, Pipeline, clip, decode, film, send, sums_of, watch
from lib.program import Program, wait_for


@pytest.fixture
def weston(cockpit: Cockpit) -> Iterator[str]:
    """A real Weston without a screen; gives the display's name."""
    runtime = cockpit.folder / "xdg"
    runtime.mkdir(mode=0o700)
    weston = Program(
        ["weston", "--backend=headless", "--renderer=pixman", "--socket=gid-test", "--no-config"],
        os.environ | {"XDG_RUNTIME_DIR": str(runtime)},
        cockpit.folder,
    )
    wait_for((runtime / "gid-test").exists, "Weston")
    yield str(runtime / "gid-test")
    weston.kill()


def test_wayland(cockpit: Cockpit, weston: str) -> None:
    """A compositor maps wl_shm for writing, so waylandsink gets memory that it will copy."""
    receiver = Pipeline(
        cockpit,
        "cluster",
        "gidsrc name=src domain=open stream=movie ! identity name=watch "
        f"! waylandsink display={weston} sync=false",
        "--video-meta",
        "0",
    )
    source = "videotestsrc num-buffers=60 ! video/x-raw,format=BGRx,width=320,height=240"
    send(cockpit, source).finish()
    receiver.finish()
    assert len(receiver.frames) == 60
    assert "Error communicating" not in receiver.stderr
    assert "wl_shm" not in receiver.stderr
    assert not receiver.frames[-1]["fd"]


def test_descriptors(cockpit: Cockpit) -> None:
    """Elsewhere it has a descriptor, that of its slab."""
    receiver = watch(cockpit, "max-size-bytes=0")  # which would copy where it runs late
    send(cockpit, decode(film(640, 360))).finish()
    receiver.finish()
    assert all(frame["fd"] and frame["read_only"] for frame in receiver.frames)
    assert len({frame["fd"] for frame in receiver.frames}) <= 4
    receiver = watch(cockpit, "fd-memory=false")
    send(cockpit, decode(film(640, 360))).finish()
    assert not any(frame["fd"] for frame in receiver.finish().frames)


def test_unixfd(cockpit: Cockpit) -> None:
    """unixfdsink hands the descriptors on as they are."""
    source = "videotestsrc pattern=ball num-buffers=60 ! video/x-raw,format=I420,width=640"
    expected = sums_of(cockpit, source)
    socket = cockpit.folder / "fd"
    relay = Pipeline(
        cockpit,
        "cluster",
        f"gidsrc domain=open stream=movie credit=8 ! identity name=watch "
        f"! unixfdsink socket-path={socket} sync=false wait-for-connection=true",
    )
    wait_for(socket.exists, "unixfdsink")
    receiver = Pipeline(cockpit, "cluster", f"unixfdsrc socket-path={socket} ! fakesink name=watch")
    send(cockpit, source).finish()
    relay.finish()
    receiver.finish()
    assert relay.sums == expected
    assert receiver.sums == expected


def test_elements_that_write(cockpit: Cockpit) -> None:
    """They write into memory of their own; what the producer sent stays as it is."""
    source = "videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=BGRx,width=320"
    expected = sums_of(cockpit, source)
    painted = sums_of(cockpit, f"{source} ! videobalance brightness=0.5")
    plain = watch(cockpit, "", "", "--video-meta", "1", "--hold", "3")
    painting = watch(cockpit, "", "! videobalance brightness=0.5", domain="open")
    for receiver in (plain, painting):
        receiver.wait_state("waiting")
    send(cockpit, source).finish()
    assert painting.finish().sums[-20:] == painted[-20:]
    assert plain.finish().sums[-20:] == expected[-20:]
    assert plain.lines("end")[0]["overwritten"] == 0


def since_first(frames: list[dict]) -> list[int]:
    return [frame["pts"] - frames[0]["pts"] for frame in frames]


@pytest.mark.parametrize("which", at_length_but(["real", "made"], "made"))
def test_encode_again(cockpit: Cockpit, which: str) -> None:
    """A film across domains and into a file: every frame, as far from the first as it was.

    The first frame's own time is not its film's alone: behind B-frames decoders start later.
    """
    source = clip() if which == "real" else film(1280, 720, 132)
    path = cockpit.folder / "copy.mp4"
    recorder = Pipeline(
        cockpit,
        "cluster",
        "gidsrc domain=open stream=movie is-live=false ! x264enc speed-preset=ultrafast qp-max=0 "
        f"! h264parse ! mp4mux ! filesink location={path}",
    )
    sender = send(cockpit, f"{decode(source)} ! identity name=watch", LOSSLESS)
    sender.finish()
    recorder.finish()
    copy = Pipeline(cockpit, "open", f"{decode(path)} ! fakesink name=watch").finish()
    # to the nanosecond by which 30 frames a second do not come out even
    assert since_first(copy.frames) == pytest.approx(since_first(sender.frames), abs=2, rel=0)
