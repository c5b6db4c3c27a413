# SPDX-License-Identifier: MIT
"""What differs between guests of one architecture and of another."""

import platform
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Architecture:
    """One that guests can have.

    `name`: Debian's of its kernels. `linux`: as uname -m has it. `qemu`: QEMU's program for it, of
    Debian's `package`. `cpu`: what QEMU translates for. `words`: what a translated kernel is told.
    """

    name: str
    linux: str
    qemu: str
    package: str
    machine: str
    cpu: str
    console: str
    is_pc: bool  # has ACPI, and an IOMMU by which VFIO gives devices to programs
    words: tuple[str, ...] = ()

    @property
    def debian(self) -> str:
        """Debian's name, of which there may be several kernels."""
        return self.name.partition("-")[0]

    @property
    def is_own(self) -> bool:
        """Whether this machine's programs run there."""
        return self.linux == OWN.linux

    @property
    def kernels(self) -> str:
        """How the names of its kernels end. "": any of this machine's is one."""
        return "" if self == OWN else f"-{self.name}"


# Its instructions are quick to emulate. RDRAND besides: without it the guest's kernel takes over a
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
# A processor that has all sizes of pages, and an instruction for each atomic operation. It has the
# newest controller of interrupts that there can be: older ones have none for PCI devices.
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
    """As vm-arch= has it; this machine's where it says none."""
    return {one.name: one for one in (ARM64, ARM64_16K)}.get(name, OWN)
