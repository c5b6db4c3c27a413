# SPDX-License-Identifier: MIT
"""Frames of gid streams become images of ROS 2, and the other way round: what is on the wire."""

import hashlib
import json
import os
import sys
import time
from pathlib import Path

import gid
import numpy as np
import pytest
from lib.cockpit import Cockpit
from lib.program import TOP, Program, wait_for
from pairs import stop

BRIDGE = TOP / "python" / "bridges" / "ros2_bridge.py"
# 160 MB, of which a test should not bring any by itself.
ROS = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gidway" / "ros2"
PACKAGES = "'ros-rclpy[fastrtps]==9.1.2' ros-sensor-msgs==5.5.1"
# Of the Python whose modules are there: another release of Debian has another one.
PYTHON = ROS / "bin" / "python{}.{}".format(*sys.version_info)
pytestmark = pytest.mark.skipif(
    not PYTHON.exists(),
    reason=f"no rclpy: in ./run shell: python3 -m venv --system-site-packages --without-pip {ROS}"
    f" && pip --python {PYTHON} install {PACKAGES}",
)
# Tells what a node has of a topic.
READER = """
import hashlib, json, rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image
def hear(image):
    stamp = image.header.stamp
    said = {"at": stamp.sec + stamp.nanosec / 1e9, "frame": image.header.frame_id}
    said |= {name: getattr(image, name) for name in ("height", "width", "encoding", "step")}
    said |= {"big": image.is_bigendian, "data": hashlib.sha256(image.data).hexdigest()}
    print(json.dumps(said), flush=True)
rclpy.init()
node = Node("reader")
node.create_subscription(Image, "/camera/image_raw", hear, qos_profile_sensor_data)
rclpy.spin(node)
"""
# Sends the images of its argument in turn, whose data count from 0, again and again.
WRITER = """
import array, itertools, json, rclpy, sys
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image
rclpy.init()
node = Node("writer")
publisher = node.create_publisher(Image, "/camera/image_raw", qos_profile_sensor_data)
images = itertools.cycle(json.loads(sys.argv[1]))
def send():
    height, width, encoding, big, step, size = next(images)
    image = Image(height=height, width=width, encoding=encoding, is_bigendian=big, step=step)
    image.header.stamp = node.get_clock().now().to_msg()
    image.data = array.array("B", (number % 251 for number in range(size)))
    publisher.publish(image)
node.create_timer(0.1, send)
rclpy.spin(node)
"""


