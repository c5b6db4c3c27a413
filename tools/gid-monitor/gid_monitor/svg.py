# SPDX-License-Identifier: MIT
"""Draws SVG by librsvg, and writes PNG by cairo: libraries of Debian's, called by name."""

import ctypes
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from .errors import DesignError

Picture = numpy.ndarray  # rows of words of ARGB8888, multiplied by alpha

OPAQUE = numpy.uint32(0xFF000000)

_ARGB32, _RGB24 = 0, 1  # cairo_format_t


@dataclass(frozen=True)
class Box:
    """In pixels of the drawing."""

    x: int
    y: int
    width: int
    height: int


class _Rectangle(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("x", "y", "width", "height")]


class _Matrix(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("xx", "yx", "xy", "yy", "x0", "y0")]


class _Error(ctypes.Structure):
    _fields_ = [
        ("domain", ctypes.c_uint32),
        ("code", ctypes.c_int),
        ("message", ctypes.c_char_p),
    ]


_POINTER, _DOUBLE, _INT = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
_FAILED = ctypes.POINTER(ctypes.POINTER(_Error))
_SIGNATURES: dict[str, dict[str, tuple[Any, ...]]] = {
    "libcairo.so.2": {
        "cairo_image_surface_create_for_data": (_POINTER, _POINTER, _INT, _INT, _INT, _INT),
        "cairo_create": (_POINTER, _POINTER),
        "cairo_destroy": (None, _POINTER),
        "cairo_image_surface_create_from_png": (_POINTER, ctypes.c_char_p),
        "cairo_image_surface_get_height": (_INT, _POINTER),
        "cairo_image_surface_get_width": (_INT, _POINTER),
        "cairo_status": (_INT, _POINTER),
        "cairo_status_to_string": (ctypes.c_char_p, _INT),
        "cairo_surface_destroy": (None, _POINTER),
        "cairo_surface_status": (_INT, _POINTER),
        "cairo_surface_write_to_png": (_INT, _POINTER, ctypes.c_char_p),
        "cairo_transform": (None, _POINTER, ctypes.POINTER(_Matrix)),
    },
    "librsvg-2.so.2": {
        "rsvg_handle_new_from_data": (_POINTER, ctypes.c_char_p, ctypes.c_size_t, _FAILED),
        "rsvg_handle_get_geometry_for_layer": (
            *(_INT, _POINTER, ctypes.c_char_p, ctypes.POINTER(_Rectangle)),
            *(ctypes.POINTER(_Rectangle), ctypes.POINTER(_Rectangle), _FAILED),
        ),
        "rsvg_handle_render_document": (
            *(_INT, _POINTER, _POINTER, ctypes.POINTER(_Rectangle), _FAILED),
        ),
        "rsvg_handle_render_layer": (
            *(_INT, _POINTER, _POINTER, ctypes.c_char_p, ctypes.POINTER(_Rectangle), _FAILED),
        ),
    },
    "libgobject-2.0.so.0": {"g_object_unref": (None, _POINTER)},
}


@functools.cache
def _library(name: str) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise DesignError(f"a library is missing: {error}") from error
    for function, (result, *arguments) in _SIGNATURES[name].items():
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library


class Canvas:
    """Pixels that cairo draws to."""

    def __init__(self, pixels: Picture, is_opaque: bool = False) -> None:
        """Of rows without gaps; they are written while the canvas is there."""
        self._cairo = _library("libcairo.so.2")
        self._pixels = pixels
        height, width = pixels.shape
        self._surface = self._cairo.cairo_image_surface_create_for_data(
            pixels.ctypes.data, _RGB24 if is_opaque else _ARGB32, width, height, 4 * width
        )
        self.context = self._cairo.cairo_create(self._surface)

    def __enter__(self) -> "Canvas":
        return self

    def __exit__(self, *_: object) -> None:
        self._cairo.cairo_destroy(self.context)
        self._cairo.cairo_surface_destroy(self._surface)

    def move(self, x: float, y: float) -> None:
        """All that is drawn later."""
        self._transform(1, x, y)

    def scale(self, factor: float, x: float, y: float) -> None:
        """Likewise, about a place that stays where it is."""
        self._transform(factor, x * (1 - factor), y * (1 - factor))

    def _transform(self, factor: float, x: float, y: float) -> None:
        self._cairo.cairo_transform(self.context, ctypes.byref(_Matrix(factor, 0, 0, factor, x, y)))

    def write_png(self, path: Path) -> None:
        _check(self._cairo.cairo_surface_write_to_png(self._surface, bytes(path)), path)


