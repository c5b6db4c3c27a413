# SPDX-License-Identifier: MIT
"""cargo, for the crates of rust/ and for the programs that are made with them."""

import shutil
import subprocess
from pathlib import Path

import pytest
from lib.program import BUILD, TOP, devenv

CRATES = TOP / "rust"
TARGET = BUILD / "rust"  # as ./run rust has it
PATIENCE = 600.0  # the first time packages are fetched

WITH_CARGO = [
    pytest.mark.skipif(
        shutil.which("cargo") is None,
        reason="there is no cargo: ./run rust and ./run assurance bring it",
    )
]


def cargo(
    folder: Path, *words: str, patience: float = PATIENCE, **env: str
) -> subprocess.CompletedProcess:
    words = ("cargo", *words, "--quiet", "--locked")
    env = devenv() | {"CARGO_TARGET_DIR": str(TARGET)} | env
    return subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=patience
    )
