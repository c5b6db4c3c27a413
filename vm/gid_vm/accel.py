# SPDX-License-Identifier: MIT
"""Whether KVM really runs a guest on this machine: a nested one may be there and get nowhere."""

import os
import subprocess
import tempfile
from pathlib import Path

from .initramfs import find_kernel, make_initramfs
from .qemu import Machine

PROBE_SECONDS = 8
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gidway" / "vm"


def probe_accel(cache: Path = CACHE) -> str:
    """ "kvm" or "tcg". Found out by a short boot, once for each boot of the host."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    answer = cache / f"accel-{boot}"
    if answer.exists():
        return answer.read_text()
    accel = "kvm" if os.access("/dev/kvm", os.R_OK | os.W_OK) and boots_with_kvm() else "tcg"
    cache.mkdir(parents=True, exist_ok=True)
    answer.write_text(accel)
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
