# SPDX-License-Identifier: MIT
"""gidway's own policy: the C function that the Weston module calls, called from here."""

import ctypes
import os

from .scheduler import Frame

_STATE_BYTES = 1 << 16


class PacingLibraryError(Exception):
    """The shared library with the policy cannot be used; the message says why."""


class _Config(ctypes.Structure):
    _fields_ = [("miss_rate", ctypes.c_double), ("fallback_ms", ctypes.c_int32)]


class _Frame(ctypes.Structure):
    _fields_ = [
        ("refresh_ns", ctypes.c_int64),
        ("due_ns", ctypes.c_int64),
        ("window_ms", ctypes.c_int32),
        ("done_ns", ctypes.c_int64),
        ("shown_ns", ctypes.c_int64),
        ("arrival_ns", ctypes.c_int64),
        ("content_class", ctypes.c_uint32),
    ]


class Gidway:
    name = "gidway"

    def __init__(self, miss_rate: float, fallback_ms: int = 7) -> None:
        self._library = _load()
        self._state = ctypes.create_string_buffer(_STATE_BYTES)
        config = _Config(miss_rate, fallback_ms)
        self._library.gid_pacing_init(self._state, ctypes.byref(config))
        self._frame = _Frame()
        self._pointer = ctypes.byref(self._frame)
        self._next = self._library.gid_pacing_next

    def next(self, frame: Frame | None) -> int:
        if frame is None:
            return self._next(self._state, None)
        told = self._frame
        told.refresh_ns = frame.refresh
        told.due_ns = frame.due
        told.window_ms = frame.window_ms
        told.done_ns = frame.done
        told.shown_ns = frame.shown
        told.arrival_ns = frame.arrival
        told.content_class = frame.content_class
        return self._next(self._state, self._pointer)


def _load() -> ctypes.CDLL:
    path = os.environ.get("GID_PACING_LIBRARY", "libgid-pacing.so")
    try:
        library = ctypes.CDLL(path)
        size = ctypes.c_size_t.in_dll(library, "gid_pacing_size").value
    except (OSError, ValueError) as error:
        raise PacingLibraryError(
            f"gidway's pacing policy cannot be loaded: {error}. "
            "GID_PACING_LIBRARY names the library, libgid-pacing.so."
        ) from error
    if size > _STATE_BYTES:
        raise PacingLibraryError(f"{path} is of another version: its state has {size} bytes")
    library.gid_pacing_next.restype = ctypes.c_int32
    library.gid_pacing_next.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.gid_pacing_init.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return library
