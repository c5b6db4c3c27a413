# SPDX-License-Identifier: MIT
"""The same machine as a libvirt domain.

It uses libvirt's own elements where they exist. Windows are arguments of QEMU, as libvirt's <shmem>
can neither name the file nor make it read-only.
"""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from .initramfs import CannotBoot
from .qemu import Display, Machine, disk_format, find_qemu

QEMU = "http://libvirt.org/schemas/domain/qemu/1.0"

# PCI slots for devices given as arguments of QEMU, which come first. libvirt assigns slots from 1
# on to its own devices, and q35 has its own from 0x1b on.
SLOTS = range(0x8, 0x1B)


def child(parent: Element, tag: str, text: object = None, **attributes: object) -> Element:
    element = SubElement(parent, tag, {key: str(value) for key, value in attributes.items()})
    if text is not None:
        element.text = str(text)
    return element


def to_xml(machine: Machine) -> str:
    """The XML for `virsh define`."""
    if not machine.arch.is_pc:
        raise CannotBoot(f"no XML is made for a guest of {machine.arch.name}: see qemu-args")
    ElementTree.register_namespace("qemu", QEMU)
    domain = Element("domain", {"type": "kvm" if machine.accel == "kvm" else "qemu"})
    child(domain, "name", machine.name)
    child(domain, "memory", machine.memory_mib, unit="MiB")
    child(domain, "vcpu", machine.cpus)
    system = child(domain, "os")
    child(system, "type", "hvm", arch="x86_64", machine="q35")
    if machine.kernel is not None:
        child(system, "kernel", machine.kernel)
        if machine.initramfs is not None:
            child(system, "initrd", machine.initramfs)
        child(system, "cmdline", " ".join(machine.append()))
    features = child(domain, "features")
    child(features, "acpi")
    child(features, "apic")
    if machine.doorbell is not None:
        child(features, "ioapic", driver="qemu")
    if machine.accel == "kvm":
        child(domain, "cpu", mode="host-passthrough")
    else:
        model, *features = machine.arch.cpu.split(",+")
        cpu = child(domain, "cpu", mode="custom", match="exact", check="none")
        child(cpu, "model", model)
        for feature in features:
            child(cpu, "feature", policy="require", name=feature)
    if not machine.s3:
        child(child(domain, "pm"), "suspend-to-mem", enabled="no")
    child(domain, "on_poweroff", "destroy")
    child(domain, "on_reboot", "destroy")
    child(domain, "on_crash", "destroy")
    add_devices(child(domain, "devices"), machine)
    add_windows(domain, machine)
    ElementTree.indent(domain)
    return ElementTree.tostring(domain, encoding="unicode") + "\n"


def add_devices(devices: Element, machine: Machine) -> None:
    child(devices, "emulator", find_qemu())
    for number, disk in enumerate(machine.disks):
        element = child(devices, "disk", type="file", device="disk")
        child(element, "driver", name="qemu", type=disk_format(disk))
        child(element, "source", file=disk)
        child(element, "target", dev=f"vd{chr(ord('a') + number)}", bus="virtio")
    for share in machine.shares:
        element = child(
            devices, "filesystem", type="mount", accessmode="passthrough", multidevs="remap"
        )
        child(element, "source", dir=share.path)
        child(element, "target", dir=share.tag)
        if not share.writable:
            child(element, "readonly")
    for port in machine.ports:
        element = child(devices, "channel", type="unix")
        source = child(
            element, "source", mode="bind" if port.listens else "connect", path=port.path
        )
        if not port.listens:
            child(source, "reconnect", enabled="yes", timeout=1)
        child(element, "target", type="virtio", name=port.name)
    if machine.console == "stdio":
        child(devices, "serial", type="pty")  # for virsh console
    elif machine.console.startswith("file:"):
        serial = child(devices, "serial", type="file")
        child(serial, "source", path=machine.console.removeprefix("file:"))
    if machine.display is not None:
        add_display(devices, machine.display)
    child(devices, "memballoon", model="none")
    if machine.doorbell is not None:
        element = child(devices, "shmem", name="doorbell")
        child(element, "model", type="ivshmem-doorbell")
        child(element, "server", path=machine.doorbell)
        child(element, "msi", vectors=machine.doorbell_vectors, ioeventfd="on")
        element = child(devices, "iommu", model="intel")
        child(element, "driver", intremap="on")


def add_display(devices: Element, display: Display) -> None:
    if display.vnc is not None:
        graphics = child(devices, "graphics", type="vnc")
        child(graphics, "listen", type="socket", socket=display.vnc)
    model = child(child(devices, "video"), "model", type="virtio", heads=1)
    child(model, "resolution", x=display.width, y=display.height)


def add_windows(domain: Element, machine: Machine) -> None:
    words = []
    on_bus = sum(not window.pages for window in machine.windows)
    if on_bus > len(SLOTS):
        raise CannotBoot(f"a libvirt domain has room for {len(SLOTS)} windows only")
    slots = iter(SLOTS)
    for number, window in enumerate(machine.windows):
        name = f"window{number}"
        place = "" if window.pages else f",bus=pcie.0,addr={next(slots):#x}"
        words += ["-object", window.backend(name), "-device", window.device(name) + place]
    words += machine.dimms() + machine.devices
    if words:
        line = SubElement(domain, f"{{{QEMU}}}commandline")
        for word in words:
            SubElement(line, f"{{{QEMU}}}arg", {"value": word})
