# SPDX-License-Identifier: MIT
"""The kernel's test drivers for codecs in a guest, and GStreamer's elements for them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from gid_vm.initramfs import find_kernel
from gid_vm.modules import module_files
from lib.program import BUILD

CODECS = ("visl", "vicodec", "vim2m")
PLUGINS = (
    "coreelements isomp4 v4l2codecs video4linux2 videocrop videoparsersbad videotestsrc".split()
)
FOLDER = BUILD / "tests" / "vm" / "codecs"  # of built drivers
WIDTH, HEIGHT = 320, 192  # whole blocks of the codecs


def load(run: Callable[..., object], names: tuple[str, ...], folder: Path) -> None:
    """In a guest that runs, and sees the folder. Raises CannotBoot where one cannot be built."""
    files = module_files(find_kernel()[1].parent, names)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    for line in files["modules"].decode().splitlines():
        name, *more = line.split()
        parameters = [word for word in more if "=" in word]
        if f"{name}.ko" in files:
            for other in more[len(parameters) :]:
                run("modprobe", other)
            run("insmod", str(folder / f"{name}.ko"), *parameters)
        else:
            run("modprobe", name, *parameters)


def environment_of_codecs(run: Callable[..., object]) -> dict[str, str]:
    """What programs need that use the elements, which come and go with the devices.

    Their list is made in the guest, of the few plugins that are needed: to look at all takes half
    a minute there. `run` runs a command in the guest.
    """
    command = ["pkg-config", "--variable=pluginsdir", "gstreamer-1.0"]
    folder = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    links = " ".join(f"{folder}/libgst{name}.so" for name in PLUGINS)
    run("sh", "-c", f"mkdir /run/plugins && ln -s {links} /run/plugins")
    places = {"GST_PLUGIN_SYSTEM_PATH_1_0": "/run/plugins", "GST_REGISTRY": "/run/codecs.registry"}
    anew = [f"{name}={value}" for name, value in places.items()] + ["GST_REGISTRY_UPDATE=yes"]
    run("env", *anew, "gst-inspect-1.0", "v4l2convert")
    return places | {"GST_REGISTRY_UPDATE": "no"}


def sources(mode: str, frames: int = 40, pattern: str = "ball") -> dict[str, str]:
    """What vicodec codes and decodes, and vim2m converts; `mode`: capture-io-mode."""
    size = f"width={WIDTH},height={HEIGHT},framerate=30/1"
    start = f"videotestsrc pattern={pattern} num-buffers={frames} ! video/x-raw"
    return {
        # vicodec's coder begins with this size, and GStreamer asks for its buffers before it sets
        # another: since Linux 6.12.117 it would then find them too small. Of dma-bufs the decoder
        # says DMA_DRM, unless it is asked not to.
        "stateful decoder": f"{start},format=I420,width=1280,height=720,framerate=30/1 ! "
        f"v4l2fwhtenc ! v4l2fwhtdec capture-io-mode={mode} ! video/x-raw,format=I420",
        "converter": f"{start},format=BGR,{size} ! v4l2convert capture-io-mode={mode} ! "
        f"video/x-raw,format=YUY2,width={WIDTH},height={HEIGHT}",
    }


def load_codecs(run: Callable[..., object]) -> list[str]:
    """Loads their drivers; returns what a command begins with that uses codecs. See load()."""
    load(run, CODECS, FOLDER)
    return ["env", *(f"{name}={value}" for name, value in environment_of_codecs(run).items())]