@pytest.fixture(autouse=True)
def ros(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A domain of ROS for this machine alone."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))


def start(cockpit: Cockpit, domain: str, name: str, *words: str | Path) -> Program:
    return cockpit.run(domain, [PYTHON, *words], name)


WIDTH, HEIGHT = 38, 22  # rows of slots are padded


@pytest.mark.parametrize(
    ("format", "encoding"),
    [
        *[("BG24", "rgb8"), ("RG24", "bgr8"), ("AB24", "rgba8"), ("XR24", "bgr8")],
        *[("R8", "mono8"), ("R16", "mono16"), ("YUYV", "yuv422_yuy2")],
    ],
)
def test_a_stream_is_a_topic(
    cockpit: Cockpit, producer: gid.Domain, format: str, encoding: str
) -> None:
    words = ("out", "-d", "open", "--frame-id", "front", "camera", "/camera/image_raw")
    out = start(cockpit, "cluster", "out", BRIDGE, *words)
    reader = start(cockpit, "cluster", "reader", "-c", READER)
    rng = np.random.default_rng(1)
    with producer.producer("camera", format, WIDTH, HEIGHT, lease=60.0) as camera:
        (slot := camera.slot()).cancel()
        shape, kind = slot.planes[0].shape, slot.planes[0].dtype
        pixels = rng.integers(0, np.iinfo(kind).max, shape, kind, endpoint=True)

        def came() -> list[str]:
            camera.submit(pixels)
            time.sleep(0.05)
            return reader.stdout.splitlines()

        said = json.loads(wait_for(came, lambda: f"an image: {out.stderr} {reader.stderr}")[-1])
    expected = np.ascontiguousarray(pixels[..., :3] if format == "XR24" else pixels)
    assert 0 <= time.time() - said.pop("at") < 600
    assert said == {
        **{"frame": "front", "height": HEIGHT, "width": WIDTH, "encoding": encoding, "big": 0},
        **{"step": expected.nbytes // HEIGHT, "data": hashlib.sha256(expected).hexdigest()},
    }
    stop(out)


def test_a_picture_of_the_far_future(cockpit: Cockpit, producer: gid.Domain) -> None:
    """Its producer says so. It is of now, and the bridge goes on."""
    words = ("out", "-d", "open", "camera", "/camera/image_raw")
    out = start(cockpit, "cluster", "out", BRIDGE, *words)
    reader = start(cockpit, "cluster", "reader", "-c", READER)
    with producer.producer("camera", "R8", WIDTH, HEIGHT, lease=60.0) as camera:
        pixels = np.zeros((HEIGHT, WIDTH), np.uint8)

        def came() -> list[str]:
            camera.submit(pixels, capture_time=2**63 - 1)
            time.sleep(0.05)
            return reader.stdout.splitlines()

        said = json.loads(wait_for(came, lambda: f"an image: {out.stderr} {reader.stderr}")[-1])
    assert 0 <= time.time() - said["at"] < 600
    stop(out)


def test_what_ros_has_no_word_for(cockpit: Cockpit, producer: gid.Domain) -> None:
    out = start(cockpit, "cluster", "out", BRIDGE, "out", "-d", "open", "camera", "/camera")
    with producer.producer("camera", "NV12", WIDTH, HEIGHT, lease=60.0) as camera:
        camera.slot().submit()
        assert out.wait() == 1
    assert "NV12 38x22, held> is not of BG24, RG24, " in out.stderr


def test_a_topic_is_a_stream(cockpit: Cockpit) -> None:
    """Of samples of two bytes, highest first, in rows that are longer than the picture is wide."""
    back = start(cockpit, "open", "in", BRIDGE, "in", "/camera/image_raw", "back")
    image = (3, 5, "16UC1", 1, 12, 36)
    start(cockpit, "open", "writer", "-c", WRITER, json.dumps([image]))
    with gid.Domain(str(cockpit.socket("cluster"))) as reads:
        with (frame := reads.consumer("back", "open").frame(60)) as picture:
            assert (frame.format, frame.width, frame.height) == ("R16", 5, 3)
            rows = np.arange(36, dtype=np.uint8).reshape(3, 12)[:, :10].copy()
            assert (picture == rows.view(">u2")).all()
            assert 0 <= time.monotonic_ns() - frame.capture_time < 60 * 10**9
    stop(back)


def test_messages_that_lie(cockpit: Cockpit) -> None:
    back = start(cockpit, "open", "in", BRIDGE, "in", "/camera/image_raw", "back")
    images = [
        *[(9, 4, "bgra8", 0, 16, 64), (4, 4, "bgra8", 0, 2**31, 64)],
        *[(2**31, 4, "bgra8", 0, 16, 64), (0, 0, "bgra8", 0, 0, 0), (4, 4, "x" * 9000, 0, 4, 64)],
        (4, 4, "bgra8", 0, 16, 64),
    ]
    start(cockpit, "open", "liar", "-c", WRITER, json.dumps(images))
    with gid.Domain(str(cockpit.socket("cluster"))) as reads:
        consumer = reads.consumer("back", "open", drop_old=True)

        def came() -> list[int]:
            try:
                return consumer.frame(1).copy().flatten().tolist()
            except (gid.EndOfStream, gid.GidTimeoutError, gid.LeaseError):
                return []

        assert wait_for(came, "a picture of the message that is true") == [*range(64)]
    for words in ("an image is not as its message says", "2147483648): ", "0, 0): ", "'xxxx"):
        wait_for(lambda words=words: words in back.stderr, lambda: back.stderr)
    assert len(max(back.stderr.splitlines(), key=len)) < 300
    stop(back)


def test_it_says_how_it_is_used(cockpit: Cockpit) -> None:
    assert BRIDGE.read_text().count("\n") < 300
    program = start(cockpit, "open", "bridge", BRIDGE)
    assert program.wait() == 2 and "usage:" in program.stderr
