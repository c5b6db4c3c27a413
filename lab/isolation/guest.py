# SPDX-License-Identifier: MIT
"""The domain `open` as a guest."""

from lab.isolation.domains import Open
from lab.isolation.limit import Whole

# The minimum for a measurement: without KVM, a hostile program has hardly started after five.
GUEST_SECONDS = 20.0


# Devices that write to a given address (DMA), for attackers: 64-bit addresses.
DEVICES = ("-device", "edu,dma_mask=0xffffffffffffffff") * 4


class GuestOpen(Open):
    """`open` in a virtual machine. Emulated, it has less to show."""

    film = "video/x-raw,format=BGRx,width=320,height=180,framerate=10/1"

    def limit(self) -> Whole:
        return Whole("the guest's memory")
