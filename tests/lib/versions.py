# SPDX-License-Identifier: MIT
"""The versions of gidway, and of what it works with: what differs between them, to expect."""

import re
import subprocess
from functools import cache

from lib.program import TOP


@cache
def _version(*command: str) -> tuple[int, int]:
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    major, minor = re.search(r"(\d+)\.(\d+)\.", said).groups()
    return int(major), int(minor)


@cache
def gidway_version() -> str:
    """What all that is built of this tree says: of a snapshot, which one it is."""
    command = [TOP / "scripts" / "version"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def gstreamer_version() -> tuple[int, int]:
    return _version("pkg-config", "--modversion", "gstreamer-1.0")


def vgem_maps_at_once(release: str) -> bool:
    """What it is given, by that kernel. That of Linux 7.2 only takes it."""
    major, minor = re.match(r"(\d+)\.(\d+)", release).groups()
    return (int(major), int(minor)) < (7, 2)


def h264_is_decoded_in_place() -> bool:
    """From GStreamer 1.28 on libav's decoders of H.264, H.265 and H.266 copy each frame."""
    return gstreamer_version() < (1, 28)


def check_h264_copies(stats: dict, frames: int) -> None:
    """What a gidsink counts that gets so many frames from libav's decoder."""
    assert sum(stats["copy-reasons"].values()) == stats["copied-frames"]
    if h264_is_decoded_in_place():
        assert stats["copied-frames"] <= 4
        assert stats["copy-reasons"].keys() <= {"startup"}
    else:
        assert stats["copy-reasons"] == {"decoder-memory": frames}
        assert stats["copied-frames"] == frames
