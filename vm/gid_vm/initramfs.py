# SPDX-License-Identifier: MIT
"""The small file system that a guest starts from: busybox, the 9p modules, and two scripts."""

import lzma
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from .architecture import OWN

BOOT = Path(__file__).parent / "boot"
MODULES = ("fs/netfs/netfs", "net/9p/9pnet", "net/9p/9pnet_virtio", "fs/9p/9p")


class CannotBoot(Exception):
    """QEMU, a kernel, or another file that a guest needs is missing."""


def find_kernel(
    boot: Path = Path("/boot"), modules: Path = Path("/lib/modules"), kind: str = ""
) -> tuple[Path, Path]:
    """The newest kernel image below `boot`, and the folder of its modules below `modules`.

    `kind`: the suffix of its name.
    """

    def version(image: Path) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", image.name)]

    for image in sorted(boot.glob(f"vmlinuz-*{kind}"), key=version, reverse=True):
        folder = modules / image.name.removeprefix("vmlinuz-") / "kernel"
        if folder.is_dir():
            return image, folder
    raise CannotBoot(
        f"no kernel{kind and f' {kind[1:]}'} with modules in {boot}: "
        f"install linux-image{kind or f'-{OWN.name}'}"
    )


def read_module(path: Path) -> bytes:
    """A kernel module, unpacked."""
    for suffix, unpack in ((".ko", bytes), (".ko.xz", lzma.decompress)):
        packed = path.with_name(path.name + suffix)
        if packed.exists():
            return unpack(packed.read_bytes())
    raise CannotBoot(f"the kernel module {path}.ko is missing")


def make_initramfs(
    target: Path,
    modules: Path | None,
    files: dict[str, bytes] | None = None,
    make_etc: Callable[[Path], None] = Path.mkdir,
    usr: Path | None = None,
    busybox: Path | None = None,
) -> None:
    """Writes the cpio archive `target`, with modules of the kernel whose folder is `modules`.

    None: that kernel needs no module to mount its root. `files`: the content of files in the
    guest's /run/guest, by name. `make_etc` creates its /etc. `usr`: a folder that becomes /usr in
    the guest's memory. `busybox`: for a guest that cannot run this machine's.
    """
    own = shutil.which("busybox")
    if own is None:
        raise CannotBoot("busybox is missing: install busybox-static")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "bin").mkdir()
        (root / "modules").mkdir()
        (root / "guest").mkdir()
        shutil.copy(busybox or own, root / "bin/busybox")
        shutil.copy(BOOT / "initramfs-init", root / "init")
        shutil.copy(BOOT / "guest-init", root / "guest/init")
        shutil.copy(BOOT / "agent.py", root / "guest/agent.py")
        make_etc(root / "etc")
        if usr is not None:
            shutil.copytree(usr, root / "usr", symlinks=True)
        for name in ("init", "guest/init"):
            (root / name).chmod(0o755)
        for name, content in (files or {}).items():
            (root / "guest" / name).write_bytes(content)
        for module in MODULES if modules is not None else ():
            (root / "modules" / f"{Path(module).name}.ko").write_bytes(
                read_module(modules / module)
            )
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        # Another user may own the folder, and could have put a link there.
        target.unlink(missing_ok=True)
        with target.open("xb") as archive:
            packed = subprocess.run(
                [own, "cpio", "-o", "-H", "newc"],
                input=names.encode(),
                stdout=archive,
                stderr=subprocess.PIPE,
                cwd=root,
            )
        if packed.returncode != 0:
            said = packed.stderr.decode(errors="replace").strip().splitlines()
            why = said[-1] if said else f"cpio ended with status {packed.returncode}"
            raise CannotBoot(f"{target} cannot be written: {why}")
