# SPDX-License-Identifier: MIT
"""The QEMU command line for one guest. Only this file knows QEMU's options."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from .architecture import OWN, Architecture
from .initramfs import CannotBoot
from .tsc import tsc_khz

LARGE_PAGE = 2 << 20  # bytes, on hosts with pages of 4 KiB
INDEX_STEP = 256  # between ACPI indices of a domain's windows, as in gidd/machine/shm_files.h


@dataclass(frozen=True)
class Window:
    """A file of the host as memory of the guest: BAR 2 of an ivshmem-plain device.

    `size` in bytes, a power of two, as every BAR. Without `writable`, writes of the guest are
    dropped. `domain`: the number of the owner, and `number`: which of its windows. The guest's gidd
    finds both in the device's ACPI index, because the owner can write the content. A machine
    without ACPI has no such index.

    With `pages` it is an NVDIMM instead, so that the guest's kernel has struct pages for it. That
    is possible for the guest's own windows only. The number is that of its slot.
    """

    path: Path
    size: int
    writable: bool
    domain: int | None = None
    number: int = 0
    pages: bool = False

    def backend(self, name: str) -> str:
        readonly = "off" if self.writable else "on"
        options = ["memory-backend-file", f"id={name}", f"size={self.size}", "share=on"]
        if self.size % LARGE_PAGE == 0:
            options.append(f"align={LARGE_PAGE}")  # allows large pages of the file
        return ",".join([*options, f"readonly={readonly}", f"mem-path={quote(self.path)}"])

    def device(self, name: str, is_pc: bool = True) -> str:
        if self.pages:
            return f"nvdimm,memdev={name},id={name}-device,slot={self.number}"
        place = None if self.domain is None else self.number * INDEX_STEP + self.domain
        index = f",acpi-index={place}" if is_pc and place is not None else ""
        return f"ivshmem-plain,memdev={name},id={name}-device{index}"


@dataclass(frozen=True)
class Port:
    """A virtio-serial port: a unix socket on the host, /dev/virtio-ports/NAME in the guest.

    QEMU either listens at `path`, or connects to it, repeatedly until somebody listens.
    """

    name: str
    path: Path
    listens: bool

    def chardev(self, number: int) -> str:
        how = "server=on,wait=off" if self.listens else f"server=off,reconnect-ms={RECONNECT_MS}"
        return f"socket,id=port{number},path={quote(self.path)},{how}"

    def device(self, number: int) -> str:
        return f"virtserialport,chardev=port{number},name={self.name},id=port{number}-device"


@dataclass(frozen=True)
class Share:
    """A folder of the host that the guest mounts over 9p, by its tag."""

    tag: str
    path: Path
    writable: bool

    def options(self) -> str:
        options = ["local", f"path={quote(self.path)}", f"mount_tag={self.tag}"]
        options += ["security_model=none", "multidevs=remap"]
        return ",".join([*options, *([] if self.writable else ["readonly=on"])])


@dataclass(frozen=True)
class Display:
    """A screen: a virtio-gpu, a KMS device of the guest with one connector, Virtual-1.

    `vnc`: the unix socket for viewers; None: only screendump shows it.
    """

    width: int
    height: int
    vnc: Path | None = None

    def arguments(self) -> list[str]:
        device = f"virtio-gpu-pci,id=display,xres={self.width},yres={self.height}"
        vnc = ["-vnc", f"unix:{quote(self.vnc)}"] if self.vnc is not None else []
        return ["-device", device, *vnc]


@dataclass
class Machine:
    """One guest, as QEMU runs it. Windows are on its PCI bus in their order."""

    name: str
    accel: str = "tcg"
    memory_mib: int = 1024
    cpus: int = 1
    kernel: Path | None = None  # None: boots from the first disk
    initramfs: Path | None = None
    kernel_arguments: list[str] = field(default_factory=list)
    console: str = "null"  # QEMU's character device for the first serial port
    shares: list[Share] = field(default_factory=list)
    disks: list[Path] = field(default_factory=list)
    ports: list[Port] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    doorbell: Path | None = None  # the socket of an ivshmem server
    doorbell_vectors: int = 1  # the number that the server has for this machine
    monitor: Path | None = None  # where QEMU listens for QMP
    display: Display | None = None
    modules: list[str] = field(default_factory=list)  # modules that the guest loads at boot
    devices: list[str] = field(default_factory=list)  # more arguments
    s3: bool = True  # whether it supports suspend to RAM
    arch: Architecture = OWN

    def arguments(self) -> list[str]:
        """The complete command line."""
        split = ",kernel-irqchip=split" if self.doorbell and self.accel == "kvm" else ""
        command = [find_qemu(self.arch), "-M", f"{self.arch.machine}{split}", "-name", self.name]
        command += self.dimms()
        command += [*accel_options(self.accel, self.arch), "-smp", str(self.cpus)]
        command += ["-m", f"{self.memory_mib}M", "-nodefaults", "-no-user-config"]
        command += ["-sandbox", SANDBOX]
        command += ["-display", "none", "-no-reboot", "-serial", self.console]
        if not self.s3 and self.arch.is_pc:
            command += ["-global", "ICH9-LPC.disable_s3=1"]
        if self.kernel is not None:
            command += ["-kernel", str(self.kernel), "-append", " ".join(self.append())]
        if self.initramfs is not None:
            command += ["-initrd", str(self.initramfs)]
        if self.monitor is not None:
            command += ["-qmp", f"unix:{quote(self.monitor)},server=on,wait=off"]
        if self.display is not None:
            command += self.display.arguments()
        if self.doorbell is not None:
            # The IOMMU for VFIO must come before the devices that it serves.
            command += ["-device", "intel-iommu,intremap=on"]
        for share in self.shares:
            command += ["-virtfs", share.options()]
        for number, disk in enumerate(self.disks):
            drive = f"if=none,id=disk{number},format={disk_format(disk)},file={quote(disk)}"
            command += ["-drive", drive]
            command += ["-device", f"virtio-blk-pci,drive=disk{number}"]
        if self.ports:
            command += ["-device", "virtio-serial-pci"]
        for number, port in enumerate(self.ports):
            command += ["-chardev", port.chardev(number), "-device", port.device(number)]
        for number, window in enumerate(self.windows):
            name = f"window{number}"
            device = window.device(name, self.arch.is_pc)
            command += ["-object", window.backend(name), "-device", device]
        if self.doorbell is not None:
            command += ["-chardev", f"socket,id=doorbell,path={quote(self.doorbell)}"]
            vectors = f"vectors={self.doorbell_vectors}"
            command += ["-device", f"ivshmem-doorbell,{vectors},chardev=doorbell,id=bell"]
        return command + self.devices

    def dimms(self) -> list[str]:
        """Memory slots for windows that are NVDIMMs; QEMU adds these options to others."""
        size = sum(window.size for window in self.windows if window.pages) >> 20
        room = f"size={self.memory_mib}M,slots={DIMM_SLOTS},maxmem={self.memory_mib + size}M"
        return ["-machine", "nvdimm=on", "-m", room] if size > 0 else []

    def append(self) -> list[str]:
        """The kernel's command line."""
        words = [f"console={self.arch.console}", "quiet", "loglevel=3", "panic=-1"]
        words += tcg_words(self.arch) if self.accel == "tcg" else []
        words += ["intel_iommu=on"] if self.doorbell is not None else []
        return words + self.kernel_arguments


