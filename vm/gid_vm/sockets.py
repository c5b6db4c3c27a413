# SPDX-License-Identifier: MIT
"""Connections to unix sockets with bounded waits, even if the listener is busy.

QEMU accepts one connection at a time; others wait in a short queue. Python's own timeouts do not
wait for a full queue: they fail at once.
"""

import errno
import os
import socket
import struct
from pathlib import Path

PATH_BYTES = 107  # of a socket's address, which ends with a 0


def bound_sending(connection: socket.socket, seconds: float) -> None:
    """Limits the time of each connect() and send(), which then raise BlockingIOError."""
    limit = struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def listener(connection: socket.socket) -> int:
    """The process that listens at the other end."""
    size = struct.calcsize("iII")
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    return struct.unpack("iII", credentials)[0]


def connect(
    path: Path,
    seconds: float,
    kind: socket.SocketKind = socket.SOCK_STREAM,
    pid: int | None = None,
) -> socket.socket:
    """Connects within `seconds`, which must be over 0, or raises TimeoutError.

    FileNotFoundError or ConnectionRefusedError: nobody listens (any more); or, with `pid`, another
    process does, as behind a link in a folder that others can write.
    """
    if len(os.fsencode(path)) > PATH_BYTES:
        why = "the path of the domain's socket is too long: set GID_RUNTIME_DIR to a shorter one"
        raise OSError(errno.ENAMETOOLONG, why, str(path))
    connection = socket.socket(socket.AF_UNIX, kind)
    try:
        bound_sending(connection, seconds)
        connection.connect(str(path))
        if pid not in (None, listener(connection)):
            raise ConnectionRefusedError(errno.ECONNREFUSED, "another process listens", str(path))
    except OSError as error:
        connection.close()
        if isinstance(error, BlockingIOError):
            why = f"it takes no connection for {seconds:g} s"
            raise TimeoutError(errno.ETIMEDOUT, why, str(path)) from None
        raise
    return connection
