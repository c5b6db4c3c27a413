# SPDX-License-Identifier: MIT
"""Runs in a guest: overwrites windows with random bytes again and again, as a hostile kernel would.

overwrite.py own|others SECONDS NUMBER   NUMBER: of the guest's domain, which the window's header
names. Writes through the PCI resource. Prints how often it has overwritten how many windows.
"""

import mmap
import os
import struct
import sys
import time
from pathlib import Path

HEADER = struct.Struct("<QII")  # magic, version, domain
MAGIC = int.from_bytes(b"gidwindo", "little")


def windows() -> list[tuple[int, mmap.mmap]]:
    found = []
    for resource in Path("/sys/bus/pci/devices").glob("*/resource2"):
        if (resource.parent / "device").read_text().strip() != "0x1110":
            continue
        if (resource.parent / "resource1").exists():
            continue  # the doorbell device
        with resource.open("r+b") as file:
            memory = mmap.mmap(file.fileno(), resource.stat().st_size)
        magic, _, domain = HEADER.unpack_from(memory)
        if magic == MAGIC:
            found.append((domain, memory))
    return found


def main() -> None:
    own, seconds, number = sys.argv[1] == "own", float(sys.argv[2]), int(sys.argv[3])
    targets = [memory for domain, memory in windows() if (domain == number) == own]
    assert targets, "there are no such windows"
    print(f"begins with {len(targets)}", flush=True)
    end, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < end or rounds == 0:
        noise = os.urandom(1 << 20)
        for memory in targets:
            for offset in range(0, len(memory), len(noise)):
                memory[offset : offset + len(noise)] = noise
        rounds += 1
        if rounds == 1:
            print("overwrote all once", flush=True)
    print(f"overwrote {len(targets)} windows {rounds} times", flush=True)


main()
