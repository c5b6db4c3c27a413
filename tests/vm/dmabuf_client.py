# SPDX-License-Identifier: MIT
"""dma-bufs of a test's own, with fences or without, and Wayland buffers of them. In a guest."""

import ctypes
import fcntl
import mmap
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy
from lib.display import HEIGHT, WIDTH
from lib.forwarding import bytes_of
from lib.weston import XRGB8888

from lab.domains.wayland import Display, Object

LINEAR = 0
X_TILED = 1 << 56 | 1  # of an Intel GPU; llvmpipe has none
Y_INVERT, INTERLACED = 1, 2
NV12 = 0x3231564E
STRIDE = WIDTH * 4

F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
UDMABUF_CREATE = 0x40187542
MODE_CREATE_DUMB = 0xC02064B2
VGEM_FENCE_ATTACH, VGEM_FENCE_SIGNAL, VGEM_FENCE_WRITE = 0xC0106441, 0x40086442, 1
PRIME_HANDLE_TO_FD, O_RDWR_CLOEXEC = 0xC00C642D, os.O_RDWR | os.O_CLOEXEC
EXPORT_SYNC_FILE, IMPORT_SYNC_FILE, SYNC_WRITE = 0xC0086202, 0x40086203, 2

libc = ctypes.CDLL(None, use_errno=True)


def ioctl(fd: int, request: int, form: str, *values: int) -> tuple[int, tuple]:
    """What it returns, and what is in the struct then."""
    memory = ctypes.create_string_buffer(struct.pack(form, *values))
    result = libc.ioctl(fd, ctypes.c_ulong(request), memory)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result, struct.unpack_from(form, memory.raw)


def make_udmabuf(size: int) -> int:
    """A dma-buf of ordinary memory, of whole pages."""
    size = (size + mmap.PAGESIZE - 1) // mmap.PAGESIZE * mmap.PAGESIZE
    memory = os.memfd_create("dmabuf", os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, size)
    fcntl.fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK)
    device = os.open("/dev/udmabuf", os.O_RDWR)
    made, _ = ioctl(device, UDMABUF_CREATE, "=IIQQ", memory, 1, 0, size)
    os.close(device)
    os.close(memory)
    return made


class Fences:
    """vgem's, which any program may make, and put into dma-bufs of others."""

    def __init__(self) -> None:
        (card,) = (
            path for path in Path("/sys/class/drm").glob("card*") if "vgem" in str(path.resolve())
        )
        self.card = os.open(f"/dev/dri/{card.name}", os.O_RDWR)

    def make(self) -> tuple[int, int]:
        """One to be signalled, and a sync_file of it."""
        _, dumb = ioctl(self.card, MODE_CREATE_DUMB, "=IIIIIIQ", 4, 4, 32, 0, 0, 0, 0)
        handle = dumb[4]
        _, (*_, source) = ioctl(self.card, PRIME_HANDLE_TO_FD, "=IIi", handle, O_RDWR_CLOEXEC, -1)
        _, (_, _, fence, _) = ioctl(
            self.card, VGEM_FENCE_ATTACH, "=IIII", handle, VGEM_FENCE_WRITE, 0, 0
        )
        _, (_, taken) = ioctl(source, EXPORT_SYNC_FILE, "=Ii", SYNC_WRITE, -1)
        os.close(source)
        return fence, taken

    def attach(self, dmabuf: int) -> int:
        """The dma-buf is being drawn from now on, until the fence that is returned is signalled."""
        fence, sync_file = self.make()
        ioctl(dmabuf, IMPORT_SYNC_FILE, "=Ii", SYNC_WRITE, sync_file)
        os.close(sync_file)
        return fence

    def signal(self, fence: int) -> None:
        ioctl(self.card, VGEM_FENCE_SIGNAL, "=II", fence, 0)


@dataclass
class Picture:
    """A dma-buf and its wl_buffer."""

    fd: int
    buffer: Object

    def draw(self, picture: numpy.ndarray) -> None:
        self.write(bytes_of(picture))

    def write(self, data: bytes, offset: int = 0) -> None:
        size = os.lseek(self.fd, 0, os.SEEK_END)
        with mmap.mmap(self.fd, size) as memory:
            memory[offset : offset + len(data)] = data


@dataclass
class DmabufBuffers:
    """zwp_linux_dmabuf_v1 of a connection."""

    connection: Display
    made: list[Picture] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.manager = self.connection.bind("zwp_linux_dmabuf_v1", 3)

    def make(
        self,
        planes: list[tuple[int, int, int]],
        fourcc: int = XRGB8888,
        flags: int = 0,
        modifier: int = LINEAR,
    ) -> Picture:
        """Of planes, each of which is a dma-buf, an offset and a stride."""
        params = self.manager("create_params")
        for index, (fd, offset, stride) in enumerate(planes):
            params("add", fd, index, offset, stride, modifier >> 32, modifier & 0xFFFFFFFF)
        buffer = params("create_immed", WIDTH, HEIGHT, fourcc, flags)
        self.made.append(Picture(planes[0][0], buffer))
        return self.made[-1]

    def draw(self, picture: numpy.ndarray, **options: int) -> Picture:
        """A new one with the picture, of RGB."""
        made = self.make([(make_udmabuf(STRIDE * HEIGHT), 0, STRIDE)], **options)
        made.draw(picture)
        return made
