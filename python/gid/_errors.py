# SPDX-License-Identifier: MIT
"""Errors as exceptions, with libgid's own message and errno."""

import errno
from typing import Any

from ._gid import ffi, lib


class GidError(OSError):
    """Any error of libgid. `errno` is its number, `strerror` says what to do."""


class NotFoundError(GidError, FileNotFoundError):
    """No gidd of the domain runs; or no such stream or memory that this program may read."""


class AccessError(GidError, PermissionError):
    """The cockpit's configuration, or the mode of a folder, does not allow it."""


class DisconnectedError(GidError, ConnectionError):
    """gidd has ended, or it ended the connection."""


class GidTimeoutError(GidError, TimeoutError):
    """Nothing arrived within `timeout`."""


class EndOfStream(GidError, EOFError):
    """The flow of frames has ended: its producer ended it, or is gone. Loops just end."""


class LeaseError(GidError):
    """The frame was reclaimed while it was read: what was read may belong to another picture."""


class ProtectionError(GidError):
    """The picture is not what the producer protected. `reason` is one of gid-cluster's words:
    "no-check", "check-mismatch" or "old-frame".
    """

    def __init__(self, number: int, text: str, reason: str) -> None:
        super().__init__(number, text)
        self.reason = reason

    def __reduce__(self) -> Any:
        """With all arguments, so that it can pass between processes, as from a pool."""
        return type(self), (self.errno, self.strerror, self.reason)


class ForkError(GidError):
    """The object belongs to the parent process: connect again in the child."""


KINDS: dict[int, type[GidError]] = {
    errno.ENOENT: NotFoundError,
    errno.EACCES: AccessError,
    errno.EPERM: AccessError,
    errno.ECONNREFUSED: DisconnectedError,
    errno.ENOTCONN: DisconnectedError,
    errno.ETIMEDOUT: GidTimeoutError,
    errno.EPIPE: EndOfStream,
    errno.ESTALE: LeaseError,
}


def error_of(result: int, said: str = "") -> GidError:
    """The exception for a negative result of libgid."""
    text = said or ffi.string(lib.gid_strerror(result)).decode()
    return KINDS.get(-result, GidError)(-result, text)
