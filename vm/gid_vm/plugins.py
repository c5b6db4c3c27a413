# SPDX-License-Identifier: MIT
"""This machine's GStreamer registry: an emulated guest needs a minute to create its own."""

import contextlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from .folder import cache_home

_LOOK_SECONDS = 60


def known() -> bytes | None:
    """A registry that the guest may update: where its plugins differ, GStreamer scans them again.

    It is a copy of this environment's registry, updated: the last program that wrote that may have
    had another GST_PLUGIN_PATH, and so removed our plugins from it.
    """
    own = cache_home() / "gstreamer-1.0" / f"registry.{platform.machine()}.bin"
    with tempfile.TemporaryDirectory(prefix="gid-plugins-") as folder:
        registry = Path(folder, "registry.bin")
        with contextlib.suppress(OSError):
            shutil.copyfile(os.environ.get("GST_REGISTRY", own), registry)
        look = os.environ | {"GST_REGISTRY": str(registry), "GST_REGISTRY_UPDATE": "yes"}
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            # Any GStreamer program updates it at start.
            subprocess.run(
                ["gst-inspect-1.0", "--version"],
                env=look,
                capture_output=True,
                timeout=_LOOK_SECONDS,
            )
        return registry.read_bytes() if registry.is_file() else None
