# SPDX-License-Identifier: MIT
"""The wire of docs/wire*.md, written down a second time: by hand, so that it checks the first.

`Connection` speaks it to a gidd and lets a test send anything, right or wrong.
"""

import array
import ctypes
import fcntl
import json
import mmap
import os
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lib.program import PATIENCE

VERSION = 2
LOWER_SIDE = 0x80000000

HELLO, WELCOME, RESULT = 1, 2, 3
EXPORT, UNEXPORT, GRANT, IMPORT, IMPORTED, REVOKED, ALLOC, ALLOCATED, FREE, UNIMPORT = range(16, 26)
PUBLISH, UNPUBLISH, SUBSCRIBE, SUBSCRIBER, ACCEPT, SUBSCRIBED, SUBSCRIPTION_END, CLOCK = range(
    32, 40
)
DOORBELL, HEARING, OFFERS = 40, 41, 42
STATUS, REPORT, SEAL, SEALED = range(48, 52)
BELL, PING, PONG, DEVICE, VECTOR = 64, 65, 66, 67, 68
JOIN, JOINED, PEER, WITHDRAW, PUNCH, PUNCHED, OWN_WINDOW = range(80, 87)

MEMFD, DMABUF, WINDOW = 1, 2, 3
DROP_OLD, WAIT, LIVE = 1, 2, 8
TAKES_DOORBELLS = TAKES_VECTORS = 1  # in HELLO's domain, in DEVICE's serial
TAKES_OFFERS, NAME_TAKES_OFFERS = 1, b"gidd/offers"  # in WELCOME's window, as HELLO's name
OFFERS_MAX = 63
XRGB8888 = 0x34325258

HEADER = "<IIII"
LAYOUT = "IIIBBBBQ" + "II" * 4
BODIES = {
    HELLO: "II64s",
    WELCOME: "II64sQ",
    RESULT: "iI192s",
    EXPORT: "IIQQIIQ" + LAYOUT + "2048s",
    UNEXPORT: "II",
    GRANT: "IIII",
    IMPORT: "Q",
    IMPORTED: "IIIIQQQII" + LAYOUT + "2048s",
    REVOKED: "Q",
    PUBLISH: "64s",
    UNPUBLISH: "II",
    ALLOC: "QII64s",
    ALLOCATED: "QQ",
    FREE: "QQ",
    UNIMPORT: "Q",
    SUBSCRIBE: "IIII64s64sQ",
    SUBSCRIBER: "IIIIIIQQ",
    ACCEPT: "IIQ",
    SUBSCRIBED: "IIQ",
    SUBSCRIPTION_END: "Ii",
    CLOCK: "IIqQ",
    DOORBELL: "II",
    HEARING: "II",
    OFFERS: "II" + "64s" * 63,
    STATUS: "",
    REPORT: "Q",
    SEAL: "IIQ",
    SEALED: "IIQ",
    BELL: "II",
    PING: "Q",
    PONG: "QQ",
    DEVICE: "Q",
    VECTOR: "II",
    JOIN: "IIQ",
    JOINED: "IIQ",
    PEER: "IIII96s",
    WITHDRAW: "Q64s64s64s",
    PUNCH: "QQ",
    PUNCHED: "QQ",
    OWN_WINDOW: "IIQQ32s",
}
ENVELOPE = "<IIII"
ENVELOPE_MAGIC = 0x65646967
WINDOW_HEADER = "<QIIQQ64sII32s"
WINDOW_VERSION = 2
# Who else may read what ALLOC gives: all, those of a stream, one domain.
READERS_ANY, READERS_STREAM, READERS_DOMAIN = 0, 1, 2
WINDOW_MAGIC = 0x6F646E6977646967
RING_SIZE = 192 + (128 + 256 + 32) * 64 + 8 * 16
PAGE_SIZE = 448 + 8 * 256 + 16 + 16 * 64 + 16 + 8 * 16


def pack(type_: int, *values: object, serial: int = 0) -> bytes:
    body = struct.pack("<" + BODIES[type_], *values)
    return struct.pack(HEADER, type_, 16 + len(body), serial, 0) + body


def offers(*names: bytes, more: int = 0) -> bytes:
    """An OFFERS message."""
    return pack(OFFERS, len(names), more, *names, *[b""] * (OFFERS_MAX - len(names)))


def text(data: bytes) -> str:
    return data.split(b"\0", 1)[0].decode()


@dataclass
class Message:
    type: int
    serial: int
    values: tuple
    fds: list[int] = field(default_factory=list)

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)
        self.fds = []


