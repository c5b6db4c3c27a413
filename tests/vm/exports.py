# SPDX-License-Identifier: MIT
"""Runs in a guest: asks /dev/gid-dmabuf for what it gives, and for what it must not give.

exports.py owner DEVICE OFFSET     a device-dax; OFFSET: memory of it that nobody uses, of 4 MiB
exports.py reader RESOURCE OFFSET  the same of a window of others, a PCI device's resource
exports.py remove RESOURCE OFFSET  takes that device out of the machine
exports.py hold DEVICE OFFSET      has a dma-buf until its stdin ends
exports.py spy RESOURCE OFFSET     as spy.py, but by a dma-buf of a window of others

Prints a JSON object: of each thing it tried the name of the error, "" for none, or what it found.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PAGE = 4096
PART = 1 << 20
EXPORT = 3 << 30 | 24 << 16 | ord("G") << 8 | 0x67  # as kernel/gid_dmabuf/gid_dmabuf.h has it
WRITABLE = 1
SIZE_MAX = 1 << 30
NOBODY = 65534
PRIME_FD_TO_HANDLE = 3 << 30 | 12 << 16 | ord("d") << 8 | 0x2E
READ, BOTH = mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE
FIXED, NO_ACCESS = 0x10, 0
OLD, NEW = b"o" * PAGE, b"n" * PAGE

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
FAILED = ctypes.c_void_p(-1).value


def fail() -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))


def mapped(
    fd: int, size: int, access: int, offset: int = 0, flags: int = mmap.MAP_SHARED, at: int = 0
) -> int:
    address = libc.mmap(at or None, size, access, flags, fd, offset)
    if address == FAILED:
        fail()
    return address


def protect(address: int, access: int) -> None:
    if libc.mprotect(address, PAGE, access) != 0:
        fail()


def put(address: int, data: bytes) -> None:
    ctypes.memmove(address, data, len(data))


def page_at(address: int) -> bytes:
    return ctypes.string_at(address, PAGE)


def export(address: int, size: int, flags: int = 0, command: int = EXPORT) -> int:
    device = os.open("/dev/gid-dmabuf", os.O_RDWR | os.O_CLOEXEC)
    try:
        request = bytearray(struct.pack("QQIi", address, size, flags, -1))
        fcntl.ioctl(device, command, request)
        return struct.unpack("QQIi", request)[3]
    finally:
        os.close(device)


def error_of(function: Callable, *arguments: object) -> str:
    try:
        function(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return ""


@contextlib.contextmanager
def exported(address: int, size: int, flags: int = 0) -> Iterator[int]:
    fd = export(address, size, flags)
    try:
        yield fd
    finally:
        os.close(fd)


def window(path: str, offset: int, access: int) -> int:
    """PART bytes of it, with as much behind them that is no window and cannot be read."""
    fd = os.open(path, os.O_RDWR if access == BOTH else os.O_RDONLY)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    room = mapped(-1, 2 * PART, NO_ACCESS, 0, flags)
    address = mapped(fd, PART, access, offset, mmap.MAP_SHARED | FIXED, room)
    os.close(fd)
    return address


def locked_kib() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmLck:"))


def give_to_device(name: str, fd: int) -> str:
    """Gives it to a graphics card's driver, which maps it for reading and writing.

    vgem may do so when it first uses it, and then only takes it here: see versions.py.
    """
    for card in sorted(Path("/dev/dri").glob("card*")):
        device = Path("/sys/class/drm", card.name, "device").resolve()
        if name in (device.name, (device / "driver").resolve().name):
            handle = os.open(card, os.O_RDWR)
            request = bytearray(struct.pack("IIi", 0, 0, fd))
            try:
                return error_of(fcntl.ioctl, handle, PRIME_FD_TO_HANDLE, request)
            finally:
                os.close(handle)
    return f"no {name}"


class Camera:
    """vivid, which maps dma-bufs as a processor does, and writes into them."""

    def __init__(self) -> None:
        self.fd = os.open("/dev/video0", os.O_RDWR)
        request = bytearray(struct.pack("IIIIBxxx", 1, 1, 4, 0, 0))  # one, of dma-bufs
        fcntl.ioctl(self.fd, 3 << 30 | 20 << 16 | ord("V") << 8 | 8, request)

    def buffer(self, fd: int) -> bytearray:
        """struct v4l2_buffer."""
        fields = [0, 1, 0, 0, 0, b"", b"", 0, 4, fd, 0, 0, 0]
        return bytearray(struct.pack("IIIII4x16s16sIIQIIi4x", *fields))

    def call(self, number: int, request: bytearray, size: int, way: int = 3) -> None:
        fcntl.ioctl(self.fd, way << 30 | size << 16 | ord("V") << 8 | number, request)

    def queue(self, fd: int) -> None:
        self.call(15, self.buffer(fd), 88)

    def capture(self, fd: int) -> None:
        """One frame."""
        self.queue(fd)
        kind = bytearray(struct.pack("i", 1))
        self.call(18, kind, 4, 1)
        self.call(17, self.buffer(0), 88)
        self.call(19, kind, 4, 1)

    def close(self) -> None:
        os.close(self.fd)


def in_child(function: Callable[[], None]) -> int:
    """How a child that does this ends; below 0: by that signal."""
    child = os.fork()
    if child == 0:
        function()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def try_limit(address: int) -> dict:
    """As an ordinary user, who may lock so much and no more."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (PART, PART))
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    with exported(address, PART):
        beyond = error_of(export, address, PAGE)
    os.close(export(address, PART))
    return {"beyond the limit": beyond}


