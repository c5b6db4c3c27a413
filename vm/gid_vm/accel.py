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
DEVICE = Path("/dev/kvm")
MODULES = Path("/sys/module")
LAST_LINES = 6  # of what a guest says that does not boot


def probe_accel(cache: Path = CACHE) -> str:
    """ "kvm" or "tcg"."""
    return "kvm" if why_no_kvm(cache) is None else "tcg"


def why_no_kvm(cache: Path = CACHE) -> str | None:
    """Why no guest runs with KVM, or None. Found out by a short boot, once for each boot of the
    host."""
    if (reason := why_not_tried()) is not None:
        return reason  # which is not kept: a user may be given leave at any time
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    answer = cache / f"kvm-{boot}"
    if answer.exists():
        return answer.read_text() or None
    why = boots_with_kvm()
    cache.mkdir(parents=True, exist_ok=True)
    partial = cache / f"{answer.name}.{os.getpid()}"
    partial.write_text(why or "")
    partial.rename(answer)  # whole: another run may read it
    return why


def why_not_tried() -> str | None:
    """Why no boot need be tried: there is no KVM for this user, or one without a processor's help,
    where a kernel that was not built for it never gets anywhere."""
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return f"this user may not open {DEVICE}" if DEVICE.exists() else f"there is no {DEVICE}"
    if (MODULES / "kvm_pvm").exists():
        return "/dev/kvm is PVM, which runs kernels alone that were built for it"
    return None


def boots_with_kvm() -> str | None:
    """Only a guest that says that it works counts: None, or why not."""
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
