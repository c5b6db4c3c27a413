# SPDX-License-Identifier: MIT
"""The folders of this machine that a guest without a disk has as its root: only this list.

They are shared read-only, each mounted at the same path as here. Of /etc, which contains secrets,
the guest gets a copy of what programs need. The rest of its root is empty memory.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from .folder import home
from .initramfs import CannotBoot
from .qemu import Share

SYSTEM = Path("/usr")
P9_OPTIONS = "ro,trans=virtio,version=9p2000.L,msize=1048576,cache=loose"
TOP = Path(__file__).resolve().parents[2]  # the top of the clone, if this file is in one

ETC = (
    "alternatives",
    "bash.bashrc",
    "drirc",
    "fonts",
    "glvnd",
    "group",
    "host.conf",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "modprobe.d",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "profile",
    "protocols",
    "python3",
    "services",
    "terminfo",
    "vulkan",
    "xdg",
)
# In an installation outside /usr. Its other folders are private to its owner.
OF_A_PREFIX = ("bin", "lib", "lib64", "libexec", "sbin", "share/gidway")
NEVER = [Path(name) for name in ("/", "/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/var/run")]


def built_folders(build: Path | None = None) -> list[Path]:
    """The folders of gidway's own programs, elements and libraries, built or installed.

    `build`: the build folder for a guest of another architecture.
    """
    if build is not None:
        return [TOP, build]
    folders = [TOP] if (TOP / "meson.build").exists() else []
    if "GIDWAY_BUILD" in os.environ:
        folders.append(Path(os.environ["GIDWAY_BUILD"]).resolve())
    gidd = shutil.which("gidd")
    if gidd is not None:
        path = Path(gidd).resolve()
        built = [folder for folder in path.parents if (folder / "meson-info").is_dir()]
        folders += built[:1] or [path.parent.parent / name for name in OF_A_PREFIX]
    return folders


def lent_folders(work: Path | None = None, build: Path | None = None) -> list[Path]:
    """All folders that a guest sees, none of them within another. `build`: as above.

    `work`: the user's working folder. It is not shared if it holds more than that, such as a home
    or the other folders.
    """
    folders = [SYSTEM]
    for folder in built_folders(build):
        if folder.is_dir() and not any(folder.is_relative_to(other) for other in folders):
            folders = [other for other in folders if not other.is_relative_to(folder)]
            folders.append(folder)
    if work is not None and may_be_lent(work.resolve(), folders):
        folders.append(work.resolve())
    return folders


def may_be_lent(work: Path, others: list[Path]) -> bool:
    if any(work.is_relative_to(folder) for folder in others):
        return False  # already visible
    if any(work.is_relative_to(folder) for folder in NEVER[1:]) or work in NEVER:
        return False
    closed = [*others, home().resolve(), Path("/var/tmp"), Path("/tmp")]
    return not any(folder.is_relative_to(work) for folder in closed)


def shares(folders: list[Path], usr: Path = SYSTEM) -> tuple[list[Share], bytes]:
    """The shares for QEMU, and the list by which the guest mounts them.

    `usr`: the folder that becomes its /usr.
    """
    tags = {f"root{n}": folder for n, folder in enumerate(folders)}
    lent = [Share(tag, usr if at == SYSTEM else at, writable=False) for tag, at in tags.items()]
    return lent, mount_list([("9p", P9_OPTIONS, tag, folder) for tag, folder in tags.items()])


def mount_list(mounts: Sequence[tuple[str, str, str, Path]]) -> bytes:
    """The format that boot/initramfs-init reads: type, options, source and place, with tabs
    between.
    """
    if any("\n" in str(place) for *_, place in mounts):
        raise CannotBoot("no guest can run from a folder that has a line's end in its name")
    return os.fsencode("".join("\t".join([*how, f"{place}\n"]) for *how, place in mounts))


def copy_etc(target: Path, source: Path = Path("/etc")) -> None:
    """Copies the guest's part of /etc. Files that are not readable for all are left out."""
    target.mkdir()
    for name in ETC:
        path = source / name
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, target / name, symlinks=True, ignore=unreadable)
        elif path.is_symlink() or (path.is_file() and is_public(path)):
            shutil.copy2(path, target / name, follow_symlinks=False)


def unreadable(folder: str, names: list[str]) -> list[str]:
    paths = [Path(folder, name) for name in names]
    return [path.name for path in paths if not path.is_symlink() and not is_public(path)]


def is_public(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o004)
