# SPDX-License-Identifier: MIT
"""What the figures were measured on."""

import os
import platform
import re
import subprocess
from pathlib import Path


def describe() -> dict[str, object]:
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB",
        "kernel": platform.release(),
        "weston": version("weston"),
        "gstreamer": version("gst-launch-1.0"),
    }


def gidway() -> str:
    """The version of what runs here."""
    return f"gidway {version('gidctl')}"


def _processor() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else platform.machine()


def version(program: str) -> str:
    try:
        result = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "none"
    found = re.search(r"\d+\.\d+\.\d+(?:~git[\w.]+)?", result.stdout)  # a snapshot says which
    return found[0] if found else "unknown"
