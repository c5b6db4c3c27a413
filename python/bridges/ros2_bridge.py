#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bridges gid streams and topics of ROS 2, of type sensor_msgs/msg/Image.

Usage: ros2_bridge.py out [-d DOMAIN] [--frame-id NAME] STREAM TOPIC [--ros-args …]
       ros2_bridge.py in [--reliable] TOPIC STREAM [--ros-args …]

It needs rclpy and sensor_msgs, from an installed ROS 2 or from PyPI.
"""

import argparse
import array
import errno
import functools
import sys
import time

import gid
import numpy as np

try:
    import rclpy
    from builtin_interfaces.msg import Time
    from rclpy.executors import ExternalShutdownException
    from rclpy.node import Node
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import Image
except ModuleNotFoundError as error:
    sys.exit(f"ros2_bridge.py: there is no {error.name}: docs/python.md says how it comes here")

# Encodings of ROS 2 images, and our formats.
OURS = {
    "rgb8": "BG24",
    "bgr8": "RG24",
    "rgba8": "AB24",
    "bgra8": "AR24",
    "mono8": "R8",
    "mono16": "R16",
    "yuv422": "UYVY",
    "yuv422_yuy2": "YUYV",
}
# ROS 2 has no encoding of four bytes without alpha: the fourth byte is dropped.
THEIRS = {ours: theirs for theirs, ours in OURS.items()} | {"XR24": "bgr8", "XB24": "rgb8"}
# Aliases of some encodings.
OURS |= {"8UC1": "R8", "8UC3": "RG24", "8UC4": "AR24", "16UC1": "R16", "uyvy": "UYVY"}
OURS |= {"yuyv": "YUYV"}
LOOK_EVERY = 0.2  # s: how often signals are handled
DEPTH = 2  # the queue for a slow reader, in images


@functools.lru_cache(16)
def complain(text: str) -> None:
    """Prints each message once."""
    print(text, file=sys.stderr)


def since_epoch() -> int:
    """The offset in ns from our times to those of ROS 2."""
    return time.time_ns() - time.monotonic_ns()


# --- out: to ROS 2 --------------------------------------------------------------------------------


def describe(frame: gid.Frame, picture: np.ndarray, frame_id: str) -> Image:
    if frame.format in ("XR24", "XB24"):
        picture = picture[..., :3]
    # A producer may say that its picture is of the far future, for which ROS 2 has no time.
    at = min(frame.capture_time or frame.submit_time, time.monotonic_ns()) + since_epoch()
    image = Image(encoding=THEIRS[frame.format], is_bigendian=sys.byteorder == "big")
    image.header.stamp = Time(sec=at // 10**9, nanosec=at % 10**9)
    image.header.frame_id = frame_id
    image.height, image.step = picture.shape[0], picture.nbytes // picture.shape[0]
    image.width = picture.shape[1] * (2 if frame.format in ("UYVY", "YUYV") else 1)
    image.data = array.array("B", picture.tobytes())
    return image


def send_out(node: Node, consumer: gid.Consumer, topic: str, frame_id: str) -> None:
    # Reliable, which suits both reliable and best-effort readers.
    publisher = node.create_publisher(Image, topic, QoSProfile(depth=DEPTH))
    while rclpy.ok():
        try:
            frame = consumer.frame(LOOK_EVERY)
            if frame.format not in THEIRS:
                sys.exit(f"{frame!r} is not of {', '.join(THEIRS)}")
            with frame as picture:
                image = describe(frame, picture, frame_id)
        except (gid.GidTimeoutError, gid.EndOfStream, gid.LeaseError):
            continue  # the next flow, or the frame after one that was reclaimed
        publisher.publish(image)


# --- in: from ROS 2 -------------------------------------------------------------------------------


def copy(plane: np.ndarray, image: Image) -> None:
    """Raises TypeError or ValueError if the message describes more data than there is."""
    shape = plane.reshape(plane.shape[0], -1).shape
    order = ">" if image.is_bigendian else "<"
    samples = plane.dtype.newbyteorder(order)
    rows = np.ndarray(shape, samples, image.data, 0, (image.step, samples.itemsize))
    plane[...] = rows.reshape(plane.shape)


def make(domain: gid.Domain, stream: str, kind: tuple[str, int, int]) -> gid.Producer | None:
    """None: such images are not possible, or not permitted here."""
    try:
        return domain.producer(stream, OURS[kind[0]], *kind[1:])
    except KeyError:
        complain(f"{stream}: images of {kind[0]!r}: none of {', '.join(OURS)}")
    except gid.GidError as error:
        if error.errno not in (errno.EINVAL, errno.EDQUOT, errno.ENOMEM):
            raise
        complain(f"{stream}: images of {kind}: {error}")
    return None


class Incoming:
    """The stream for a topic's images, whose size and encoding may change."""

    def __init__(self, domain: gid.Domain, stream: str) -> None:
        self.domain, self.stream = domain, stream
        self.producer: gid.Producer | None = None
        self.kind: tuple[str, int, int] | None = None

    def take(self, image: Image) -> None:
        kind = (image.encoding[:32], image.width, image.height)
        if kind != self.kind:
            if self.producer is not None:
                self.producer.close()
            self.producer, self.kind = make(self.domain, self.stream, kind), kind
        if self.producer is None:
            return
        stamp = image.header.stamp.sec * 10**9 + image.header.stamp.nanosec - since_epoch()
        # The clock of another machine may be wrong, and recordings have old times.
        is_now = 0 <= time.monotonic_ns() - stamp < 10 * 10**9
        slot = self.producer.slot(**{"capture_time": stamp} if is_now else {})
        try:
            copy(slot.planes[0], image)
        except (TypeError, ValueError) as error:
            slot.cancel()
            complain(f"{self.stream}: an image is not as its message says: {error}")
        else:
            slot.submit()


def bring_in(node: Node, domain: gid.Domain, topic: str, stream: str, reliable: bool) -> None:
    # A best-effort reader accepts both kinds of writers.
    wanted = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
    quality = QoSProfile(depth=DEPTH, reliability=wanted)
    node.create_subscription(Image, topic, Incoming(domain, stream).take, quality)
    rclpy.spin(node)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ways = parser.add_subparsers(dest="way", required=True)
    out = ways.add_parser("out", help="a stream to ROS 2")
    out.add_argument("-d", "--domain", help="whose stream it is (default: our own)")
    out.add_argument("--frame-id", default="", help="of the messages (default: the stream)")
    out.add_argument("stream")
    out.add_argument("topic")
    into = ways.add_parser("in", help="a topic of ROS 2 as a stream")
    into.add_argument("--reliable", action="store_true", help="of a writer that is, lose nothing")
    into.add_argument("topic")
    into.add_argument("stream")
    given = parser.parse_args(rclpy.utilities.remove_ros_args(sys.argv)[1:])
    rclpy.init()  # from now on SIGINT and SIGTERM also end spin() and ok()
    try:
        with gid.Domain() as domain:
            node = Node("gid_bridge")
            if given.way == "out":
                consumer = domain.consumer(given.stream, given.domain, drop_old=True)
                send_out(node, consumer, given.topic, given.frame_id or given.stream)
            else:
                bring_in(node, domain, given.topic, given.stream, given.reliable)
    except gid.GidError as error:
        sys.exit(f"ros2_bridge: {error}")
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == "__main__":
    main()
