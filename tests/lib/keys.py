# SPDX-License-Identifier: MIT
"""Keys of streams that are protected from end to end."""

from pathlib import Path

import pytest
from lib.program import BUILD

# Both profiles are there.
IS_WHOLE = (BUILD / "common/protection/libgid-protection.a").exists()
CMAC = pytest.param("cmac", marks=pytest.mark.skipif(not IS_WHOLE, reason="built without nettle"))
KEY = "00112233445566778899aabbccddeeff"


def write_key(folder: Path, digits: str = KEY) -> Path:
    """Of so many digits, as both ends read it."""
    file = folder / "lamp.key"
    file.write_text(digits + "\n")
    file.chmod(0o600)
    return file