def gid(domain: int, slab: int, slot: int = 0, generation: int = 0) -> int:
    return domain << 56 | slab << 32 | slot << 16 | generation


@dataclass
class Layout:
    fourcc: int = XRGB8888
    width: int = 64
    height: int = 16
    plane_count: int = 1
    matrix_range: int = 0
    transfer: int = 0
    primaries: int = 0
    modifier: int = 0
    planes: Sequence[tuple[int, int]] = ((0, 256),)

    def values(self) -> tuple[int, ...]:
        planes = [*self.planes] + [(0, 0)] * (4 - len(self.planes))
        head = (self.fourcc, self.width, self.height, self.plane_count)
        colours = (self.matrix_range, self.transfer, self.primaries)
        return (
            head
            + colours
            + (self.modifier,)
            + tuple(number for plane in planes for number in plane)
        )


@dataclass
class Export:
    """An EXPORT message; by default one slot of a sealed memfd with a picture of 64x16."""

    slab: int = 0
    memory: int = MEMFD
    offset: int = 0
    slot_size: int = 4096
    slot_count: int = 1
    generations: int = 4096
    layout: Layout = field(default_factory=Layout)
    description: bytes = b"video/x-raw"
    description_size: int | None = None

    def pack(self, serial: int = 0) -> bytes:
        size = self.description_size
        return pack(
            EXPORT,
            self.slab,
            self.memory,
            self.offset,
            self.slot_size,
            self.slot_count,
            len(self.description) if size is None else size,
            self.generations,
            *self.layout.values(),
            self.description,
            serial=serial,
        )


def read_only(fd: int) -> int:
    """A read-only description of the same memory; closes `fd`."""
    reader = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    os.close(fd)
    return reader


FALLOC_FL_KEEP_SIZE, MADV_POPULATE_WRITE = 1, 23


def _hide_pages(fd: int, size: int) -> None:
    """As many as the file is to have, but behind its end."""
    libc = ctypes.CDLL(None, use_errno=True)
    offset = ctypes.c_long
    libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, offset, offset]
    behind = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    if libc.fallocate(fd, FALLOC_FL_KEEP_SIZE, behind, behind) < 0:
        raise OSError(ctypes.get_errno(), "fallocate")


def memfd(size: int, seals: int | None = None, writable: bool = False, hollow: bool = False) -> int:
    """A sealed memfd as libgid makes them, or with other seals, or still writable, or with all of
    its pages where nobody can use them."""
    if seals is None:
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 0x10  # F_SEAL_FUTURE_WRITE
    fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.truncate(fd, size)
    if hollow:
        _hide_pages(fd, size)
    elif size > 0:
        os.posix_fallocate(fd, 0, size)
        with mmap.mmap(fd, size) as data:
            data.madvise(MADV_POPULATE_WRITE)  # those that are only allocated count as none
    if seals:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd if writable else read_only(fd)


class Closed(Exception):
    """gidd has closed the connection."""


