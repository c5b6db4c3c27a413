# SPDX-License-Identifier: MIT
"""What the recipe for Yocto says of gidway's parts, read without bitbake."""

import re
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
YOCTO = TOP / "packaging/yocto/meta-gidway/recipes-graphics/gidway/gidway_git.bb"

# What parts are built with, as OpenEmbedded calls it: patterns of pkg-config's names for it, and
# Buildroot's name.
LIBRARIES = {
    "cairo": (["cairo"], "cairo"),
    "glib-2.0": (["glib-2.0"], "libglib2"),
    "gstreamer1.0": (["gstreamer-1.0", "gstreamer-base-1.0"], "gstreamer1"),
    "gstreamer1.0-plugins-base": (
        ["gstreamer-allocators-1.0", "gstreamer-video-1.0"],
        "gst1-plugins-base",
    ),
    "libdisplay-info": (["libdisplay-info"], "libdisplay-info"),
    "libdrm": (["libdrm"], "libdrm"),
    "libei": (["libei-1.0"], "libei"),
    "libepoxy": (["epoxy"], "libepoxy"),
    "libinih": (["inih"], "inih"),
    "libpng": (["libpng"], "libpng"),
    "libseccomp": (["libseccomp"], "libseccomp"),
    "libxkbcommon": (["xkbcommon"], "libxkbcommon"),
    "nettle": (["nettle"], "nettle"),
    "pipewire": (["libpipewire-0.3"], "pipewire"),
    "pixman": (["pixman-1"], "pixman"),
    "python3": (["python-3*", "python3"], "python3"),
    "python3-cffi-native": ([], "host-python-cffi"),
    "scdoc-native": ([], "host-scdoc"),
    "systemd": (["libsystemd", "systemd"], "systemd"),
    "virtual/egl": (["egl"], "libegl"),
    "virtual/libgles2": (["glesv2"], "libgles"),
    "wayland": (["wayland-client", "wayland-cursor", "wayland-egl", "wayland-server"], "wayland"),
    "wayland-native": (["wayland-scanner"], "host-wayland"),
    "wayland-protocols": (["wayland-protocols"], "wayland-protocols"),
    "weston": (["libweston-1?", "libweston-1?-protocols"], "weston"),
    "wlroots": (["wlroots-0.*"], "wlroots"),
    "xxhash": (["libxxhash"], "xxhash"),
    "xz": (["liblzma"], "xz"),
}


@dataclass(frozen=True)
class Part:
    """One part, as a recipe has it: its options for meson, and what it is built with."""

    enabled: str
    disabled: str
    needs: frozenset[str]


def features() -> list[str]:
    """The parts, as meson.options has them."""
    return re.findall(r"option\('(\w+)', type: 'feature'", (TOP / "meson.options").read_text())


def variable(name: str, recipe: Path = YOCTO) -> str:
    """What a recipe of Yocto sets, with lines that go on joined."""
    text = recipe.read_text().replace("\\\n", " ")
    found = re.search(rf'^{re.escape(name)} \??\??\+?= "(.*)"$', text, re.MULTILINE)
    if found is None:
        raise LookupError(f"{recipe.name} has no {name}")
    return " ".join(found[1].split())


def yocto_parts() -> dict[str, Part]:
    names = re.findall(r"^PACKAGECONFIG\[(.*)\] = ", YOCTO.read_text(), re.MULTILINE)
    parts = {}
    for name in names:
        enabled, disabled, needs = variable(f"PACKAGECONFIG[{name}]").split(",")
        parts[name] = Part(enabled, disabled, frozenset(needs.split()))
    return parts
