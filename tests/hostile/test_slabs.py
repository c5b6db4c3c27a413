# SPDX-License-Identifier: MIT
"""Slabs: what may be exported, and in which descriptors."""

import fcntl
import mmap
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.gidwire import (
    DMABUF,
    IMPORTED,
    MEMFD,
    WINDOW,
    Export,
    Layout,
    gid,
    memfd,
    read_only,
)
from lib.outcome import expect_unwritable, expect_violation, number, untouched

SHRINK, GROW, WRITE, FUTURE_WRITE = 2, 4, 8, 16  # F_SEAL_*
NV12 = 0x3231564E
MAX = 2**63 - 1
TOO_BIG = "the slab's offset and slots are more than a file can hold"
RANGE = "the layout's size, plane count, colour range or a stride is out of range"
LEAVES = "a plane of the layout leaves its slot"
TABLE = "the generation table must lie behind the slots, on a page of its own"
TEXT = "the description is not a text of the stated size"

ONE = Export(generations=0)  # one slot of 4096 bytes, 64x16 pixels of 4 bytes
SLOTS = "the slot count is out of range"


def picture(**fields: object) -> Export:
    return replace(ONE, layout=replace(ONE.layout, **fields))


# Just inside every limit...
GOOD = {
    "one slot": ONE,
    "all slots": replace(ONE, slot_count=4096, generations=4096 * 4096),
    "smallest picture": replace(
        ONE, slot_size=4, layout=Layout(width=1, height=1, planes=[(0, 4)])
    ),
    "largest picture": replace(
        ONE,
        slot_size=16384 * 65536,
        layout=Layout(width=16384, height=16384, planes=[(0, 65536)]),
    ),
    "offset": replace(ONE, offset=4095),
    "last plane ends with the slot": picture(planes=[(2048, 256)], height=8),
    "two planes": replace(
        ONE,
        layout=Layout(
            fourcc=NV12, width=64, height=16, plane_count=2, planes=[(0, 64), (1024, 64)]
        ),
    ),
    "no description": replace(ONE, description=b""),
    "longest description": replace(ONE, description=b"x" * 2047),
    "description in UTF-8": replace(ONE, description="größe".encode()),
}