class Connection:
    """One client of a gidd. Requests wait a bounded time; what comes unasked is in `events`."""

    def __init__(
        self, path: Path, program: str = "test", hello: bool = True, takes: int = 0
    ) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
        # without a timeout: with one it fails at once where gidd has not yet taken those before
        self.socket.connect(str(path))
        self.socket.settimeout(PATIENCE)
        self.serial = 0
        self.events: list[Message] = []
        self.domain = 0
        self.domain_name = ""
        if hello:
            answer = self.request(HELLO, VERSION, takes, program.encode())
            assert answer.type == WELCOME, answer
            _, self.domain, name, _ = answer.values
            self.domain_name = text(name)

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for event in self.events:
            event.close()
        self.events = []
        self.socket.close()

    # --- messages ---

    def send_raw(self, data: bytes, fds: Sequence[int] = ()) -> None:
        """Sends these very bytes with these descriptors, which stay the caller's."""
        control = []
        if fds:
            control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds).tobytes())]
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket.sendmsg([data], control)
                return
            except (BrokenPipeError, ConnectionResetError) as error:
                raise Closed from error
            except PermissionError:  # it takes no descriptors before it has let us in
                if time.monotonic() > end:
                    raise
                time.sleep(0.001)

    def receive(self, timeout: float = PATIENCE) -> Message:
        """The next message; Closed where gidd hung up, TimeoutError where nothing comes."""
        self.socket.settimeout(timeout)
        try:
            data, control, flags, _ = self.socket.recvmsg(8192, socket.CMSG_SPACE(64))
        except ConnectionResetError as error:
            raise Closed from error
        fds = array.array("i")
        for level, kind, content in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
        if not data:
            raise Closed
        type_, size, serial, reserved = struct.unpack_from(HEADER, data)
        assert not flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC)
        assert size == len(data) and reserved == 0
        values = struct.unpack_from("<" + BODIES[type_], data, 16)
        if type_ == PING:  # on a link, where it is long since we said something
            self.send_raw(pack(PONG, values[0], time.monotonic_ns()))
            return self.receive(timeout)
        return Message(type_, serial, values, list(fds))

    def event(self, type_: int, timeout: float = PATIENCE) -> Message:
        """The next message of this type that answers no request."""
        end = time.monotonic() + timeout
        while True:
            for event in self.events:
                if event.type == type_:
                    self.events.remove(event)
                    return event
            self.events.append(self.receive(max(0.01, end - time.monotonic())))

    def wait_closed(self, timeout: float = PATIENCE) -> None:
        """Until gidd hangs up; TimeoutError where it does not."""
        end = time.monotonic() + timeout
        while True:
            try:
                self.receive(max(0.01, end - time.monotonic())).close()
            except Closed:
                return

    def request_raw(self, data: bytes, fds: Sequence[int] = ()) -> Message:
        """Sends a request that carries `self.serial` and waits for its answer."""
        self.send_raw(data, fds)
        while True:
            message = self.receive()
            if message.serial == self.serial and message.type in (
                WELCOME,
                RESULT,
                IMPORTED,
                ALLOCATED,
                REPORT,
            ):
                return message
            self.events.append(message)

    def request(self, type_: int, *values: object, fds: Sequence[int] = ()) -> Message:
        self.serial += 1
        return self.request_raw(pack(type_, *values, serial=self.serial), fds)

    # --- requests, as a well-behaved client makes them ---

    @staticmethod
    def result(message: Message) -> tuple[int, int, str]:
        """(error, value, text) of a RESULT."""
        assert message.type == RESULT, message
        error, value, words = message.values
        return error, value, text(words)

    def export(self, export: Export, fd: int) -> tuple[int, int, str]:
        self.serial += 1
        return self.result(self.request_raw(export.pack(self.serial), [fd]))

    def export_new(self, slots: int = 1, size: int = 4096) -> int:
        """A slab of gidway's own form; its number."""
        fd = memfd(slots * size + 4096)
        export = Export(slot_count=slots, slot_size=size, generations=slots * size)
        error, number, words = self.export(export, fd)
        os.close(fd)
        assert error == 0, words
        return number

    def unexport(self, slab: int) -> tuple[int, int, str]:
        return self.result(self.request(UNEXPORT, slab, 0))

    def grant(self, slab: int, domain: int, allow: bool = True) -> tuple[int, int, str]:
        return self.result(self.request(GRANT, slab, domain, int(allow), 0))

    def import_(self, gid_: int) -> Message:
        """IMPORTED with the descriptor, or RESULT."""
        return self.request(IMPORT, gid_)

    def publish(self, name: str) -> tuple[int, int, str]:
        return self.result(self.request(PUBLISH, name.encode()))

    def unpublish(self, stream: int) -> tuple[int, int, str]:
        return self.result(self.request(UNPUBLISH, stream, 0))

    def subscribe(
        self,
        subscription: int,
        name: str,
        domain: str = "",
        credit: int = 4,
        flags: int = 0,
        fds: Sequence[int] | None = None,
        window_offset: int = 0,
    ) -> tuple[int, int, str]:
        """With a page and a doorbell of its own where none are given."""
        own: list[int] = []
        if fds is None:
            bell, other = socket.socketpair()
            own = [memfd(PAGE_SIZE), bell.detach()]
            other.close()
            fds = own
        values = (subscription, 0, credit, flags, domain.encode(), name.encode(), window_offset)
        answer = self.result(self.request(SUBSCRIBE, *values, fds=fds))
        for fd in own:
            os.close(fd)
        return answer

    def accept(self, subscription: int, fd: int | None = None) -> None:
        """As a producer, with a ring of its own where none is given."""
        ring = memfd(RING_SIZE) if fd is None else fd
        self.send_raw(pack(ACCEPT, subscription, 0, 0), [ring])
        if fd is None:
            os.close(ring)

    def end(self, subscription: int, reason: int = 0) -> None:
        self.send_raw(pack(SUBSCRIPTION_END, subscription, reason))

    def status(self) -> dict:
        message = self.request(STATUS)
        assert message.type == REPORT, message
        (size,) = message.values
        with mmap.mmap(message.fds[0], size, prot=mmap.PROT_READ) as report:
            words = report[:size]
        message.close()
        return json.loads(words)
