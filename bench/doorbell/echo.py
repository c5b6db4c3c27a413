# SPDX-License-Identifier: MIT
"""Runs in a guest: answers each interrupt of its doorbell device by ringing the domain NUMBER.

echo.py NUMBER    prints "ready". Nobody else may have the device open.
"""

import fcntl
import os
import struct
import sys
from pathlib import Path

# linux/vfio.h: _IO(';', 100 + n) for most.
GET_API_VERSION, SET_IOMMU = 0x3B64, 0x3B66
GROUP_SET_CONTAINER, GROUP_GET_DEVICE_FD = 0x3B68, 0x3B6A
DEVICE_GET_REGION_INFO, DEVICE_SET_IRQS = 0x3B6C, 0x3B6E
TYPE1_IOMMU, MSIX = 1, 2
DATA_EVENTFD, ACTION_TRIGGER = 1 << 2, 1 << 5
BAR0, CONFIG = 0, 7
COMMAND, MEMORY_AND_MASTER = 4, 6
DOORBELL = 12  # QEMU's register

ring = int(sys.argv[1]) << 16
name = next(p for p in Path("/sys/bus/pci/drivers/vfio-pci").iterdir() if ":" in p.name).name
number = Path(f"/sys/bus/pci/devices/{name}/iommu_group").resolve().name
container = os.open("/dev/vfio/vfio", os.O_RDWR)
group = os.open(f"/dev/vfio/{number}", os.O_RDWR)
fcntl.ioctl(group, GROUP_SET_CONTAINER, struct.pack("i", container))
fcntl.ioctl(container, SET_IOMMU, TYPE1_IOMMU)
device = fcntl.ioctl(group, GROUP_GET_DEVICE_FD, bytearray(name.encode() + b"\0"))


def region(index: int) -> int:
    """Where it is in the device's descriptor."""
    info = struct.pack("IIIIQQ", 32, 0, index, 0, 0, 0)
    return struct.unpack("IIIIQQ", fcntl.ioctl(device, DEVICE_GET_REGION_INFO, info))[5]


os.pwrite(device, struct.pack("H", MEMORY_AND_MASTER), region(CONFIG) + COMMAND)
bell = os.eventfd(0)
irqs = struct.pack("IIIIIi", 24, DATA_EVENTFD | ACTION_TRIGGER, MSIX, 0, 1, bell)
fcntl.ioctl(device, DEVICE_SET_IRQS, irqs)
register = region(BAR0) + DOORBELL
print("ready", flush=True)
while True:
    os.eventfd_read(bell)
    os.pwrite(device, struct.pack("I", ring), register)
