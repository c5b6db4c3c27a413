# SPDX-License-Identifier: MIT
"""libgid-monitor: gid-cluster's own code, and what puts pictures above each other."""

import ctypes
import functools
import os
from collections.abc import Sequence
from pathlib import Path

import numpy

from .errors import DesignError
from .svg import Picture, empty

LIVE = "none"


class _Frame(ctypes.Structure):
    _fields_ = [
        ("pixels", ctypes.c_void_p),
        ("width", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
        ("sequence", ctypes.c_uint64),
        ("submit_time", ctypes.c_uint64),
    ]


class _Layer(ctypes.Structure):
    _fields_ = [
        ("pixels", ctypes.c_void_p),
        ("x", ctypes.c_int32),
        ("y", ctypes.c_int32),
        ("width", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
    ]


@functools.cache
def _library() -> ctypes.CDLL:
    path = os.environ.get("GID_MONITOR_LIBRARY", "libgid-monitor.so")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise DesignError(f"{error}. GID_MONITOR_LIBRARY names libgid-monitor.so") from error
    number, pointer, time = ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint64
    text, layers = ctypes.c_char_p, (ctypes.POINTER(_Layer), ctypes.c_size_t)
    signatures = {
        "monitor_create": (pointer, text, text, time),
        "monitor_destroy": (None, pointer),
        "monitor_receive": (text, pointer, ctypes.POINTER(_Frame), time),
        "monitor_tick": (text, pointer, time),
        "monitor_deadline": (time, pointer),
        "monitor_good_frames": (number, pointer),
        "compose_by_pixman": (ctypes.c_int, *layers, pointer, number, number),
        "gl_composer_create": (pointer, number, number),
        "gl_composer_destroy": (None, pointer),
        "gl_composer_name": (text, pointer),
        "gl_composer_compose": (ctypes.c_int, pointer, *layers, pointer),
    }
    for function, (result, *arguments) in signatures.items():
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library


class Monitor:
    """A role as gid-cluster has it. Times in ns."""

    def __init__(self, config: Path, role: str, now: int) -> None:
        self._handle = _library().monitor_create(bytes(config), role.encode(), now)
        if not self._handle:
            raise DesignError(f"{config}: gid-cluster cannot watch over {role} by it")
        self.deadline = _library().monitor_deadline(self._handle)
        self.good_frames = _library().monitor_good_frames(self._handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _library().monitor_destroy(self._handle)

    def receive(self, picture: Picture, sequence: int, submitted: int, now: int) -> str:
        """Returns the role's reason, which is LIVE where the picture is shown."""
        height, width = picture.shape
        frame = _Frame(picture.ctypes.data, width, height, sequence, submitted)
        return _library().monitor_receive(self._handle, ctypes.byref(frame), now).decode()

    def tick(self, now: int) -> str:
        return _library().monitor_tick(self._handle, now).decode()


Placed = tuple[Picture, int, int]  # with the place of its corner


def _layers(placed: Sequence[Placed]) -> ctypes.Array:
    return (_Layer * len(placed))(
        *(_Layer(one.ctypes.data, x, y, one.shape[1], one.shape[0]) for one, x, y in placed)
    )


def compose_by_pixman(placed: Sequence[Placed], width: int, height: int) -> Picture:
    target = empty(width, height)
    layers = _layers(placed)
    if _library().compose_by_pixman(layers, len(layers), target.ctypes.data, width, height) != 0:
        raise MemoryError
    return target


class GlComposer:
    def __init__(self, width: int, height: int) -> None:
        self._size = width, height
        self._handle = _library().gl_composer_create(width, height)
        if not self._handle:
            raise DesignError("there is no GL (EGL without a screen): leave it out by --renderers")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _library().gl_composer_destroy(self._handle)

    @property
    def name(self) -> str:
        return _library().gl_composer_name(self._handle).decode(errors="replace")

    def compose(self, placed: Sequence[Placed]) -> Picture:
        target = numpy.empty(self._size[::-1], numpy.uint32)
        layers = _layers(placed)
        result = _library().gl_composer_compose(
            self._handle, layers, len(layers), target.ctypes.data
        )
        if result != 0:
            raise DesignError(f"GL cannot draw: {os.strerror(-result)}")
        return target
