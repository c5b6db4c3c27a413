# SPDX-License-Identifier: MIT
"""What the tests bring into their guests."""

import os
import subprocess
from pathlib import Path

from pipeline import gst_env
from program import BUILD


def make_registry() -> Path:
    """The list of GStreamer's plugins. In the guest it would take half a minute to make."""
    registry = BUILD / "tests" / "vm" / "registry.bin"
    registry.parent.mkdir(parents=True, exist_ok=True)
    env = gst_env(dict(os.environ), registry)
    subprocess.run(["gst-inspect-1.0", "gidsink"], env=env, check=True, stdout=subprocess.DEVNULL)
    return registry