RECONNECT_MS = 200
DIMM_SLOTS = 64  # one for each window that a domain can have
# A guest that has compromised QEMU cannot start programs, change its user, or change its share of
# the processors.
SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"


def quote(path: Path) -> str:
    """Quotes a path within a QEMU option, where a comma separates fields."""
    return str(path).replace(",", ",,")


def disk_format(disk: Path) -> str:
    """The format by the file's name, never by its content, which the guest can write.

    A raw disk taken for qcow2 could name any file of the host as its backing file.
    """
    return "qcow2" if disk.suffix == ".qcow2" else "raw"


def find_qemu(arch: Architecture = OWN) -> str:
    path = shutil.which(arch.qemu)
    if path is None:
        raise CannotBoot(f"{arch.qemu} is missing: install {arch.package}")
    return path


def tcg_words(arch: Architecture = OWN) -> list[str]:
    """Kernel arguments for an emulated guest.

    A PC's clock is the host's counter, with its frequency. The arguments skip self-tests and KASLR,
    which take a second of five. They disable mitigations: TCG does not speculate, and with them
    each system call would flush its translations and take three times as long. Memory is cleared
    only once: the kernel clears what it gives to programs anyway.
    """
    words = ["cryptomgr.notests", "nokaslr", "mitigations=off", "init_on_alloc=0", *arch.words]
    khz = tsc_khz() if arch.is_pc else None
    return words + ([f"tsc_early_khz={khz}"] if khz is not None else [])


def accel_options(accel: str, arch: Architecture) -> list[str]:
    """With KVM the guest has the host's processor."""
    if accel == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi", "-cpu", arch.cpu]
