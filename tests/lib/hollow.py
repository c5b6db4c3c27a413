# SPDX-License-Identifier: MIT
"""Whether the kernel tells which pages of a memfd are there, for tests that hide some."""

import os

from lib.program import EMULATED


def is_told() -> bool:
    """From Linux 6.5 on."""
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    return (major, minor) >= (6, 5) and not EMULATED
