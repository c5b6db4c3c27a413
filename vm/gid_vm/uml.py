# SPDX-License-Identifier: MIT
"""User-mode Linux: a kernel that is a program of this machine, for guests without KVM.

QEMU's translator takes ten times as long for what a guest computes. In User-mode Linux programs run
as they are; only what they ask of their kernel takes longer. It has none of QEMU's devices, so no
memory and no doorbells that machines share. It is for guests that are there for their kernel:
a display with a real vblank, cameras, codecs, dma-bufs.

The kernel is built in four minutes from sources that Debian has for its release, or for a later one
(backports): before 6.19 it has one processor only. It is kept in the user's cache. It is no wall: a
root of it can read all that its user can.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .accel import CACHE
from .initramfs import CannotBoot
from .kernel_sources import BUILD_SECONDS, extract, fetch_newer_sources, run
from .vkms import EDITION, change_vkms

CONFIG = Path(__file__).with_name("uml.config")
VERSION = "7.2"  # Debian 14's; what the tests were run with
TOOLS = ("apt-get", "bc", "bison", "depmod", "dpkg-deb", "flex", "gcc", "make", "tar", "xz")
KERNEL = "linux"  # within the folder of what was built; its modules are in lib/modules
AGENT = "/dev/ttyS0"  # in the guest


def why_no_uml(cache: Path = CACHE) -> str | None:
    """Why no such kernel can be had here, or None. Nothing is built to find it out."""
    if folder_of_kernel(cache).is_dir():
        return None
    if platform.machine() != "x86_64":
        return f"User-mode Linux does not run on {platform.machine()}"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    return f"User-mode Linux cannot be built: missing are {', '.join(missing)}" if missing else None


def folder_of_kernel(cache: Path) -> Path:
    return cache / f"uml-{hashlib.sha256(CONFIG.read_bytes()).hexdigest()[:12]}-{EDITION}"


def built_kernel(cache: Path = CACHE) -> Path:
    """The folder with the kernel and its modules: built now, where it is not there yet."""
    folder = folder_of_kernel(cache)
    if folder.is_dir():
        return folder
    if (why := why_no_uml(cache)) is not None:
        raise CannotBoot(why)
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "uml.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():  # another run may have made it meanwhile
            print("Building User-mode Linux for guests: once, four minutes", file=sys.stderr)
            with tempfile.TemporaryDirectory(prefix="uml-", dir=cache) as name:
                work = Path(name)
                build(extract(fetch_newer_sources(VERSION, work), (), work), work)
                (work / "built").rename(folder)
    return folder


def build(source: Path, work: Path) -> None:
    """Leaves the kernel and its modules in `work`/built."""
    change_vkms(source / "drivers/gpu/drm/vkms")
    make = ["make", "-C", source, "ARCH=um", f"-j{os.cpu_count() or 1}"]
    run([*make, "defconfig"], work, BUILD_SECONDS)
    # It takes names of files to pieces at spaces, and the clone's folder may have some.
    shutil.copy(CONFIG, work / CONFIG.name)
    merge = [source / "scripts/kconfig/merge_config.sh", "-m", "-O", source, source / ".config"]
    run([*merge, CONFIG.name], work, BUILD_SECONDS)
    run([*make, "olddefconfig"], work, BUILD_SECONDS)
    run([*make, "linux", "modules"], work, BUILD_SECONDS)
    built = work / "built"
    built.mkdir()
    install = [f"INSTALL_MOD_PATH={built}", "INSTALL_MOD_STRIP=1", "modules_install"]
    run([*make, *install], work, BUILD_SECONDS)
    for link in built.glob("lib/modules/*/build"):
        link.unlink()
    shutil.copy(source / KERNEL, built)
    run(["strip", "--strip-debug", built / KERNEL], work, BUILD_SECONDS)


@dataclass
class Program:
    """One guest, as User-mode Linux is called for it."""

    name: str
    kernel: Path
    initramfs: Path
    work: Path  # for what it keeps of itself
    agent: int | None = None  # the descriptor of the agent's line
    memory_mib: int = 1024
    cpus: int = field(default_factory=lambda: min(2, os.cpu_count() or 1))
    console: str = "null,fd:1"  # where it reads, and where it writes
    kernel_arguments: list[str] = field(default_factory=list)
    accel: str = "uml"

    def arguments(self) -> list[str]:
        """The whole command line."""
        command = [str(self.kernel), f"mem={self.memory_mib}M", f"initrd={self.initramfs}"]
        # Several processors are only possible where programs are confined by seccomp.
        command += ["seccomp=on", f"ncpus={self.cpus}"]
        command += [f"uml_dir={self.work}/", f"con0={self.console}", "con=null", "ssl=null"]
        command += [f"ssl0=fd:{self.agent}"] if self.agent is not None else []
        command += ["quiet", "loglevel=3", "panic=-1"]
        return [*command, f"gidway.name={self.name}", *self.kernel_arguments]


if __name__ == "__main__":  # so that no test has to wait for it
    try:
        built_kernel()
    except CannotBoot as error:
        sys.exit(f"uml: {error}")