def try_owner(device: str, offset: int) -> dict:
    address = window(device, offset, BOTH)
    reading = window(device, offset, READ)
    put(address, OLD)
    found: dict[str, object] = {}
    before = locked_kib()
    with exported(address, PART, WRITABLE) as fd, exported(reading, PART) as read_only:
        found["locked KiB"] = locked_kib() - before
        both, read = mapped(fd, PART, BOTH), mapped(read_only, PART, READ)
        found["is the window"] = page_at(both) == page_at(read) == OLD
        put(both, NEW)
        found["write arrives"] = page_at(address) == page_at(read) == NEW
        put(both + PART - PAGE, NEW)
        found["last page"] = page_at(address + PART - PAGE) == page_at(read + PART - PAGE) == NEW
        found["map read-only to write"] = error_of(mapped, read_only, PART, BOTH)
        found["protect read-only"] = error_of(protect, read, BOTH)
        found["map more"] = error_of(mapped, fd, PART + PAGE, READ)
        found["map behind"] = error_of(mapped, fd, PAGE, READ, PART)
        found["map private"] = error_of(mapped, fd, PART, BOTH, 0, mmap.MAP_PRIVATE)
        found["again"] = [error_of(export, at, PART) for at in (both, read)]
        for name, device in (("vgem", "vgem"), ("virtio-gpu", "virtio-pci")):
            found[name] = give_to_device(device, fd)
            found[f"{name}, read-only"] = give_to_device(device, read_only)
        camera = Camera()
        found["camera, read-only"] = error_of(camera.queue, read_only)
        found["camera"] = error_of(camera.capture, fd)
        found["picture"] = page_at(address) not in (OLD, NEW, bytes(PAGE))
        camera.close()
        libc.munmap(both, PART)
        libc.munmap(read, PART)
    found["locked after"] = locked_kib() - before
    nothing = mapped(-1, PART, BOTH, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memfd = os.memfd_create("other")
    os.ftruncate(memfd, PART)
    shared = mapped(memfd, PART, BOTH)
    for name, arguments in {
        "of a reader, to write": (reading, PART, WRITABLE),
        "beyond": (address, 2 * PART),
        "behind": (address + PART, PAGE),
        "memory of its own": (nothing, PART),
        "memfd": (shared, PART),
        "nothing": (0, PAGE),
        "empty": (address, 0),
        "half a page": (address, PAGE // 2),
        "unaligned": (address + 16, PAGE),
        "too much": (address, SIZE_MAX + PAGE),
        "wraps": (address, (1 << 64) - PAGE),
        "wraps small": ((1 << 64) - PAGE, 2 * PAGE),
        "flags": (address, PAGE, 2),
        "command": (address, PAGE, 0, EXPORT + 1),
    }.items():
        found[name] = error_of(export, *arguments)
    found["locked at last"] = locked_kib() - before
    ends = os.pipe()

    def limited() -> None:
        os.write(ends[1], json.dumps(try_limit(address)).encode())

    found["child"] = in_child(limited)
    os.close(ends[1])
    return found | json.loads(os.read(ends[0], PAGE) or b"{}")


def try_reader(path: str, offset: int) -> dict:
    reading = window(path, offset, READ)
    last = page_at(reading + PART - PAGE)  # in the first there is a camera's picture
    found: dict[str, object] = {"sees": last[:4].decode(errors="replace")}
    with exported(reading, PART) as fd:
        read = mapped(fd, PART, READ)
        found["is the window"] = all(
            page_at(reading + at) == page_at(read + at) for at in (0, PART - PAGE)
        )
        found["map to write"] = error_of(mapped, fd, PART, BOTH)
        found["protect"] = error_of(protect, read, BOTH)
        found["device"] = give_to_device("vgem", fd)
        camera = Camera()
        found["camera"] = error_of(camera.queue, fd)
        camera.close()
    found["to write"] = error_of(export, reading, PART, WRITABLE)
    found["beyond"] = error_of(export, reading, 2 * PART)
    # A guest's root can have it writable; what it writes is dropped.
    with exported(window(path, offset, BOTH), PART, WRITABLE) as fd:
        both = mapped(fd, PART, BOTH)
        put(both, b"x" * PAGE)
        found["write arrived"] = page_at(reading) == b"x" * PAGE
    return found


def try_remove(path: str, offset: int) -> dict:
    """Its memory may be another device's then."""
    fd = export(window(path, offset, READ), PART)
    read = mapped(fd, PART, READ)
    page_at(read)
    Path(path).with_name("remove").write_text("1")
    found = {"read": in_child(lambda: page_at(read)) == -signal.SIGBUS}
    again = mapped(fd, PART, READ)
    return found | {"read anew": in_child(lambda: page_at(again)) == -signal.SIGBUS}


def spy(path: str, offset: int) -> None:
    fd = os.open(path, os.O_RDONLY)
    size = os.fstat(fd).st_size - offset
    read = mapped(export(mapped(fd, size, READ, offset), size), size, READ)
    before, zeroes = -1, bytes(PART)
    while True:
        seen = 0
        for begin in range(0, size, PART):
            part = ctypes.string_at(read + begin, min(PART, size - begin))
            if part != zeroes[: len(part)]:
                seen += sum(part[at : at + 64] != bytes(64) for at in range(0, len(part), PAGE))
        if seen != before:
            print(json.dumps({"sees": seen}), flush=True)
        before = seen
        time.sleep(0.02)


def hold(path: str, offset: int) -> dict:
    export(window(path, offset, BOTH), PART, WRITABLE)
    print(json.dumps({"holds": 1}), flush=True)
    time.sleep(3600)
    return {}


TASKS = {"owner": try_owner, "reader": try_reader, "remove": try_remove, "hold": hold, "spy": spy}
print(json.dumps(TASKS[sys.argv[1]](sys.argv[2], int(sys.argv[3]))), flush=True)
