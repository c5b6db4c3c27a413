# SPDX-License-Identifier: MIT
"""Parts that meson.build leaves out, and those that it was asked for. ./run options builds them."""

import re
import subprocess
from pathlib import Path

import pytest
from lib.program import PATIENCE, TOP

WITHOUT = """#!/bin/sh
# pkg-config of a system that lacks one library.
for word; do
	[ "$word" != {library} ] || exit 1
done
exec pkg-config "$@"
"""


def configure(folder: Path, library: str, *parts: str) -> subprocess.CompletedProcess[str]:
    """With these parts only, on a system without that library."""
    program = folder / "without"
    program.write_text(WITHOUT.format(library=library))
    program.chmod(0o755)
    options = [
        "-Dauto_features=disabled",
        "-Dtests=false",
        *(f"-D{part}=enabled" for part in parts),
    ]
    return subprocess.run(
        ["env", f"PKG_CONFIG={program}", "meson", "setup", folder / "build", TOP, *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize(
    ("part", "library"),
    [
        ("clients", "wayland-protocols"),
        ("engine", "inih"),
        ("weston", "wayland-protocols"),
        ("wlroots", "inih"),
        ("wlroots", "wayland-protocols"),
    ],
)
def test_what_is_asked_for_is_there_or_told(part: str, library: str, tmp_path: Path) -> None:
    """They were left out without a word, or the mistake that was told was meson.build's own."""
    result = configure(tmp_path, library, part)
    assert result.returncode != 0
    asked = f"Problem encountered: -D{part}=enabled: not all that it takes was found"
    assert re.search(f'ERROR: ({asked}|Dependency "{library}" not found)', result.stdout)


def test_a_daemon_needs_no_library_of_displays(tmp_path: Path) -> None:
    """What reads the display's configuration asked for pixman wherever there was inih."""
    result = configure(tmp_path, "pixman-1", "daemon")
    assert result.returncode == 0, result.stdout[-500:]
    assert re.search(r"^ +daemon *: YES$", result.stdout, re.MULTILINE)
    assert re.search(r"^ +wlroots *: NO$", result.stdout, re.MULTILINE)
