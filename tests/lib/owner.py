# SPDX-License-Identifier: MIT
"""A process that owns slabs, told by a test what to do: `owner.py LIBGID`.

It takes one JSON list a line, [name, arguments…], calls what Owner has by that name, and answers
each with a line: the result, or {"error": number}.
"""

import ctypes
import fcntl
import json
import os
import sys


class Layout(ctypes.Structure):
    _fields_ = [
        ("fourcc", ctypes.c_uint32),
        ("modifier", ctypes.c_uint64),
        ("width", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
        ("plane_count", ctypes.c_uint32),
        ("planes", (ctypes.c_uint32 * 2) * 4),
    ]


class SlabInfo(ctypes.Structure):
    _fields_ = [
        ("gid", ctypes.c_uint64),
        ("memory", ctypes.c_int),
        ("layout", Layout),
        ("slot_count", ctypes.c_uint32),
        ("slot_size", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("fd", ctypes.c_int),
        ("imported", ctypes.c_bool),
        ("revoked", ctypes.c_bool),
        ("description", ctypes.c_char_p),
        ("reserved", ctypes.c_uint64 * 8),
    ]


class Owner:
    """The child's side."""

    def __init__(self) -> None:
        self.lib = ctypes.CDLL(sys.argv[1])
        self.lib.gid_slab_gid.restype = ctypes.c_uint64
        self.lib.gid_slab_data.restype = ctypes.c_void_p
        self.domain = ctypes.c_void_p()
        self.check(self.lib.gid_domain_connect(None, ctypes.byref(self.domain)))
        self.slabs: list[ctypes.c_void_p] = []

    def check(self, result: int) -> int:
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return result

    def create(self, fourcc: int, width: int, height: int, slots: int, slot_size: int) -> list[int]:
        """Makes a slab. Its index here, and the gids of its slots."""
        layout, slab = Layout(), ctypes.c_void_p()
        self.check(self.lib.gid_layout_init(ctypes.byref(layout), fourcc, width, height, 4))
        self.check(
            self.lib.gid_slab_create(
                self.domain,
                ctypes.byref(layout),
                ctypes.c_uint64(slot_size),
                slots,
                None,
                ctypes.byref(slab),
            )
        )
        return self.add(slab, slots)

    def export(self, fourcc: int, width: int, height: int, offset: int, size: int) -> list[int]:
        """Exports a sealed memfd of so many bytes, whose picture begins at `offset`."""
        layout, slab = Layout(), ctypes.c_void_p()
        self.check(self.lib.gid_layout_init(ctypes.byref(layout), fourcc, width, height, 4))
        fd = os.memfd_create("exported", os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, size)
        os.pwrite(fd, bytes(index % 251 for index in range(size)), 0)
        future_write = 0x10
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | future_write
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
        self.check(
            self.lib.gid_slab_export(
                self.domain,
                fd,
                ctypes.c_uint64(offset),
                ctypes.byref(layout),
                None,
                ctypes.byref(slab),
            )
        )
        return self.add(slab, 1)

    def add(self, slab: ctypes.c_void_p, slots: int) -> list[int]:
        self.slabs.append(slab)
        return [len(self.slabs) - 1, *(self.lib.gid_slab_gid(slab, slot) for slot in range(slots))]

    def grant(self, slab: int, reader: int) -> int:
        return self.check(self.lib.gid_slab_grant(self.slabs[slab], reader))

    def revoke(self, slab: int, reader: int) -> int:
        return self.check(self.lib.gid_slab_revoke(self.slabs[slab], reader))

    def write(self, slab: int, slot: int, path: str) -> int:
        """Copies a file's bytes into the slot."""
        with open(path, "rb") as file:
            data = file.read()
        ctypes.memmove(self.lib.gid_slab_data(self.slabs[slab], slot), data, len(data))
        return len(data)

    def inode(self, slab: int) -> int:
        """Of the file that the slab's memory is."""
        info = SlabInfo()
        self.lib.gid_slab_get_info(self.slabs[slab], ctypes.byref(info))
        return os.fstat(info.fd).st_ino

    def destroy(self, slab: int, wipe: bool) -> None:
        self.lib.gid_slab_destroy(self.slabs[slab], ctypes.c_bool(wipe))

    def dispatch(self) -> int:
        return self.check(self.lib.gid_domain_dispatch(self.domain))


def main() -> None:
    owner = Owner()
    print(json.dumps("connected"), flush=True)
    for line in sys.stdin:
        name, *args = json.loads(line)
        try:
            answer = getattr(owner, name)(*args)
        except OSError as error:
            answer = {"error": error.errno}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
