# SPDX-License-Identifier: MIT
"""Runs in a guest: has dma-bufs of a window of others, a PCI device's resource.

exports.py remove RESOURCE OFFSET  takes that device out of the machine, and says what came of it
exports.py spy RESOURCE OFFSET     as spy.py, but by a dma-buf: how many pages have content

OFFSET: from there on it is mapped.
"""

import ctypes
import fcntl
import json
import mmap
import os
import signal
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

PAGE = 4096
PART = 1 << 20
EXPORT = 3 << 30 | 24 << 16 | ord("G") << 8 | 0x67  # as kernel/gid_dmabuf/gid_dmabuf.h has it

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
FAILED = ctypes.c_void_p(-1).value


def mapped(fd: int, size: int, offset: int = 0) -> int:
    """To read it."""
    address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, offset)
    if address == FAILED:
        raise OSError(ctypes.get_errno(), "mmap")
    return address


def page_at(address: int) -> bytes:
    return ctypes.string_at(address, PAGE)


def export(address: int, size: int) -> int:
    device = os.open("/dev/gid-dmabuf", os.O_RDWR | os.O_CLOEXEC)
    request = bytearray(struct.pack("QQIi", address, size, 0, -1))
    fcntl.ioctl(device, EXPORT, request)
    os.close(device)
    return struct.unpack("QQIi", request)[3]


def in_child(function: Callable[[], None]) -> int:
    """How a child that does this ends; below 0: by that signal."""
    child = os.fork()
    if child == 0:
        function()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def remove(path: str, offset: int) -> None:
    """Its memory may be another device's then."""
    fd = export(mapped(os.open(path, os.O_RDONLY), PART, offset), PART)
    read = mapped(fd, PART)
    page_at(read)
    Path(path).with_name("remove").write_text("1")
    found = {"read": in_child(lambda: page_at(read)) == -signal.SIGBUS}
    again = mapped(fd, PART)
    found["read anew"] = in_child(lambda: page_at(again)) == -signal.SIGBUS
    print(json.dumps(found))


def spy(path: str, offset: int) -> None:
    fd = os.open(path, os.O_RDONLY)
    size = os.fstat(fd).st_size - offset
    read = mapped(export(mapped(fd, size, offset), size), size)
    before = -1
    while True:
        seen = sum(ctypes.string_at(read + at, 64) != bytes(64) for at in range(0, size, PAGE))
        if seen != before:
            print(json.dumps({"sees": seen}), flush=True)
        before = seen
        time.sleep(0.001)


TASKS = {"remove": remove, "spy": spy}
TASKS[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
