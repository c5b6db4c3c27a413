# SPDX-License-Identifier: MIT
"""Whether KVM really runs a guest on this machine: a nested one may be there and get nowhere."""

import os
import subprocess
import tempfile
from pathlib import Path

from .folder import cache_home
from .initramfs import find_kernel, make_initramfs
from .qemu import Machine

PROBE_SECONDS = 8
CACHE = cache_home() / "gidway" / "vm"


def probe_accel(cache: Path = CACHE) -> str:
    """ "kvm" or "tcg". Found out by a short boot, once for each boot of the host."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"  # which is not kept: a user may be given leave at any time
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    answer = cache / f"accel-{boot}"
    if answer.exists():
        return answer.read_text()
    accel = "kvm" if boots_with_kvm() else "tcg"
    cache.mkdir(parents=True, exist_ok=True)
    partial = cache / f"{answer.name}.{os.getpid()}"
    partial.write_text(accel)
    partial.rename(answer)  # whole: another run may read it
    return accel


def boots_with_kvm() -> bool:
    """Only a guest that says that it works counts."""
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
                capture_output=True,
                timeout=PROBE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return False
        return b"gidway-guest-works" in result.stdout
