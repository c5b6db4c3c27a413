# SPDX-License-Identifier: MIT
"""The commands that this build installs."""

import json
from pathlib import Path

from lib.program import BUILD


def installed_commands() -> dict[str, Path]:
    """What is installed in a folder of commands, as it runs in the build folder."""
    files = json.loads((BUILD / "meson-info/intro-installed.json").read_text())
    found = {}
    for built, installed in files.items():
        if Path(installed).parent.name in ("bin", "sbin"):
            # One that knows where it lies is built twice: the build folder's is without a suffix.
            found[Path(installed).name] = Path(built.removesuffix(".installed"))
    return found