def _check(status: int, path: Path) -> None:
    if status != 0:
        why = _library("libcairo.so.2").cairo_status_to_string(status).decode()
        raise DesignError(f"{path}: {why}")


def png_size(path: Path) -> tuple[int, int]:
    """Width and height, of one that can be read to its end."""
    cairo = _library("libcairo.so.2")
    surface = cairo.cairo_image_surface_create_from_png(bytes(path))
    try:
        _check(cairo.cairo_surface_status(surface), path)
        return (
            cairo.cairo_image_surface_get_width(surface),
            cairo.cairo_image_surface_get_height(surface),
        )
    finally:
        cairo.cairo_surface_destroy(surface)


class Drawing:
    """An SVG of so many pixels."""

    def __init__(self, text: bytes, width: int, height: int) -> None:
        self._rsvg = _library("librsvg-2.so.2")
        self._all = _Rectangle(0, 0, width, height)
        error = ctypes.POINTER(_Error)()
        self._handle = self._rsvg.rsvg_handle_new_from_data(text, len(text), ctypes.byref(error))
        if not self._handle:
            raise DesignError(f"librsvg cannot read it: {_told(error)}")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _library("libgobject-2.0.so.0").g_object_unref(self._handle)

    def draw(self, canvas: Canvas, element: str | None = None) -> None:
        """All of it, or one element by its id, where it is in all of it."""
        error = ctypes.POINTER(_Error)()
        where = ctypes.byref(self._all), ctypes.byref(error)
        if element is None:
            drawn = self._rsvg.rsvg_handle_render_document(self._handle, canvas.context, *where)
        else:
            drawn = self._rsvg.rsvg_handle_render_layer(
                self._handle, canvas.context, f"#{element}".encode(), *where
            )
        if not drawn:
            raise DesignError(f"librsvg cannot draw {element or 'it'}: {_told(error)}")

    def place(self, element: str) -> tuple[float, float, float, float]:
        """Where an element's own shape is, without its line: x, y, width, height."""
        error, ink, shape = ctypes.POINTER(_Error)(), _Rectangle(), _Rectangle()
        found = self._rsvg.rsvg_handle_get_geometry_for_layer(
            self._handle,
            f"#{element}".encode(),
            ctypes.byref(self._all),
            ctypes.byref(ink),
            ctypes.byref(shape),
            ctypes.byref(error),
        )
        if not found:
            raise DesignError(f"librsvg cannot say where {element} is: {_told(error)}")
        return shape.x, shape.y, shape.width, shape.height


def _told(error: Any) -> str:
    return error.contents.message.decode(errors="replace") if error else "no reason is told"


def empty(width: int, height: int) -> Picture:
    return numpy.zeros((height, width), numpy.uint32)


def write_png(picture: Picture, path: Path) -> None:
    """Without its alpha."""
    with Canvas(numpy.ascontiguousarray(picture), is_opaque=True) as canvas:
        canvas.write_png(path)


def channels(picture: Picture) -> numpy.ndarray:
    """Blue, green and red of each pixel, as numbers that can be subtracted."""
    words = numpy.ascontiguousarray(picture).astype("<u4")
    return words.view(numpy.uint8).reshape(*picture.shape, 4)[..., :3].astype(numpy.int16)
