# SPDX-License-Identifier: MIT
"""Large pages of shared memory: whether the kernel has any, and who sees a file by them."""

import ctypes
import mmap
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE = 2 << 20  # where pages have 4 KiB
MAP_FIXED, MADV_COLLAPSE = 16, 25
ADDRESS, LENGTH, INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ADDRESS
    libc.mmap.argtypes = [ADDRESS, LENGTH, INT, INT, INT, ctypes.c_long]
    libc.madvise.argtypes = [ADDRESS, LENGTH, INT]
    libc.munmap.argtypes = [ADDRESS, LENGTH]
    return libc


@contextmanager
def mapped(fd: int, size: int) -> Iterator[int]:
    """The file from its beginning on, at an address where its large pages can be used."""
    libc = _libc()
    room = libc.mmap(None, size + SIZE, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    begin = -(-room // SIZE) * SIZE
    both = mmap.PROT_READ | mmap.PROT_WRITE
    assert libc.mmap(begin, size, both, mmap.MAP_SHARED | MAP_FIXED, fd, 0) == begin
    try:
        yield begin
    finally:
        libc.munmap(room, size + SIZE)


def seen_by(pid: int | str, name: str) -> int:
    """How many bytes of files of this name the process has mapped by large pages."""
    found, is_its = 0, False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            is_its = name in line
        elif is_its and line.startswith("ShmemPmdMapped:"):
            found += int(line.split()[1]) << 10
    return found


def are_there() -> bool:
    """Whether the kernel makes them for who asks."""
    fd = os.memfd_create("large-pages")
    try:
        os.ftruncate(fd, SIZE)
        with mapped(fd, SIZE) as begin:
            ctypes.memset(begin, 0, SIZE)
            _libc().madvise(begin, SIZE, MADV_COLLAPSE)
            ctypes.memset(begin, 0, 1)
            return seen_by("self", "memfd:large-pages") == SIZE
    finally:
        os.close(fd)
