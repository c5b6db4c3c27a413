# SPDX-License-Identifier: MIT
"""What GStreamer knows of its plugins here: a translated guest takes a minute to find it out."""

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
    """A registry for a guest, which can write it: where plugins differ there, it looks again.

    It is made from the one of this environment, and brought up to date: a program that wrote that
    one last may have had another GST_PLUGIN_PATH, and then has forgotten our plugins.
    """
    own = cache_home() / "gstreamer-1.0" / f"registry.{platform.machine()}.bin"
    with tempfile.TemporaryDirectory(prefix="gid-plugins-") as folder:
        registry = Path(folder, "registry.bin")
        with contextlib.suppress(OSError):
            shutil.copyfile(os.environ.get("GST_REGISTRY", own), registry)
        look = os.environ | {"GST_REGISTRY": str(registry), "GST_REGISTRY_UPDATE": "yes"}
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            # Any program of GStreamer's does it when it starts.
            subprocess.run(
                ["gst-inspect-1.0", "--version"],
                env=look,
                capture_output=True,
                timeout=_LOOK_SECONDS,
            )
        return registry.read_bytes() if registry.is_file() else None
