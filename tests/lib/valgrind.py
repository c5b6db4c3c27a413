# SPDX-License-Identifier: MIT
"""A program under valgrind, and what that says of our code in it."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

VALGRIND = ["valgrind", "--xml=yes", "--num-callers=30", "--leak-check=full"]


def complaints(report: Path) -> list[str]:
    """What valgrind says of code of the module and libgid. Weston's own is not our business.

    Nor is the storage that glibc keeps for a thread while it lives, which valgrind takes for lost:
    libgid's closing helpers wait a second for more to close.
    """
    found = []
    for error in ElementTree.parse(report).iter("error"):
        objects = [frame.text for frame in error.iter("obj")]
        if any("gid-buffer.so" in name or "libgid" in name for name in objects):
            functions = " < ".join(frame.text for frame in error.iter("fn"))
            if "allocate_stack < pthread_create" in functions:
                continue
            found.append(f"{error.findtext('kind')}: {functions}")
    return found