# ... and past it.
BAD = {
    "no slots": (replace(ONE, slot_count=0), SLOTS),
    "a slot too many": (replace(ONE, slot_count=4097, generations=4097 * 4096), SLOTS),
    "most slots": (replace(ONE, slot_count=2**32 - 1, generations=4096), SLOTS),
    "slots of no size": (replace(ONE, slot_size=0), "the slot size is 0"),
    "slot a byte too small": (replace(ONE, slot_size=4095), LEAVES),
    "slots without generations": (
        replace(ONE, slot_count=2),
        "a slab of several slots must have a generation table",
    ),
    "size wraps to 0": (replace(ONE, slot_size=2**63, slot_count=2, generations=4096), TOO_BIG),
    "size past a file": (
        replace(ONE, slot_size=MAX // 4096 + 1, slot_count=4096, generations=4096),
        TOO_BIG,
    ),
    "offset past a file": (replace(ONE, offset=MAX - 4095), TOO_BIG),
    "offset wraps": (replace(ONE, offset=2**64 - 4096), TOO_BIG),
    "table in a slot": (replace(ONE, slot_count=2, generations=4096), TABLE),
    "table not on a page": (replace(ONE, slot_count=2, generations=8196), TABLE),
    "table past a file": (replace(ONE, slot_count=4096, generations=MAX - 4095), TABLE),
    "table wraps": (replace(ONE, slot_count=4096, generations=2**64 - 4096), TABLE),
    "table and offset": (
        replace(ONE, offset=4096, generations=8192),
        "slots with a generation table must be whole pages, and begin at 0, or in a window "
        "behind its first page",
    ),
    "table of a dma-buf": (
        replace(ONE, memory=DMABUF, generations=4096),
        "a dma-buf can have no generation table",
    ),
    "memory 0": (replace(ONE, memory=0), "the kind of memory is unknown"),
    "memory 4": (replace(ONE, memory=4), "the kind of memory is unknown"),
    "window without a table": (
        replace(ONE, memory=WINDOW, offset=4096, generations=0),
        "a slab in a window must have a generation table",
    ),
    "window's first page": (
        replace(ONE, memory=WINDOW, generations=4096),
        "slots with a generation table must be whole pages, and begin at 0, or in a window "
        "behind its first page",
    ),
    "memfd with a modifier": (picture(modifier=1), "only a dma-buf can have a modifier"),
    "slab past the last": (replace(ONE, slab=1 << 24), "the slab's number is out of range"),
    "no format": (picture(fourcc=0), "the layout's format is unknown"),
    "unknown format": (picture(fourcc=0x20202020), "the layout's format is unknown"),
    "no width": (picture(width=0), RANGE),
    "too wide": (picture(width=16385, planes=[(0, 65540)]), RANGE),
    "no height": (picture(height=0), RANGE),
    "too high": (picture(height=16385), RANGE),
    "a row too many": (picture(height=17), LEAVES),
    "no planes": (picture(plane_count=0, planes=[]), RANGE),
    "a plane too many": (picture(plane_count=2, planes=[(0, 256), (0, 256)]), RANGE),
    "five planes": (picture(plane_count=5), RANGE),
    "most planes": (picture(plane_count=255), RANGE),
    "a range that there is not": (picture(matrix_range=3 << 6), RANGE),
    "a plane that is not there": (
        picture(planes=[(0, 256), (1, 0)]),
        "a plane that the layout does not have is not zero",
    ),
    "stride 0": (picture(planes=[(0, 0)]), RANGE),
    "stride a byte too short": (picture(planes=[(0, 255)]), RANGE),
    "longest stride": (picture(planes=[(0, 2**32 - 1)]), RANGE),
    "stride a byte too long": (picture(planes=[(0, 257)]), LEAVES),
    "plane a byte too far": (picture(planes=[(1, 256)]), LEAVES),
    "farthest plane": (picture(planes=[(2**32 - 1, 256)]), LEAVES),
    "width times bytes wraps": (picture(width=0x40000001), RANGE),
    "description too long": (replace(ONE, description=b"x" * 2048), TEXT),
    "description shorter than stated": (replace(ONE, description_size=12), TEXT),
    "description longer than stated": (replace(ONE, description_size=3), TEXT),
    "description size past the field": (replace(ONE, description_size=2**32 - 1), TEXT),
    "description with an escape": (replace(ONE, description=b"\x1b[2J"), TEXT),
    "description that is not UTF-8": (replace(ONE, description=b"\xff\xfe"), TEXT),
    "description with a NUL": (replace(ONE, description=b"a\0b"), TEXT),
}


def file_size(export: Export) -> int:
    end = export.offset + export.slot_size * export.slot_count
    return export.generations + 4 * export.slot_count if export.generations else end


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.cockpit(DEFAULT_CONFIG.replace("number=1", "number=1\nmemory=4G\nclient-memory=4G"))
def test_limits_may_be_reached(cockpit: Cockpit, name: str) -> None:
    export = GOOD[name]
    fd = memfd(file_size(export))
    with cockpit.connect("open") as connection:
        error, slab, words = connection.export(export, fd)
        assert (error, words) == (0, "")
        assert 1 <= slab <= 0xFFFFFF
        answer = connection.import_(gid(1, slab))
        assert answer.type == IMPORTED
        head = (1, slab, MEMFD, export.slot_count, export.offset, export.slot_size)
        assert answer.values[:6] == head
        assert answer.values[9:-1] == export.layout.values()
        assert answer.values[-1].rstrip(b"\0") == export.description
        assert os.fstat(answer.fds[0]).st_ino == os.fstat(fd).st_ino
        answer.close()
    os.close(fd)


@pytest.mark.parametrize("name", BAD)
def test_limits_may_not_be_passed(cockpit: Cockpit, name: str) -> None:
    export, why = BAD[name]
    fd = memfd(1 << 20)
    with untouched(cockpit), cockpit.connect("open") as connection:
        connection.send_raw(export.pack(), [fd])
        expect_violation(cockpit, connection, why)
    os.close(fd)


# --- descriptors ---


def directory() -> int:
    return os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def pipe() -> int:
    reader, writer = os.pipe()
    os.close(writer)
    return reader


def unix_socket() -> int:
    return socket.socket(socket.AF_UNIX).detach()


def regular_file() -> int:
    path = Path("/tmp") / f"gid-test-{os.getpid()}"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    path.unlink()
    os.truncate(fd, 1 << 16)
    return fd


def path_only() -> int:
    fd = memfd(8192)
    only = os.open(f"/proc/self/fd/{fd}", os.O_PATH | os.O_CLOEXEC)
    os.close(fd)
    return only


def huge_pages() -> int:
    """Sealed as it should be; it needs no such page to exist."""
    fd = os.memfd_create("huge", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | os.MFD_HUGETLB)
    os.truncate(fd, 2 << 20)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SHRINK | GROW | FUTURE_WRITE)
    return read_only(fd)


def forbidden() -> int:
    fd = memfd(8192, writable=True)
    os.fchmod(fd, 0)
    return fd


def leased() -> int:
    """Whoever opens it is made to wait for whoever has the lease: 45 s, as the kernel is set."""
    made = memfd(8192, writable=True)
    fd = os.open(f"/proc/self/fd/{made}", os.O_RDWR)
    os.close(made)
    signal.signal(signal.SIGIO, signal.SIG_IGN)  # which tells of the attempt
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    return fd


REOPENED = "the memfd cannot be opened again read-only: "
NOT_MEMFD = "the descriptor is not a memfd with ordinary pages"
UNSEALED = (
    "the memfd is not sealed: it needs F_SEAL_SHRINK, and F_SEAL_FUTURE_WRITE or F_SEAL_WRITE"
)
TOO_SMALL = "the descriptor's memory is smaller than stated"
OURS = Export()  # with a generation table: 4096 + 4 bytes
DMA = replace(ONE, memory=DMABUF)

