# SPDX-License-Identifier: MIT
"""The programs of a guest that cannot run this machine's: Debian's for its architecture.

They are fetched once, and kept in the user's cache: 0.9 GB. None of their scripts runs, so no
user-mode emulator is needed. gidway's own programs come from a clone that is built for the
architecture.
"""

import fcntl
import hashlib
import os
import platform
import re
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .accel import CACHE
from .architecture import Architecture
from .initramfs import CannotBoot, find_kernel
from .kernel_sources import BUILD_SECONDS, Apt, run
from .qemu import find_qemu
from .root import TOP

# Fetched with their dependencies. The name in Debian 13, and after a bar the name in Debian 14.
PACKAGES = (
    # for the scripts in boot/
    *("base-passwd", "bash", "busybox-static", "coreutils", "dash", "findutils", "grep"),
    *("hostname", "iproute2", "kmod", "mount", "procps", "python3", "sed", "util-linux"),
    # libraries of gidway's programs
    *("libcairo2", "libdrm2", "libegl1", "libepoxy0", "libgles2", "libinih1", "liblzma5"),
    *("libnettle8t64 | libnettle9", "libpixman-1-0", "libpng16-16t64", "libseccomp2"),
    *("libsystemd0", "libwayland-client0", "libwayland-egl1", "libwayland-server0"),
    *("libwlroots-0.18 | libwlroots-0.20", "libxkbcommon0", "libxxhash0", "weston"),
    *("gstreamer1.0-plugins-base", "gstreamer1.0-plugins-good", "gstreamer1.0-tools"),
    # for playing films
    *("gir1.2-gst-plugins-base-1.0", "gstreamer1.0-libav", "python3-gi"),
)
KERNELS = {"arm64": ("linux-image-arm64", "linux-image-arm64-16k")}
TOOLS = ("apt-get", "depmod", "dpkg-deb")
GIDD = "gidd/gidd"  # in the folder of a gidway build
# Links in the root to folders of /usr.
MERGED = ("bin", "lib", "sbin")
# Libraries with several implementations, and a link to the chosen one.
ALTERNATIVES = ("blas/libblas.so.3", "lapack/liblapack.so.3")
# In /usr: device trees, and texts.
USELESS = ("lib/linux-image-*", *(f"share/{name}" for name in ("doc", "info", "locale", "man")))


@dataclass(frozen=True)
class System:
    """`root`: the folder with its usr, etc and boot. `build`: gidway's build folder; None: this
    one's.
    """

    root: Path = Path("/")
    build: Path | None = None
    kind: str = ""  # the suffix of its kernel's name

    def kernel(self) -> tuple[Path, Path]:
        """Its kernel, and the folder of that kernel's modules."""
        return find_kernel(self.root / "boot", self.root / "lib/modules", self.kind)

    @property
    def busybox(self) -> Path | None:
        return None if self.build is None else self.root / "usr/bin/busybox"

    def translate(self, text: str) -> str:
        """Replaces paths of this machine's build in the text with those in the guest."""
        if self.build is None:
            return text
        build = str(self.build)
        return re.sub(rf"{re.escape(str(own_build()))}(?![^/:])", lambda _: build, text)


OWN_SYSTEM = System()


def system_of(arch: Architecture, cache: Path = CACHE) -> System:
    """The system for an architecture. Fetches it if it is foreign and not cached."""
    if arch.is_own:
        own = System(kind=arch.kernels)
        if own != OWN_SYSTEM:
            own.kernel()  # this machine may lack a kernel with such pages
        return own
    build = build_of(arch)
    if not (build / GIDD).is_file():
        raise CannotBoot(why_not_built(arch))
    return System(fetched_system(arch, cache), build, arch.kernels)


def why_no_system(arch: Architecture, cache: Path = CACHE) -> str | None:
    """Why no guest of the architecture can be booted now, or None. Fetches nothing."""
    try:
        find_qemu(arch)
        if arch.is_own:
            system_of(arch)
            return None
    except CannotBoot as error:
        return str(error)
    if not (build_of(arch) / GIDD).is_file():
        return why_not_built(arch)
    if not folder_of_system(arch, cache).is_dir():
        return f"{arch.debian} has no programs here: ./run vm --arch {arch.debian} open true"
    return None


def why_not_built(arch: Architecture) -> str:
    """Names the folder, as GIDWAY_BUILD, if set, is the folder of this machine's own build."""
    folder = shlex.quote(str(build_of(arch)))
    return (
        f"gidway is not built for {arch.debian}. Outside of ./run shell: "
        f"GIDWAY_BUILD={folder} GIDWAY_ARCH={arch.debian} ./run build"
    )


def own_build() -> Path:
    return Path(os.environ.get("GIDWAY_BUILD", TOP / "build"))


def build_of(arch: Architecture) -> Path:
    """The folder where `run` builds for it."""
    own = own_build()
    return own.with_name(f"{own.name}-{arch.debian}")


def folder_of_system(arch: Architecture, cache: Path = CACHE) -> Path:
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    wanted = " ".join([release, *PACKAGES, *KERNELS[arch.debian]])
    return cache / f"system-{arch.debian}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"


def fetched_system(arch: Architecture, cache: Path = CACHE) -> Path:
    folder = folder_of_system(arch, cache)
    if folder.is_dir():
        return folder
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise CannotBoot(f"no programs for {arch.debian} can be fetched: missing are {missing}")
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "system.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():  # another run may have fetched it meanwhile
            print(f"Fetching programs of {arch.debian} for guests: once", file=sys.stderr)
            with tempfile.TemporaryDirectory(prefix="system-", dir=cache) as name:
                work = Path(name)
                apt = Apt(work, arch.debian)
                apt.update()
                packages = apt.download_with_all([*PACKAGES, *KERNELS[arch.debian]])
                unpack(packages, work).rename(folder)
    return folder


def unpack(packages: list[Path], work: Path) -> Path:
    """Unpacks the packages into a root in `work`."""
    root = work / "root"
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    for package in packages:
        run(["dpkg-deb", "--extract", package, root], work, BUILD_SECONDS)
    for useless in (path for pattern in USELESS for path in (root / "usr").glob(pattern)):
        shutil.rmtree(useless)
    # The work of the packages' scripts.
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / "etc" / name)
    for name in ALTERNATIVES:
        for library in (root / "usr/lib").glob(f"*/{name}"):
            (library.parents[1] / library.name).symlink_to(name)
    for release in (root / "lib/modules").iterdir():
        run(["depmod", "--basedir", root, release.name], work, BUILD_SECONDS)
    return root
