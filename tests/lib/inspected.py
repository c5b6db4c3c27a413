# SPDX-License-Identifier: MIT
"""What the kernel knows of a process: its mappings, its memory and its descriptors."""

import ctypes
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mapping:
    permissions: str
    inode: int
    name: str


class Inspected:
    """Something that has a `pid`."""

    pid: int

    def maps(self) -> list[Mapping]:
        lines = Path(f"/proc/{self.pid}/maps").read_text().splitlines()
        fields = [line.split(maxsplit=5) for line in lines]
        return [Mapping(f[1], int(f[4]), f[5] if len(f) > 5 else "") for f in fields]

    def permissions_of(self, inode: int) -> list[str]:
        """How it maps a file: one string such as r--s for each mapping."""
        return [mapping.permissions for mapping in self.maps() if mapping.inode == inode]

    def is_sanitized(self) -> bool:
        """Whether it runs under ASan, which keeps what was freed for a while."""
        return any("libasan" in mapping.name for mapping in self.maps())

    def private_memory(self) -> int:
        """Bytes of memory that are its alone."""
        rollup = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        return int(re.search(r"Private_Dirty: +(\d+) kB", rollup).group(1)) * 1024

    def descriptors(self) -> dict[int, str]:
        """What each of its descriptors is."""
        return descriptors_of(self.pid)

    def descriptor_of(self, inode: int) -> int:
        """A duplicate of its descriptor of the file."""
        for number in self.descriptors():
            if Path(f"/proc/{self.pid}/fd/{number}").stat().st_ino == inode:
                return duplicate_descriptor(self.pid, number)
        raise AssertionError("it has no descriptor of this file")

    def sockets_to_itself(self) -> list[int]:
        """Descriptors of socket pairs of which it has both ends."""
        listing = subprocess.run(["ss", "-xpnH"], check=True, capture_output=True, text=True).stdout
        ends = {}
        for line in listing.splitlines():
            found = re.search(rf"pid={self.pid},fd=(\d+)", line)
            inodes = re.findall(r"\* (\d+)", line)
            if found and len(inodes) == 2:
                ends[inodes[0]] = (int(found.group(1)), inodes[1])
        return [number for number, peer in ends.values() if peer in ends]


def descriptors_of(pid: int) -> dict[int, str]:
    """What each descriptor of a process is."""
    found = {}
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found[int(entry.name)] = os.readlink(entry)
        except FileNotFoundError:
            pass  # closed meanwhile
    return found


def duplicate_descriptor(pid: int, number: int) -> int:
    """A descriptor of another process (pidfd_getfd), to break what it stands for."""
    pidfd = os.pidfd_open(pid)
    found = ctypes.CDLL(None, use_errno=True).syscall(438, pidfd, number, 0)
    os.close(pidfd)
    assert found >= 0, os.strerror(ctypes.get_errno())
    return found
