# SPDX-License-Identifier: MIT
"""What the figures were measured on."""

import os
import platform
import re
import subprocess
from pathlib import Path


def describe() -> dict:
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": _memory(),
        "kernel": platform.release(),
        "weston": _version(["weston", "--version"]),
        "gstreamer": _version(["gst-launch-1.0", "--version"]),
    }


def gidway() -> str:
    """The version of what runs here."""
    return f"gidway {_version(['gidctl', '--version'])}"


def _processor() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else platform.machine()


def _memory() -> str:
    return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB"


def _version(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"\d+\.\d+\.\d+", result.stdout)
    return found[0] if found else "unknown"
