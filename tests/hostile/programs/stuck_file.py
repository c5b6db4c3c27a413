# SPDX-License-Identifier: MIT
"""A file of a FUSE file system that never answers, handed to a gidd again and again.

    stuck_file.py SOCKET COUNT [MS | overlay]

Writes a line of JSON for each thing that happened: {"exports": how many gidd answered, "end": why
there were no more}. As long as this program runs, each close of such a descriptor waits; when it is
killed, its file system ends, and all of them return. Ends with 77 where nothing can be mounted.
With MS the file system answers each close, one after the other, after so many milliseconds.
What it says of the file counts for a moment only, so that whoever asks the kernel waits, too.
With the word "overlay" the file is one of an overlayfs above it, as a container's may be.
"""

import ctypes
import json
import os
import signal
import struct
import sys
import tempfile
import time
from pathlib import Path

from lib.gidwire import DMABUF, MEMFD, WINDOW, Closed, Connection, Export

CANNOT = 77
LOOKUP, GETATTR, OPEN, STATFS, RELEASE, FLUSH, INIT = 1, 3, 14, 17, 18, 25, 26
ROOT, FILE = 1, 2
ENOSYS = 38
MS_REC, MS_PRIVATE = 0x4000, 0x40000


def mount(folder: str) -> int:
    """A file system at `folder`, in name spaces of our own; the descriptor that serves it."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    try:
        os.unshare(os.CLONE_NEWNS)
        libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    except PermissionError:
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fuse},rootmode=40000,user_id={user},group_id={group}"
    if libc.mount(b"stuck", folder.encode(), b"fuse", 0, options.encode()) < 0:
        raise OSError(ctypes.get_errno(), "mount")
    return fuse


def cover(folder: str) -> str:
    """An overlayfs over it, where whoever serves it answers; the folder of that."""
    libc = ctypes.CDLL(None, use_errno=True)
    empty, above = (tempfile.mkdtemp(prefix="gid-stuck-") for _ in range(2))
    os.stat(folder)  # what the kernel knows of it, overlayfs takes once
    options = f"lowerdir={folder}:{empty},userxattr"
    if libc.mount(b"stuck", above.encode(), b"overlay", 0, options.encode()) < 0:
        raise OSError(ctypes.get_errno(), "overlayfs")
    return above


def attributes(node: int) -> bytes:
    mode = 0o40755 if node == ROOT else 0o100644
    times = (0,) * 6
    return struct.pack("<9Q", node, 4096, 8, *times)[: 6 * 8] + struct.pack(
        "<10I", 0, 0, 0, mode, 1, os.getuid(), os.getgid(), 0, 4096, 0
    )


def answer(opcode: int, node: int) -> bytes | None:
    """None: it does not exist."""
    if opcode == INIT:
        return struct.pack("<4I2H2I2HI7I", 7, 31, 4096, 0, 1, 1, 4096, 1, 1, 0, 0, *(0,) * 7)
    if opcode == LOOKUP:
        return struct.pack("<4Q2I", FILE, 0, 1000, 0, 0, 0) + attributes(FILE)
    if opcode == GETATTR:
        return struct.pack("<Q2I", 0, 0, 0) + attributes(node)
    if opcode == OPEN:
        return struct.pack("<Q2I", 1, 0, 0)
    if opcode == STATFS:
        return struct.pack("<5Q10I", 0, 0, 0, 2, 0, 4096, 255, 4096, *(0,) * 7)
    if opcode in (FLUSH, RELEASE):
        return b""
    return None


def serve(fuse: int, close_ms: int | None) -> None:
    """Until the file is open. From then on each question is taken, and answered late or not."""
    is_open = False
    while True:
        request = os.read(fuse, 1 << 17)
        _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
        if is_open and close_ms is None:
            continue
        if opcode == FLUSH:
            time.sleep((close_ms or 0) / 1000)
        body = answer(opcode, node)
        head = struct.pack(
            "<IiQ", 16 + len(body or b""), 0 if body is not None else -ENOSYS, unique
        )
        os.write(fuse, head + (body or b""))
        is_open = is_open or opcode == OPEN


def hand_over(path: str, gidd: str, count: int) -> dict:
    stuck = os.open(path, os.O_RDONLY)
    exports = [Export(memory=kind, generations=0) for kind in (DMABUF, MEMFD)]
    exports.append(Export(memory=WINDOW, offset=4096, generations=8192))
    answered = 0
    try:
        connection = Connection(Path(gidd), "stuck")
        while answered < count:
            error, _, words = connection.export(exports[answered % len(exports)], stuck)
            assert error != 0, words
            answered += 1
    except (Closed, OSError, AssertionError) as error:
        return {"exports": answered, "end": f"{type(error).__name__} {error}"}
    return {"exports": answered, "end": "done"}


def main() -> None:
    gidd, count = sys.argv[1], int(sys.argv[2])
    how = sys.argv[3] if len(sys.argv) > 3 else ""
    close_ms = int(how) if how.isdecimal() else None
    folder = tempfile.mkdtemp(prefix="gid-stuck-")
    try:
        fuse = mount(folder)
    except OSError as error:
        os.rmdir(folder)
        print(f"nothing can be mounted: {error}", file=sys.stderr)
        sys.exit(CANNOT)
    if os.fork() == 0:
        os.close(fuse)
        try:
            folder = cover(folder) if how == "overlay" else folder
        except OSError as error:
            print(json.dumps({"exports": 0, "end": f"no overlayfs: {error}"}), flush=True)
            signal.pause()
        while True:
            print(json.dumps(hand_over(f"{folder}/file", gidd, count)), flush=True)
            signal.pause()
    serve(fuse, close_ms)


if __name__ == "__main__":
    main()
