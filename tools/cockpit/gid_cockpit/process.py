# SPDX-License-Identifier: MIT
"""The process behind a socket: nothing is kept about those that run, so that it is asked for.

Whoever is asked may be about to end: that is no error, but as if it had ended.
"""

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gid_vm.sockets import connect

from .configuration import CockpitError

BUSY_SECONDS = 10.0


def listener(path: Path, kind: socket.SocketKind) -> int | None:
    """The process that listens at a unix socket, or None."""
    try:
        with connect(path, BUSY_SECONDS, kind) as connection:
            size = struct.calcsize("iII")
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            return struct.unpack("iII", credentials)[0]
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    except PermissionError as error:
        raise CockpitError(f"{path}: {error.strerror}: be root, or its owner") from None
    except OSError as error:
        raise CockpitError(f"{path}: {error.strerror or error}") from None


def program(pid: int) -> str:
    """What the process runs. ProcessLookupError: it has just ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except FileNotFoundError:
        raise ProcessLookupError from None


@contextmanager
def handle(pid: int, name: str) -> Iterator[int]:
    """A descriptor of the process, which errors call `name`. ProcessLookupError: it has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:
        raise CockpitError(
            f"{name} cannot be seen from here: it runs in another container"
        ) from None
    try:
        yield descriptor
    except PermissionError:
        raise CockpitError(f"{name} is another user's: process {pid}") from None
    finally:
        os.close(descriptor)
