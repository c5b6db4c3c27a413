# SPDX-License-Identifier: MIT
"""Frames of gid streams become frames of others, and the other way round."""

import contextlib
import os
import sys
from pathlib import Path

import gid
import numpy as np
import pytest
from lib.cockpit import Cockpit
from lib.program import TOP, Program, wait_for
from pairs import stop

from bench.readers_ways import ICEORYX2
from scripts.pip_package import bring

# Of all users of a machine, and only who made them may use them: iceoryx2's own choice.
COMMON = [Path("/tmp/iceoryx2"), *Path("/dev/shm").glob("iox2_*global_mgmt")]
OTHERS = [path for path in COMMON if path.exists() and not os.access(path, os.W_OK)]
pytestmark = pytest.mark.skipif(
    len(OTHERS) > 0,
    reason=f"{', '.join(map(str, OTHERS))} of another user, who used iceoryx2 first",
)

BRIDGE = TOP / "python" / "bridges" / "iceoryx2_bridge.py"
# Tells what the package's own reader in Python has of a service.
READER = """
import sys
from gst_iceoryx2.video import VideoFrameSubscriber
subscriber = VideoFrameSubscriber(sys.argv[1])
print("ready", flush=True)
while (frame := subscriber.receive_blocking(100)) is None:
    pass
picture = frame.numpy_view()
print(frame.header.format_name, picture.shape, picture.min(), picture.max(), frame.header.pts)
"""
# Sends frames whose header says more than there is, or can be, and a good one, again and again.
LIAR = """
import sys, time
from gst_iceoryx2.video import FrameParams, VideoFramePublisher
publisher = VideoFramePublisher(sys.argv[1], max_bytes=64)
while True:
    for height in (9, 2**31, 4):
        params = FrameParams(4, height, "BGRA", stride0=16)
        publisher.publish_frame(bytes([height % 99]) * 64, params)
    time.sleep(0.02)
"""


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [bring(*package) for package in ICEORYX2.items()]
    if None in folders:
        pytest.skip(f"needs {' and '.join(ICEORYX2)} of PyPI, which pip cannot bring here")
    path = os.pathsep.join([*map(str, folders), *sys.path])
    monkeypatch.setenv("PYTHONPATH", path)


@pytest.fixture
def service() -> str:
    return f"test/{os.getpid()}"


def start(cockpit: Cockpit, domain: str, name: str, *words: str | Path) -> Program:
    return cockpit.run(domain, [sys.executable, *words], name)


@pytest.mark.parametrize("format", ["XR24", "RG24", "NV12", "YU12", "R8"])
def test_there_and_back(
    cockpit: Cockpit, packages: None, producer: gid.Domain, service: str, format: str
) -> None:
    """Of a size at which rows are padded on either side."""
    name = f"{service}/{format}"
    back = start(cockpit, "open", "in", BRIDGE, "in", name, "back")
    out = start(cockpit, "cluster", "out", BRIDGE, "out", "-d", "open", "camera", name)
    rng = np.random.default_rng(1)
    with gid.Domain(str(cockpit.socket("cluster"))) as reads:
        consumer = reads.consumer("back", "open", drop_old=True)
        with producer.producer("camera", format, 38, 22, lease=60.0) as camera:
            sent: dict[int, list[np.ndarray]] = {}

            def came() -> gid.Frame | None:
                pts = 1000 * (len(sent) + 1)
                with (slot := camera.slot(pts=pts)):
                    for plane in slot.planes:
                        plane[...] = rng.integers(0, 255, plane.shape)
                    sent[pts] = [plane.copy() for plane in slot.planes]
                try:
                    return consumer.frame(0.1)
                except gid.GidTimeoutError:
                    return None

            frame = wait_for(came, "a frame that went there and back")
            with frame:
                expected = {"XR24": "AR24"}.get(format, format)
                assert (frame.format, frame.width, frame.height) == (expected, 38, 22)
                for plane, before in zip(frame.planes, sent[frame.pts], strict=True):
                    assert (plane == before).all()
    stop(out, back)


def test_its_own_reader_sees_the_picture(
    cockpit: Cockpit, packages: None, producer: gid.Domain, service: str
) -> None:
    out = start(cockpit, "cluster", "out", BRIDGE, "out", "-d", "open", "camera", service)
    reader = start(cockpit, "cluster", "reader", "-c", READER, service)
    reader.wait_output("ready")
    with producer.producer("camera", "BG24", 20, 10, lease=60.0) as camera:

        def was_read() -> bool:
            with camera.slot(pts=7) as picture:
                picture[...] = 9
                picture[0, 0] = 3
            return not reader.is_running()

        wait_for(was_read, "the reader to have a picture")
    assert (reader.wait(), reader.stdout.splitlines()[-1]) == (0, "RGB (10, 20, 3) 3 9 7")
    stop(out)


def next_picture(consumer: gid.Consumer) -> gid.Frame:
    """Each other form of pictures ends the stream of those before."""
    while True:
        with contextlib.suppress(gid.EndOfStream):
            return consumer.frame(60)


def test_a_header_that_lies(
    cockpit: Cockpit, packages: None, producer: gid.Domain, service: str
) -> None:
    back = start(cockpit, "open", "in", BRIDGE, "in", service, "back")
    liar = start(cockpit, "open", "liar", "-c", LIAR, service)
    lies = ("a frame is not as its header says", "back: pictures of ('AR24', 4, 2147483648): ")
    with gid.Domain(str(cockpit.socket("cluster"))) as reads:
        consumer = reads.consumer("back", "open")
        with (frame := next_picture(consumer)) as picture:
            assert frame.height == 4 and (picture == 4).all()
        for lie in lies:  # the bridge may have come between them
            back.wait_output(lie)
        next_picture(consumer).release()  # the liar goes on
    assert [back.stderr.count(lie) for lie in lies] == [1, 1]
    stop(back)
    liar.kill()


def test_it_says_how_it_is_used(cockpit: Cockpit, packages: None) -> None:
    assert BRIDGE.read_text().count("\n") < 300
    program = start(cockpit, "open", "bridge", BRIDGE)
    assert program.wait() == 2 and "usage:" in program.stderr
