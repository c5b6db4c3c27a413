# SPDX-License-Identifier: MIT
"""Keeps the pictures of a virtual display mapped in the kernel, as long as it lives.

vkms maps each picture that it shows, and forgets it with the next one: 300 pages at 640x480. In
User-mode Linux that is a system call of the host for each page, and 16,000 of them are saved up
until all other work waits for 16 ms. A display of hardware reads memory and maps nothing. Here a
virtual camera is given the same pictures to capture into, which it never does; but who imports
memory there has it mapped, and one more mapping of what is mapped costs nothing.
"""

import array
import contextlib
import fcntl
import os
import signal
import struct
import time
from pathlib import Path

GET_PLANES, GET_PLANE = 0xC01064B5, 0xC02064B6
GET_FB2, TO_DMABUF = 0xC06864CE, 0xC00C642D
UNIVERSAL_PLANES, SET_CLIENT_CAP = 2, 0x4010640D
REQUEST_BUFFERS, QUEUE_BUFFER, SET_FORMAT = 0xC0145608, 0xC058560F, 0xC0D05605
CAPTURE, DMABUF, FOURCC = 1, 4, b"BGR4"  # v4l2: video capture, memory of others, 32 bits a pixel
PICTURES = 4  # no compositor has more
LOOK_SECONDS = 0.005
DROP_MASTER = 0x641F
CARD = "/dev/dri/card0"
CAMERA = "vivid-000-vid-cap"


def camera_device() -> str:
    for name in Path("/sys/class/video4linux").glob("video*/name"):
        if name.read_text().strip() == CAMERA:
            return f"/dev/{name.parent.name}"
    raise SystemExit(f"there is no {CAMERA}: the module vivid makes it")


def planes(card: int) -> list[int]:
    numbers = array.array("I", [0] * 64)
    request = bytearray(struct.pack("=QII", numbers.buffer_info()[0], len(numbers), 0))
    fcntl.ioctl(card, GET_PLANES, request)
    return list(numbers[: struct.unpack_from("=QI", request)[1]])


def shown(card: int, plane: int) -> int:
    """The framebuffer on the plane, or 0."""
    request = bytearray(struct.pack("=IIIIIIQ", plane, 0, 0, 0, 0, 0, 0))
    fcntl.ioctl(card, GET_PLANE, request)
    return struct.unpack_from("=III", request)[2]


def memory_of(card: int, framebuffer: int) -> tuple[int, int, int, int]:
    """A dma-buf of it, its size, and that of the picture."""
    request = bytearray(struct.pack("=I", framebuffer).ljust(104, b"\0"))
    fcntl.ioctl(card, GET_FB2, request)
    _, width, height, _, _, handle = struct.unpack_from("=IIIIII", request)
    prime = bytearray(struct.pack("=IIi", handle, os.O_RDWR | os.O_CLOEXEC, -1))
    fcntl.ioctl(card, TO_DMABUF, prime)
    dmabuf = struct.unpack("=IIi", prime)[2]
    return dmabuf, os.lseek(dmabuf, 0, os.SEEK_END), width, height


class Camera:
    """The pictures that it could capture into."""

    def __init__(self) -> None:
        self._file = os.open(camera_device(), os.O_RDWR)
        self.count = 0

    def _begin(self, width: int, height: int) -> None:
        form = struct.pack("=II", CAPTURE, 0) + struct.pack("=II4sI", width, height, FOURCC, 1)
        fcntl.ioctl(self._file, SET_FORMAT, bytearray(form.ljust(208, b"\0")))
        request = struct.pack("=III", PICTURES, CAPTURE, DMABUF).ljust(20, b"\0")
        fcntl.ioctl(self._file, REQUEST_BUFFERS, bytearray(request))

    def keep(self, dmabuf: int, size: int, width: int, height: int) -> None:
        if self.count == 0:
            self._begin(width, height)
        buffer = bytearray(88)
        struct.pack_into("=II", buffer, 0, self.count, CAPTURE)
        struct.pack_into("=I", buffer, 60, DMABUF)
        struct.pack_into("=i", buffer, 64, dmabuf)
        struct.pack_into("=I", buffer, 72, size)
        fcntl.ioctl(self._file, QUEUE_BUFFER, buffer)
        self.count += 1


def main() -> None:
    card = os.open(CARD, os.O_RDWR)
    with contextlib.suppress(OSError):  # who opens it first is its master, and need not be this one
        fcntl.ioctl(card, DROP_MASTER)
    fcntl.ioctl(card, SET_CLIENT_CAP, struct.pack("=QQ", UNIVERSAL_PLANES, 1))
    camera = Camera()
    kept = {0}
    while camera.count < PICTURES:
        for plane in planes(card):
            framebuffer = shown(card, plane)
            if framebuffer not in kept:
                with contextlib.suppress(OSError):  # it may be gone again
                    camera.keep(*memory_of(card, framebuffer))
                    kept.add(framebuffer)
        time.sleep(LOOK_SECONDS if camera.count < 2 else 1)
    signal.pause()


if __name__ == "__main__":
    main()
