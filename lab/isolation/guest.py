# SPDX-License-Identifier: MIT
"""The domain `open` as a guest."""

from lab.isolation.domains import Open

# Of a measurement: without KVM a hostile program has hardly begun after five.
GUEST_SECONDS = 20.0


# What writes by itself where it is told to (DMA), for those who attack: 64 bits of addresses.
DEVICES = ("-device", "edu,dma_mask=0xffffffffffffffff") * 4


class GuestMemory:
    """What a leak in a guest ends at, as limit.Limit."""

    kind = "the guest's memory"

    def command(self, *command: str) -> list[str]:
        return list(command)

    def close(self) -> None:
        pass


class GuestOpen(Open):
    """`open` in a machine of its own. Translated, it has less to show."""

    film = "video/x-raw,format=BGRx,width=320,height=180,framerate=10/1"

    def limit(self) -> GuestMemory:
        return GuestMemory()
