# SPDX-License-Identifier: MIT
"""The memory of a slab as numpy arrays. It stays mapped as long as any of them exists."""

import errno
from functools import partial
from typing import Any

from ._connection import Connection
from ._errors import error_of
from ._formats import Picture, Plane, picture_of, views_of
from ._gid import ffi, lib


def keep(connection: Connection, slab: Any, address: Any, size: int) -> memoryview:
    """`size` bytes at `address`. The last view of them drops the reference to the slab."""
    connection.mapped += 1
    give_back = partial(connection.forget_mapping, slab)
    owned = ffi.gc(ffi.cast("char *", address), lambda _: connection.later(give_back))
    return memoryview(ffi.buffer(owned, size))


class ImportedSlab:
    """A slab that this process imports: its description, and views of its slots."""

    def __init__(self, connection: Connection, slab: Any) -> None:
        """Takes a reference to the slab, and checks its owner's description of it."""
        self.c = slab
        self.info = ffi.new("struct gid_slab_info *")
        lib.gid_slab_get_info(slab, self.info)
        error, why = self._look()
        if error < 0:
            lib.gid_slab_unref(slab)
            raise error_of(error, why)
        self.is_dmabuf = self.info.memory == lib.GID_MEMORY_DMABUF
        self.description = str(ffi.string(self.info.description).decode(errors="replace"))
        size = self.info.slot_size * self.info.slot_count
        address = lib.gid_slab_view_untouched(slab, 0)
        self._memory = keep(connection, slab, address, size).toreadonly()
        self.about = self.info, self.description
        self._planes: dict[int, tuple[Plane, ...]] = {}
        self.pictures: list[Picture] = []
        """The pictures of slots that were read already, without a crop, in memory that no device
        draws into. For other slots it has None, or no entry.
        """

    def _look(self) -> tuple[int, str]:
        error = lib.gid_layout_check(ffi.addressof(self.info, "layout"), self.info.slot_size)
        if error == 0 and self.info.layout.modifier != 0:
            return -errno.ENOTSUP, "a device tiled the picture: read it by gidsrc and videoconvert"
        if error == 0 and lib.gid_slab_view_untouched(self.c, 0) == ffi.NULL:
            return -errno.ENOTSUP, "no processor can read this dma-buf"
        return error, ""

    @property
    def is_revoked(self) -> bool:
        lib.gid_slab_get_info(self.c, self.info)
        return bool(self.info.revoked)

    def planes(self, slot: int) -> tuple[Plane, ...]:
        """The planes of the whole picture in the slot, read-only."""
        found = self._planes.get(slot)
        if found is None:
            # Makes its pages present, unless its owner left some out.
            if lib.gid_slab_view(self.c, slot) == ffi.NULL:
                raise error_of(-errno.ENODATA)
            start = slot * self.info.slot_size
            found = self._planes[slot] = views_of(self.info.layout, self._memory, start)
            if not self.is_dmabuf:
                self.pictures += [None] * (slot + 1 - len(self.pictures))
                self.pictures[slot] = picture_of(found)
        return found
