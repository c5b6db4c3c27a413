# SPDX-License-Identifier: MIT
"""Gives a gidd descriptors of files that a thread of ours has locked in the kernel, for good.

    held_locks.py SOCKET KIND FILE

FILE is what stuck_page.py made. Writes a line when gidd has what it may stumble over, and stays.
"""

import ctypes
import mmap
import os
import select
import signal
import socket
import sys
import threading
import time
from pathlib import Path

from lib.gidwire import (
    ALLOC,
    DMABUF,
    PAGE_SIZE,
    SUBSCRIBE,
    Connection,
    Export,
    gid,
    memfd,
    pack,
)

PAGE = mmap.PAGESIZE
PROT_READ_WRITE, MAP_PRIVATE, MAP_FIXED = 3, 2, 0x10

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]


def stuck_page(path: str) -> int:
    """The address of a page that never comes, behind one that is there."""
    memory = mmap.mmap(-1, 2 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[:PAGE] = bytes(PAGE)
    stuck_page.memory = memory  # stays
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + PAGE
    fd = os.open(path, os.O_RDONLY)
    assert libc.mmap(address, PAGE, PROT_READ_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == address
    return address


def hold(function: str, *arguments: object) -> None:
    """Another thread calls it, and does not come back."""
    call = getattr(libc, function)
    threading.Thread(target=call, args=arguments, daemon=True).start()
    time.sleep(0.3)


def position(gidd: Connection, page: int) -> None:
    """The lock of a file's position."""
    fd = memfd(2 * PAGE)
    error, number, words = gidd.export(Export(), fd)
    assert error == 0, words
    assert gidd.grant(number, 2)[0] == 0
    os.lseek(fd, 0, os.SEEK_SET)
    hold("read", fd, ctypes.c_void_p(page), 100)
    print(gid(gidd.domain, number), flush=True)
    gidd.send_raw(Export().pack(1), [fd])


def epoll(gidd: Connection, page: int) -> None:
    """An epoll instance's own lock."""
    event = os.eventfd(1)
    instance = select.epoll()
    instance.register(event, select.EPOLLIN)
    hold("epoll_wait", instance.fileno(), ctypes.c_void_p(page), 1, -1)
    gidd.send_raw(Export(memory=DMABUF, generations=0).pack(1), [instance.fileno()])


def closed(gidd: Connection, page: int) -> None:
    """A socket's lock: SO_LINGER's last bytes are read while it is held."""
    ours, _ = closed.pair = socket.socketpair()
    linger = ctypes.c_void_p(page - 4)
    hold("setsockopt", ours.fileno(), socket.SOL_SOCKET, socket.SO_LINGER, linger, 8)
    gidd.send_raw(Export(memory=DMABUF, generations=0).pack(1), [ours.fileno()])


def doorbell(gidd: Connection, page: int) -> None:
    """A doorbell's end, with a ring in it, for a stream of another machine."""
    memory = gidd.request(ALLOC, PAGE_SIZE, 0, 0, b"")
    given, kept = doorbell.pair = socket.socketpair()
    kept.send(b"1")
    hold("recv", given.fileno(), ctypes.c_void_p(page), 1, 0)
    values = (7, 0, 4, 0, b"open", b"movie", memory.values[0])
    fds = [memory.fds[0], given.fileno()]
    gidd.send_raw(pack(SUBSCRIBE, *values, serial=99), fds)


def main() -> None:
    path, kind, file = sys.argv[1:]
    gidd = Connection(Path(path), "held")
    kinds = {"position": position, "epoll": epoll, "closed": closed, "doorbell": doorbell}
    kinds[kind](gidd, stuck_page(file))
    print("sent", flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