DESCRIPTORS: dict[str, tuple[Export, Callable[[], int], str, str]] = {
    "a pipe": (ONE, pipe, "EBADF", NOT_MEMFD),
    "a socket": (ONE, unix_socket, "EBADF", NOT_MEMFD),
    "a folder": (ONE, directory, "EBADF", NOT_MEMFD),
    "a file": (ONE, regular_file, "EBADF", NOT_MEMFD),
    "a path": (ONE, path_only, "EBADF", NOT_MEMFD),
    "/dev/zero": (ONE, lambda: os.open("/dev/zero", os.O_RDWR), "EBADF", NOT_MEMFD),
    "huge pages": (ONE, huge_pages, "EBADF", NOT_MEMFD),
    "without write seal": (ONE, lambda: memfd(8192, seals=SHRINK | GROW), "EPERM", UNSEALED),
    "unsealed": (ONE, lambda: memfd(8192, seals=0), "EPERM", UNSEALED),
    "sealed against growing only": (ONE, lambda: memfd(8192, seals=GROW), "EPERM", UNSEALED),
    "ours without write seal": (OURS, lambda: memfd(8192, seals=SHRINK), "EPERM", UNSEALED),
    "ours without shrink seal": (OURS, lambda: memfd(8192, FUTURE_WRITE), "EPERM", UNSEALED),
    "writable, unsealed": (ONE, lambda: memfd(8192, 0, writable=True), "EPERM", UNSEALED),
    "writable for ever": (ONE, lambda: memfd(8192, SHRINK, writable=True), "EPERM", UNSEALED),
    "writable, small": (ONE, lambda: memfd(4095, writable=True), "ERANGE", TOO_SMALL),
    "not to be opened again": (
        ONE,
        forbidden,
        "EACCES",
        REOPENED + "its mode forbids that",
    ),
    "with a lease": (ONE, leased, "EAGAIN", REOPENED + "somebody has a lease of it (F_SETLEASE)"),
    "truncated": (ONE, lambda: memfd(4095), "ERANGE", TOO_SMALL),
    "empty": (ONE, lambda: memfd(0), "ERANGE", TOO_SMALL),
    "ours without its table": (OURS, lambda: memfd(4096), "ERANGE", TOO_SMALL),
    "table cut short": (OURS, lambda: memfd(4099), "ERANGE", TOO_SMALL),
    "far smaller": (replace(ONE, offset=1 << 40), lambda: memfd(8192), "ERANGE", TOO_SMALL),
    "a memfd as dma-buf": (DMA, lambda: memfd(8192), "EBADF", "the descriptor is not a dma-buf"),
    "a pipe as dma-buf": (DMA, pipe, "EBADF", "the descriptor is not a dma-buf"),
}


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_descriptors_must_be_what_they_are_said_to_be(cockpit: Cockpit, name: str) -> None:
    export, make, error, words = DESCRIPTORS[name]
    fd = make()
    with untouched(cockpit), cockpit.connect("open") as connection:
        assert connection.export(export, fd) == (number(error), 0, words)
        # A mistake that anybody can make does not cost the connection.
        connection.export_new()
    os.close(fd)


@pytest.mark.parametrize("seals", [SHRINK | WRITE, SHRINK | FUTURE_WRITE])
def test_memory_of_others_needs_to_be_sealed(cockpit: Cockpit, seals: int) -> None:
    """As ours: against shrinking, and against those who open it again for writing."""
    fd = memfd(4096, seals)
    with cockpit.connect("open") as owner, cockpit.connect("cluster") as reader:
        error, slab, words = owner.export(ONE, fd)
        assert (error, words) == (0, "")
        owner.grant(slab, 2)
        answer = reader.import_(gid(1, slab))
        with pytest.raises(PermissionError):
            writer = os.open(f"/proc/self/fd/{answer.fds[0]}", os.O_RDWR)
            mmap.mmap(writer, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        answer.close()
    os.close(fd)


def test_importers_cannot_write(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("cluster") as reader:
        slab = owner.export_new()
        owner.grant(slab, 2)
        answer = reader.import_(gid(1, slab))
        expect_unwritable(answer.fds[0])
        answer.close()


@pytest.mark.parametrize("export", [ONE, OURS], ids=["one", "ours"])
@pytest.mark.parametrize("domain", ["open", "cluster"])
def test_writable_memory_is_opened_again(cockpit: Cockpit, domain: str, export: Export) -> None:
    """Of who has no /proc, and cannot do so itself."""
    fd = memfd(8192, writable=True)
    with cockpit.connect("open") as owner, cockpit.connect(domain) as reader:
        error, slab, words = owner.export(export, fd)
        assert (error, words) == (0, "")
        owner.grant(slab, 2)
        answer = reader.import_(gid(1, slab))
        expect_unwritable(answer.fds[0])
        assert os.fstat(answer.fds[0]).st_ino == os.fstat(fd).st_ino
        answer.close()
    os.close(fd)
