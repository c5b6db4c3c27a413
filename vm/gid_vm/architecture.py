# SPDX-License-Identifier: MIT
"""The differences between guests of different architectures."""

import platform
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Architecture:
    """An architecture of guests.

    `name`: of Debian's kernels. `linux`: the name in uname -m. `qemu`: the QEMU program, from
    Debian's `package`. `cpu`: the processor that QEMU emulates. `words`: arguments of an emulated
    kernel.
    """

    name: str
    linux: str
    qemu: str
    package: str
    machine: str
    cpu: str
    console: str
    is_pc: bool  # has ACPI, and an IOMMU for VFIO
    words: tuple[str, ...] = ()

    @property
    def debian(self) -> str:
        """Debian's name of the architecture, for which it may have several kernels."""
        return self.name.partition("-")[0]

    @property
    def is_own(self) -> bool:
        """Whether programs of this machine run on it."""
        return self.linux == OWN.linux

    @property
    def kernels(self) -> str:
        """The suffix of its kernels' names; "": all kernels of this machine."""
        return "" if self == OWN else f"-{self.name}"


# Its instructions are fast to emulate. RDRAND is added: without it the guest's kernel needs over a
# second to have random numbers.
AMD64 = Architecture(
    "amd64",
    "x86_64",
    "qemu-system-x86_64",
    "qemu-system-x86",
    "q35",
    "Nehalem,+rdrand",
    "ttyS0",
    True,
    ("tsc=reliable", "no_timer_check"),
)
# A processor with all page sizes and with atomic instructions. It has the newest possible interrupt
# controller: older ones cannot serve PCI devices.
ARM64 = Architecture(
    "arm64",
    "aarch64",
    "qemu-system-aarch64",
    "qemu-system-arm",
    "virt,gic-version=max",
    "neoverse-n1",
    "ttyAMA0",
    False,
)
ARM64_16K = replace(ARM64, name="arm64-16k")  # pages of 16 KiB
OWN = next((one for one in (AMD64, ARM64) if one.linux == platform.machine()), AMD64)


def by_name(name: str | None) -> Architecture:
    """By the value of vm-arch=; this machine's if that is unset."""
    return {one.name: one for one in (ARM64, ARM64_16K)}.get(name, OWN)
