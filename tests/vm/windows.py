# SPDX-License-Identifier: MIT
"""Runs in a guest: writes all over its windows, as a hostile kernel would, and says what it reads.

windows.py BYTE...   one for each window, in the order of the PCI bus; prints the same order
"""

import mmap
import sys
from pathlib import Path

IVSHMEM = ("0x1af4", "0x1110")


def is_window(device: Path) -> bool:
    return tuple((device / name).read_text().strip() for name in ("vendor", "device")) == IVSHMEM


windows = sorted(filter(is_window, Path("/sys/bus/pci/devices").iterdir()))
assert len(windows) == len(sys.argv) - 1, f"there are {len(windows)} windows"
for window, value in zip(windows, sys.argv[1:], strict=True):
    (window / "enable").write_text("1")
    resource = window / "resource2"
    with resource.open("r+b") as file, mmap.mmap(file.fileno(), resource.stat().st_size) as memory:
        first = memory[0]
        memory[:] = bytes([int(value)]) * len(memory)
        print(len(memory), first, memory[0], memory[-1])
