# SPDX-License-Identifier: MIT
"""Runs in a guest, as a reader that does not co-operate: it has mapped a window, and looks at it.

spy.py INDEX [BEGIN]   the window's ACPI index, and where in it memory begins that programs have

Prints a JSON object for each change of how many of the window's pages have something in them.
"""

import json
import mmap
import sys
import time
from pathlib import Path

PAGE, PIECE = 4096, 1 << 20
ZEROES = bytes(PIECE)


def find(index: int) -> Path:
    for device in Path("/sys/bus/pci/devices").iterdir():
        number = device / "acpi_index"
        if number.exists() and int(number.read_text()) == index:
            return device
    sys.exit(f"no device has the ACPI index {index}")


def any_set(data: bytes) -> bool:
    return data != ZEROES[: len(data)]


device = find(int(sys.argv[1]))
(device / "enable").write_text("1")
resource = device / "resource2"
with (
    resource.open("rb") as file,
    mmap.mmap(file.fileno(), resource.stat().st_size, prot=mmap.PROT_READ) as memory,
):
    begin = int(sys.argv[2]) if len(sys.argv) > 2 else PAGE  # behind the hub's own
    before = -1
    while True:
        seen = 0
        for piece in range(begin, len(memory), PIECE):
            data = memory[piece : piece + PIECE]
            if any_set(data):
                seen += sum(any_set(data[at : at + 64]) for at in range(0, len(data), PAGE))
        if seen != before:
            print(json.dumps({"sees": seen}), flush=True)
        before = seen
        time.sleep(0.02)
