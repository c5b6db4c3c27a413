#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bridges gid streams and iceoryx2: frames of one become frames of the other, copied once.

Usage: iceoryx2_bridge.py out [-d DOMAIN] STREAM SERVICE
       iceoryx2_bridge.py in SERVICE STREAM

It uses the message format of gst-plugin-iceoryx2, so it works with iceoryx2src, iceoryx2sink and
the readers and writers of that package, which must be installed: see docs/python.md.
"""

import argparse
import ctypes
import errno
import functools
import itertools
import signal
import sys
import time

import gid
import numpy as np

try:
    import iceoryx2
    from gst_iceoryx2.video import (
        HEADER_FLAG_EOS,
        VideoFrameHeader,
        VideoFrameSubscriber,
        create_node,
        create_notifier,
        open_video_service,
    )
except ModuleNotFoundError as error:
    sys.exit(f"iceoryx2_bridge.py: there is no {error.name}: docs/python.md says how it comes here")

# GStreamer's names of formats, which iceoryx2 frames use, and ours.
OURS = {
    "BGR": "RG24",
    "RGB": "BG24",
    "BGRx": "XR24",
    "RGBx": "XB24",
    "BGRA": "AR24",
    "RGBA": "AB24",
    "I420": "YU12",
    "NV12": "NV12",
    "GRAY8": "R8",
}
# Its readers in Python support no format of four bytes without alpha.
THEIRS = {ours: theirs for theirs, ours in OURS.items()} | {"XR24": "BGRA", "XB24": "RGBA"}
NO_TIME = 2**64 - 1
LOOK_EVERY = 200  # ms: how often signals are handled


@functools.lru_cache(16)
def complain(text: str) -> None:
    """Prints each message once."""
    print(text, file=sys.stderr)


def rows_of(plane: np.ndarray) -> np.ndarray:
    """The bytes of the plane, row by row."""
    return plane.reshape(plane.shape[0], -1)


# --- out: to iceoryx2 -----------------------------------------------------------------------------


def describe(frame: gid.Frame, planes: tuple[np.ndarray, ...]) -> tuple[VideoFrameHeader, int]:
    """The header of a picture, and its size in bytes; rows are aligned as in GStreamer."""
    header = VideoFrameHeader(dts=NO_TIME, duration=NO_TIME, n_planes=len(planes))
    header.format = THEIRS[frame.format].encode()
    header.height, header.width = planes[0].shape[:2]
    header.pts = NO_TIME if frame.pts is None else frame.pts
    header.duration = NO_TIME if frame.duration is None else frame.duration
    header.offset = frame.sequence
    size = 0
    for number, rows in enumerate(map(rows_of, planes)):
        header.stride[number] = -(-rows.shape[1] // 4) * 4
        header.plane_offsets[number] = size
        size += header.stride[number] * rows.shape[0]
    return header, size


def fill(address: int, header: VideoFrameHeader, planes: tuple[np.ndarray, ...]) -> None:
    for number, rows in enumerate(map(rows_of, planes)):
        stride, start = header.stride[number], address + header.plane_offsets[number]
        memory = (ctypes.c_uint8 * (stride * rows.shape[0])).from_address(start)
        np.frombuffer(memory, np.uint8).reshape(-1, stride)[:, : rows.shape[1]] = rows


def send_out(domain: gid.Domain, owner: str | None, stream: str, service: str) -> None:
    node = create_node()
    opened, notifier = open_video_service(node, service), create_notifier(node, service)
    publisher = None
    frames = itertools.chain.from_iterable(itertools.repeat(domain.consumer(stream, owner)))
    for frame in frames:  # over all flows of the stream
        if frame.format not in THEIRS:
            sys.exit(f"{stream} has {frame.format}, which is not of {', '.join(THEIRS)}")
        try:
            with frame as picture:
                planes = picture if isinstance(picture, tuple) else (picture,)
                header, size = describe(frame, planes)
                if publisher is None:
                    builder = opened.publisher_builder().initial_max_slice_len(size)
                    grows = iceoryx2.AllocationStrategy.PowerOfTwo
                    publisher = builder.allocation_strategy(grows).create()
                sample = publisher.loan_slice_uninit(size)
                fill(sample.payload_ptr, header, planes)
        except gid.LeaseError:
            continue  # reclaimed during the copy: a newer frame exists already
        ctypes.memmove(sample.user_header_ptr, ctypes.byref(header), ctypes.sizeof(header))
        sample.assume_init().send()
        notifier.notify()


# --- in: from iceoryx2 ----------------------------------------------------------------------------


def copy(planes: tuple[np.ndarray, ...], pixels: memoryview, header: VideoFrameHeader) -> None:
    """Raises TypeError or ValueError if the header describes more data than there is."""
    for number, plane in enumerate(planes):
        shape = rows_of(plane).shape
        strides = header.stride[number], 1
        start = header.plane_offsets[number]
        rows = np.ndarray(shape, np.uint8, pixels, start, strides)
        plane[...] = rows.reshape(plane.shape)


def make(domain: gid.Domain, stream: str, kind: tuple[str, int, int]) -> gid.Producer | None:
    """None: such pictures are not possible, or not permitted here."""
    try:
        return domain.producer(stream, *kind)
    except gid.GidError as error:
        if error.errno not in (errno.EINVAL, errno.EDQUOT, errno.ENOMEM):
            raise
        complain(f"{stream}: pictures of {kind}: {error}")
        return None


def bring_in(domain: gid.Domain, service: str, stream: str) -> None:
    subscriber = VideoFrameSubscriber(service)
    producer, kind = None, None
    while True:
        try:
            frame = subscriber.receive_blocking(block_ms=LOOK_EVERY)
        except iceoryx2.ListenerWaitError:  # as after a signal, whose handler raises now
            time.sleep(LOOK_EVERY / 1000)
            continue
        if frame is None:
            continue
        header = VideoFrameHeader.from_buffer_copy(frame.header)  # its writer can change it
        name = OURS.get(header.format.decode("latin-1"))
        ends = header.flags & HEADER_FLAG_EOS or name is None
        now = None if ends else (name, header.width, header.height)
        if now != kind:
            if producer is not None:
                producer.close()
            producer, kind = None if now is None else make(domain, stream, now), now
        if producer is None:
            continue
        slot = producer.slot(**{} if header.pts == NO_TIME else {"pts": header.pts})
        try:
            copy(slot.planes, frame.pixels, header)
        except (TypeError, ValueError) as error:
            slot.cancel()
            complain(f"{service}: a frame is not as its header says: {error}")
        else:
            slot.submit()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ways = parser.add_subparsers(dest="way", required=True)
    out = ways.add_parser("out", help="a stream to iceoryx2")
    out.add_argument("-d", "--domain", help="whose stream it is (default: our own)")
    out.add_argument("stream")
    out.add_argument("service")
    into = ways.add_parser("in", help="a service of iceoryx2 as a stream")
    into.add_argument("service")
    into.add_argument("stream")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that iceoryx2 cleans up
    with gid.Domain() as domain:
        try:
            if given.way == "out":
                send_out(domain, given.domain, given.stream, given.service)
            else:
                bring_in(domain, given.service, given.stream)
        except gid.GidError as error:
            sys.exit(f"iceoryx2_bridge: {error}")
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
