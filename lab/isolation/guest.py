# SPDX-License-Identifier: MIT
"""The domain `open` as a guest."""

from lab.isolation.domains import Open
from lab.isolation.limit import Whole

# Of a measurement: without KVM a hostile program has hardly begun after five.
GUEST_SECONDS = 20.0


# What writes by itself where it is told to (DMA), for those who attack: 64 bits of addresses.
DEVICES = ("-device", "edu,dma_mask=0xffffffffffffffff") * 4


class GuestOpen(Open):
    """`open` in a machine of its own. Translated, it has less to show."""

    film = "video/x-raw,format=BGRx,width=320,height=180,framerate=10/1"

    def limit(self) -> Whole:
        return Whole("the guest's memory")
