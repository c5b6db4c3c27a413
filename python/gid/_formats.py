# SPDX-License-Identifier: MIT
"""Pixel formats: the types of samples, and numpy views of the planes of a slot."""

import errno
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import GidError, error_of
from ._gid import ffi, lib

Plane: TypeAlias = npt.NDArray[Any]
# One array, or a tuple of one for each plane.
Picture: TypeAlias = Any

# libgid knows the bytes of a block of samples, but not their type: these formats do not have
# samples of one byte. Samples of odd sizes (10 bits of red) stay one number for each pixel.
SAMPLES = {
    "<u2": (
        "RG16 BG16 XR15 XB15 AR15 XR12 AR12 XR48 AR48 XB48 AB48 R16 Y412 Y416 Y210 Y212 Y216 "
        "P010 P012 P016 Q410 Q401 S010 S210 S410 S012 S212 S412 S016 S216 S416"
    ),
    "<u4": "XR30 AR30 XB30 AB30 RX30 RA30 BX30 BA30 Y410",
    "<f2": "XR4H AR4H XB4H AB4H",
}
SAMPLE_OF = {name: np.dtype(kind) for kind, names in SAMPLES.items() for name in names.split()}
BYTE = np.dtype(np.uint8)


def name_of(fourcc: int) -> str:
    """The four characters of drm_fourcc.h, without trailing spaces: "XR24", "NV12", "R8"."""
    return fourcc.to_bytes(4, "little").decode("latin-1").rstrip()


def fourcc_of(name: str) -> int:
    """The number of a format that libgid supports."""
    fourcc = int.from_bytes(name.encode("latin-1", "replace").ljust(4)[:4], "little")
    if len(name) > 4 or lib.gid_format_find(fourcc) == ffi.NULL:
        known = " ".join(formats())
        raise GidError(
            errno.ENOTSUP,
            f"format={name!r}: formats have the names of drm_fourcc.h: {known}",
        )
    return fourcc


def formats() -> list[str]:
    """The names of all pixel formats."""
    names: list[str] = []
    while (info := lib.gid_format_at(len(names))) != ffi.NULL:
        names.append(name_of(info.fourcc))
    return names


def views_of(layout: Any, memory: memoryview, start: int = 0) -> tuple[Plane, ...]:
    """An array for each plane of a linear layout that gid_layout_check() accepted.

    Its shape is (rows, blocks), or (rows, blocks, samples of a block).
    """
    info = lib.gid_format_find(layout.fourcc)
    kind = SAMPLE_OF.get(name_of(layout.fourcc), BYTE)
    whole = np.frombuffer(memory, BYTE)  # a view of read-only memory cannot be made writable
    planes: list[Plane] = []
    for i in range(info.plane_count):
        block = info.planes[i].bytes
        rows = lib.gid_format_rows(layout.fourcc, i, layout.height)
        blocks = lib.gid_format_row_bytes(layout.fourcc, i, layout.width) // block
        shape: tuple[int, ...] = rows, blocks
        strides: tuple[int, ...] = layout.planes[i].stride, block
        if block > kind.itemsize:
            shape, strides = (*shape, block // kind.itemsize), (*strides, kind.itemsize)
        offset = start + layout.planes[i].offset
        planes.append(np.ndarray(shape, kind, whole, offset, strides))
    return tuple(planes)


def visible(planes: tuple[Plane, ...], fourcc: int, box: Any) -> tuple[Plane, ...]:
    """The part of each plane that the box, in pixels, touches."""
    info = lib.gid_format_find(fourcc)
    parts = []
    for i, plane in enumerate(planes):
        across, down = info.planes[i].hsub, info.planes[i].vsub
        rows = slice(box.y // down, -(-(box.y + box.height) // down))
        blocks = slice(box.x // across, -(-(box.x + box.width) // across))
        parts.append(plane[rows, blocks])
    return tuple(parts)


def picture_of(planes: tuple[Plane, ...]) -> Picture:
    """A single plane as such, several as a tuple."""
    return planes[0] if len(planes) == 1 else planes


def layout_of(name: str, width: int, height: int, align: int) -> Any:
    """A linear layout, with rows aligned to `align` bytes."""
    layout = ffi.new("struct gid_layout *")
    error = lib.gid_layout_init(layout, fourcc_of(name), width, height, align)
    if error < 0:
        raise error_of(error, f"{name} {width}x{height}: sizes are 1 to {lib.GID_SIZE_MAX}")
    return layout
