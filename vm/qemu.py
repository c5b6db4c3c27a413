# SPDX-License-Identifier: MIT
"""How QEMU is called for one guest. Only this file knows QEMU's options."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from initramfs import CannotBoot, find_kernel, make_initramfs

PROBE_SECONDS = 8


@dataclass(frozen=True)
class Window:
    """A file of the host as memory of the guest: resource2 of an ivshmem-plain device.

    `size` in bytes, a power of two. Where it is not `writable`, what the guest writes is dropped.
    """

    path: Path
    size: int
    writable: bool

    def arguments(self, name: str) -> list[str]:
        readonly = "off" if self.writable else "on"
        backend = f"memory-backend-file,id={name},size={self.size},share=on,readonly={readonly}"
        device = f"ivshmem-plain,memdev={name},id={name}-device"
        return ["-object", f"{backend},mem-path={self.path}", "-device", device]


@dataclass
class Machine:
    """One guest, as QEMU is to make it. `work` is a folder for its sockets and files."""

    name: str
    work: Path
    source: Path
    accel: str = "tcg"
    memory_mib: int = 1024
    cpus: int = 1
    shell: bool = False
    out: Path | None = None
    kernel_arguments: list[str] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)  # on the guest's PCI bus in this order
    devices: list[str] = field(default_factory=list)

    @property
    def agent_socket(self) -> Path:
        return self.work / "agent.sock"

    def arguments(self, kernel: Path, initramfs: Path) -> list[str]:
        """The whole command line."""
        append = [
            "console=ttyS0",
            "quiet",
            "loglevel=3",
            "tsc=reliable",
            "panic=-1",
            f"gidway.name={self.name}",
            f"gidway.source={self.source}",
            *(["gidway.shell"] if self.shell else []),
            *self.kernel_arguments,
        ]
        command = [find_qemu(), "-M", "q35", "-name", self.name, *accel_options(self.accel)]
        command += ["-smp", str(self.cpus), "-m", f"{self.memory_mib}M", "-nodefaults"]
        command += ["-no-user-config", "-display", "none", "-no-reboot"]
        command += ["-kernel", str(kernel), "-initrd", str(initramfs), "-append", " ".join(append)]
        command += ["-serial", "mon:stdio" if self.shell else f"file:{self.work / 'console.log'}"]
        command += ["-virtfs", share("root", Path("/"), "readonly=on")]
        if self.out is not None:
            command += ["-virtfs", share("out", self.out)]
        if not self.shell:
            command += ["-device", "virtio-serial-pci"]
            command += ["-chardev", f"socket,id=agent,path={self.agent_socket},server=on,wait=off"]
            command += ["-device", "virtserialport,chardev=agent,name=gidway.agent"]
        for number, window in enumerate(self.windows):
            command += window.arguments(f"window{number}")
        return command + self.devices


def find_qemu() -> str:
    path = shutil.which("qemu-system-x86_64")
    if path is None:
        raise CannotBoot("qemu-system-x86_64 is missing: install qemu-system-x86")
    return path


def share(tag: str, path: Path, *more: str) -> str:
    """A folder of the host that the guest mounts over 9p."""
    options = ["local", f"path={path}", f"mount_tag={tag}", "security_model=none"]
    return ",".join([*options, "multidevs=remap", *more])


def accel_options(accel: str) -> list[str]:
    """KVM as the host has it; TCG with a model whose instructions are quick to emulate."""
    if accel == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi", "-cpu", "Nehalem"]


def probe_accel(cache: Path) -> str:
    """Whether KVM really runs a guest here: "kvm" or "tcg". Asked once for each boot of the host.

    A nested KVM may be there and never get anywhere, so only a guest that says so counts.
    """
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    answer = cache / f"accel-{boot}"
    if answer.exists():
        return answer.read_text()
    accel = "kvm" if os.access("/dev/kvm", os.R_OK | os.W_OK) and boots_with_kvm() else "tcg"
    cache.mkdir(parents=True, exist_ok=True)
    answer.write_text(accel)
    return accel


def boots_with_kvm() -> bool:
    kernel, modules = find_kernel()
    with tempfile.TemporaryDirectory() as folder:
        initramfs = Path(folder) / "initramfs"
        make_initramfs(initramfs, modules)
        machine = Machine("probe", Path(folder), Path("/"), accel="kvm", memory_mib=256, shell=True)
        machine.kernel_arguments = ["gidway.probe"]
        try:
            result = subprocess.run(
                machine.arguments(kernel, initramfs),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROBE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return False
        return b"gidway-guest-works" in result.stdout
