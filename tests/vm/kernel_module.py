# SPDX-License-Identifier: MIT
"""gidway's own kernel module, built for the kernel that guests have."""

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from gid_vm.initramfs import CannotBoot, find_kernel
from lib.program import BUILD, TOP

SOURCE = TOP / "kernel" / "gid_dmabuf"
BUILD_SECONDS = 300


def headers() -> Path:
    return find_kernel()[1].parent / "build"


def why_no_module() -> str | None:
    try:
        return None if headers().is_dir() else f"there is no {headers()}"
    except CannotBoot as error:
        return str(error)


@cache
def build_module() -> Path:
    """In the build folder, which guests see, for each release of the kernel one."""
    folder = BUILD / "tests" / "vm" / f"gid_dmabuf-{headers().parent.name}"
    folder.mkdir(parents=True, exist_ok=True)
    # The kernel's makefiles take a path with a space for two.
    with tempfile.TemporaryDirectory(prefix="gid-module-") as work:
        for name in ("Kbuild", "gid_dmabuf.c", "gid_dmabuf.h"):
            shutil.copy2(SOURCE / name, work)
        make = ["make", "-C", headers(), f"M={work}", "KCFLAGS=-Werror", "W=1", "modules"]
        result = subprocess.run(make, capture_output=True, text=True, timeout=BUILD_SECONDS)
        assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
        shutil.copy2(Path(work) / "gid_dmabuf.ko", folder)
    return folder / "gid_dmabuf.ko"
