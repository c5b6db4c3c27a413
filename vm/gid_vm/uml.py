# SPDX-License-Identifier: MIT
"""User-mode Linux: a kernel that runs as a program of this machine, for guests without KVM.

QEMU's emulation is ten times slower for computations. In User-mode Linux programs run natively, and
only their system calls are slower. It has none of QEMU's devices, so no shared memory or doorbells
between machines. It serves guests that are used for their kernel: a display with a real vblank,
cameras, codecs, dma-bufs.

The kernel is built in four minutes from Debian's sources for this release or a later one
(backports): before 6.19 it has one processor only. It is kept in the user's cache. It gives no
isolation: root in it can read everything that its user can.
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
VERSION = "7.2"  # of Debian 14; the tests were run with it
TOOLS = ("apt-get", "bc", "bison", "depmod", "dpkg-deb", "flex", "gcc", "make", "tar", "xz")
KERNEL = "linux"  # in the folder of a build; its modules are in lib/modules
AGENT = "/dev/ttyS0"  # in the guest


def why_no_uml(cache: Path = CACHE) -> str | None:
    """Why no such kernel is available here, or None. Builds nothing."""
    if folder_of_kernel(cache).is_dir():
        return None
    if platform.machine() != "x86_64":
        return f"User-mode Linux does not run on {platform.machine()}"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    return f"User-mode Linux cannot be built: missing are {', '.join(missing)}" if missing else None


def folder_of_kernel(cache: Path) -> Path:
    return cache / f"uml-{hashlib.sha256(CONFIG.read_bytes()).hexdigest()[:12]}-{EDITION}"


def built_kernel(cache: Path = CACHE) -> Path:
    """The folder with the kernel and its modules. Builds it if necessary."""
    folder = folder_of_kernel(cache)
    if folder.is_dir():
        return folder
    if (why := why_no_uml(cache)) is not None:
        raise CannotBoot(why)
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "uml.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():  # another run may have built it meanwhile
            print("Building User-mode Linux for guests: once, four minutes", file=sys.stderr)
            with tempfile.TemporaryDirectory(prefix="uml-", dir=cache) as name:
                work = Path(name)
                build(extract(fetch_newer_sources(VERSION, work), (), work), work)
                (work / "built").rename(folder)
    return folder


def build(source: Path, work: Path) -> None:
    """Builds the kernel and its modules into `work`/built."""
    change_vkms(source / "drivers/gpu/drm/vkms")
    make = ["make", "-C", source, "ARCH=um", f"-j{os.cpu_count() or 1}"]
    run([*make, "defconfig"], work, BUILD_SECONDS)
    # merge_config.sh splits file names at spaces, and the clone's path may contain some.
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
    """One guest, as a command line of User-mode Linux."""

    name: str
    kernel: Path
    initramfs: Path
    work: Path  # for its own files
    agent: int | None = None  # the descriptor of the agent's line
    memory_mib: int = 1024
    cpus: int = field(default_factory=lambda: min(2, os.cpu_count() or 1))
    console: str = "null,fd:1"  # input and output
    kernel_arguments: list[str] = field(default_factory=list)
    accel: str = "uml"

    def arguments(self) -> list[str]:
        """The complete command line."""
        command = [str(self.kernel), f"mem={self.memory_mib}M", f"initrd={self.initramfs}"]
        # Several processors need seccomp mode.
        command += ["seccomp=on", f"ncpus={self.cpus}"]
        command += [f"uml_dir={self.work}/", f"con0={self.console}", "con=null", "ssl=null"]
        command += [f"ssl0=fd:{self.agent}"] if self.agent is not None else []
        command += ["quiet", "loglevel=3", "panic=-1"]
        return [*command, f"gidway.name={self.name}", *self.kernel_arguments]


if __name__ == "__main__":  # builds it in advance, so that no test waits for it
    try:
        built_kernel()
    except CannotBoot as error:
        sys.exit(f"uml: {error}")
