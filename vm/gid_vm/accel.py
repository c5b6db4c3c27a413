# SPDX-License-Identifier: MIT
"""Whether guests really run with KVM on this machine: nested KVM may exist and not work."""

import os
import subprocess
import tempfile
from pathlib import Path

from .folder import cache_home
from .initramfs import find_kernel, make_initramfs
from .qemu import Machine

PROBE_SECONDS = 8
CACHE = cache_home() / "gidway" / "vm"
DEVICE = Path("/dev/kvm")
MODULES = Path("/sys/module")
LAST_LINES = 6  # lines of output quoted from a guest that does not boot


def probe_accel(cache: Path = CACHE) -> str:
    """Returns "kvm" or "tcg"."""
    return "kvm" if why_no_kvm(cache) is None else "tcg"


def why_no_kvm(cache: Path = CACHE) -> str | None:
    """Why no guest runs with KVM, or None. Determined by a short boot, once for each boot of the
    host.
    """
    if (reason := why_not_tried()) is not None:
        return reason  # not cached: the user's permission may change at any time
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    answer = cache / f"kvm-{boot}"
    if answer.exists():
        return answer.read_text() or None
    why = boots_with_kvm()
    cache.mkdir(parents=True, exist_ok=True)
    partial = cache / f"{answer.name}.{os.getpid()}"
    partial.write_text(why or "")
    partial.rename(answer)  # atomic: another run may read it
    return why


def why_not_tried() -> str | None:
    """Why a test boot is pointless: this user has no KVM, or it is PVM, which runs only kernels
    built for it.
    """
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return f"this user may not open {DEVICE}" if DEVICE.exists() else f"there is no {DEVICE}"
    if (MODULES / "kvm_pvm").exists():
        return "/dev/kvm is PVM, which runs kernels alone that were built for it"
    return None


def boots_with_kvm() -> str | None:
    """None if the guest reports that it works, else the reason."""
    kernel, modules = find_kernel()
    with tempfile.TemporaryDirectory() as folder:
        initramfs = Path(folder) / "initramfs"
        make_initramfs(initramfs, modules)
        machine = Machine("probe", "kvm", 256, kernel=kernel, initramfs=initramfs, console="stdio")
        machine.kernel_arguments = ["gidway.probe"]
        try:
            result = subprocess.run(
                machine.arguments(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=PROBE_SECONDS,
            )
            said, how = result.stdout, f"ended with status {result.returncode}"
        except subprocess.TimeoutExpired as error:
            said, how = error.stdout or b"", f"did not boot within {PROBE_SECONDS} s"
    if b"gidway-guest-works" in said:
        return None
    last = said.decode(errors="replace").strip().splitlines()[-LAST_LINES:]
    return "\n".join([f"a guest with KVM {how}", *last])
