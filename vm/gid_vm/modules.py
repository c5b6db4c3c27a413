# SPDX-License-Identifier: MIT
"""Test drivers for guests that the distribution's kernel lacks, such as a display with a refresh.

They are built from Debian's sources of that kernel against its headers, once for each release, in
about a minute after fetching 170 MB. The result is kept in the user's cache.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .accel import CACHE
from .initramfs import CannotBoot
from .kernel_sources import BUILD_SECONDS, extract, fetch_sources, run
from .vkms import EDITION, change_vkms

# For each module: the folder or file in the kernel's sources, and the option that enables it.
SOURCES = {
    "v4l2-mem2mem": ("drivers/media/v4l2-core/v4l2-mem2mem.c", None),
    "vicodec": ("drivers/media/test-drivers/vicodec", "CONFIG_VIDEO_VICODEC"),
    "vim2m": ("drivers/media/test-drivers/vim2m.c", None),
    "visl": ("drivers/media/test-drivers/visl", "CONFIG_VIDEO_VISL"),
    "vkms": ("drivers/gpu/drm/vkms", "CONFIG_DRM_VKMS"),
}
INSTALLED = Path("/lib/modules")  # installed kernels, each with a link to its headers
TOOLS = ("apt-get", "dpkg-deb", "dpkg-query", "gcc", "make", "modinfo", "tar", "xz")


def module_files(modules: Path, names: Sequence[str], cache: Path = CACHE) -> dict[str, bytes]:
    """What a guest needs to load `names`: files for its initramfs, including the list `modules`.

    A name can be followed by parameters: "vkms enable_overlay=1". `modules` is the folder of the
    kernel's own modules, named after its release. Each line of the list has a module, its
    parameters, then the kernel's modules that it needs. A module without a file here comes from the
    kernel. Raises CannotBoot if one of them can neither be found nor built.
    """
    release = modules.name
    files: dict[str, bytes] = {}
    lines: list[str] = []

    def add(words: str) -> None:
        name, *parameters = words.split()
        if any(line.split()[0] == name for line in lines):
            return
        if kernel_has(release, name):
            lines.append(words)
            return
        if name not in SOURCES:
            raise CannotBoot(f"Linux {release} has no module {name}, and its sources are not known")
        path = built_modules(release, cache) / f"{name}.ko"
        needed = depends(path)
        for other in needed:
            if other in SOURCES:
                add(other)
        files[path.name] = path.read_bytes()
        others = (other for other in needed if other not in SOURCES)
        lines.append(" ".join([name, *parameters, *others]))

    for name in names:
        add(name)
    files["modules"] = "".join(f"{line}\n" for line in lines).encode()
    return files


def kernel_has(release: str, name: str) -> bool:
    command = ["modinfo", "-k", release, "-F", "filename", name]
    return subprocess.run(command, capture_output=True).returncode == 0


def depends(module: Path) -> list[str]:
    command = ["modinfo", "-F", "depends", str(module)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return [name for name in result.stdout.strip().split(",") if name]


def modules_folder(release: str, cache: Path = CACHE) -> Path:
    return cache / f"modules-{release}-{EDITION}"


def built_modules(release: str, cache: Path = CACHE) -> Path:
    """The folder with SOURCES built for this kernel. Builds them if necessary."""
    folder = modules_folder(release, cache)
    if folder.is_dir():
        return folder
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    headers = INSTALLED / release / "build"
    if missing or not headers.is_dir():
        what = ", ".join([*missing, *([] if headers.is_dir() else [f"linux-headers-{release}"])])
        raise CannotBoot(f"no module can be built for Linux {release}: missing are {what}")
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "modules.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():  # another run may have built it meanwhile
            print(f"Building modules for guests with Linux {release}, once", file=sys.stderr)
            with tempfile.TemporaryDirectory(prefix="modules-", dir=cache) as name:
                work = Path(name)
                unpack_sources(fetch_sources(release, work), work)
                build(work, headers)
                (work / "built").rename(folder)
    return folder


def unpack_sources(package: Path, work: Path) -> None:
    """Unpacks each of SOURCES to its own folder in `work`/modules."""
    top = extract(package, [path for path, _ in SOURCES.values()], work)
    for name, (path, _) in SOURCES.items():
        place = work / "modules" / name
        source = top / path
        if source.is_dir():
            shutil.copytree(source, place)
            continue
        place.mkdir(parents=True)
        shutil.copy(source, place)
        (place / "Makefile").write_text(f"obj-m += {name}.o\n")
    change_vkms(work / "modules/vkms")
    # Headers of trace events are found by a path in the whole tree, which does not exist here.
    for header in (work / "modules").glob("*/*trace*.h"):
        text = re.sub(r"(#define TRACE_INCLUDE_PATH ).*", r"\1.", header.read_text())
        header.write_text(text)
    for makefile in (work / "modules").glob("*/Makefile"):
        with makefile.open("a") as file:
            file.write("ccflags-y += -I$(src)\n")
    objects = "".join(f"obj-m += {name}/\n" for name in SOURCES)
    (work / "modules/Makefile").write_text(objects)


def build(work: Path, headers: Path) -> None:
    """Builds the modules into `work`/built, without debug information."""
    choices = [f"{choice}=m" for _, choice in SOURCES.values() if choice is not None]
    make = ["make", "-C", headers, f"M={work}/modules", f"-j{os.cpu_count() or 1}"]
    run([*make, *choices, "modules"], work, BUILD_SECONDS)
    built = work / "built"
    built.mkdir()
    for name in SOURCES:
        module = work / "modules" / name / f"{name}.ko"
        run(["strip", "--strip-debug", module], work, BUILD_SECONDS)
        shutil.copy(module, built)
