# SPDX-License-Identifier: MIT
"""`.ci/run` as an ordinary user: where it tests, and what its last line and its status say. The
clone's `./run` only plays. What root does first is tried by CI itself.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from lib.program import PATIENCE, TOP

pytestmark = pytest.mark.skipif(os.geteuid() == 0, reason="root makes a user, which stays")


def ci(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    clone, home = folder / "clone", folder / "home"
    for path in (clone / ".ci", clone / ".git", clone / "build", clone / "out", home):
        path.mkdir(parents=True, exist_ok=True)
    shutil.copy(TOP / ".ci" / "run", clone / ".ci" / "run")
    (clone / "run").write_text(f"#!/bin/sh\n{script}\n")
    (clone / "run").chmod(0o755)
    env = os.environ | {"HOME": str(home), "CI": "true"}
    return subprocess.run(
        [clone / ".ci" / "run"],
        env=env,
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_it_tests_a_copy_in_a_folder_with_a_space(tmp_path: Path) -> None:
    result = ci(tmp_path, 'echo "$PWD" "$@"; ls -A; echo "2 passed, 0 failed"')
    lines = result.stdout.splitlines()
    assert lines[1:] == [
        f"{tmp_path}/home/gidway ci/gidway test",
        ".ci",
        ".git",
        "run",
        "2 passed, 0 failed",
        "2 passed, 0 failed",
    ]
    assert result.returncode == 0
    again = ci(tmp_path, 'ls -A; touch old; echo "1 passed, 0 failed"')
    assert again.stdout.splitlines()[-1] == "1 passed, 0 failed", "nothing is left of the first"


ENDS = {
    "all well": ('echo "3 passed, 0 failed, 2 skipped"', "3 passed, 0 failed, 2 skipped", 0),
    "a failure": ('echo "3 passed, 1 failed"; exit 1', "3 passed, 1 failed", 1),
    "a failure not told": ('echo "3 passed, 0 failed"; exit 1', "3 passed, 0 failed", 1),
    "a status not told": ('echo "3 passed, 1 failed"', "3 passed, 1 failed", 1),
    "nothing at all": ('echo "0 passed, 0 failed"', "0 passed, 0 failed", 1),
    "no end": ("echo beginning; kill -TERM $$", "0 passed, 1 failed", 1),
    "no word": ("exit 0", "0 passed, 1 failed", 1),
}


@pytest.mark.parametrize(("script", "last", "status"), ENDS.values(), ids=ENDS)
def test_its_last_line_and_its_status(tmp_path: Path, script: str, last: str, status: int) -> None:
    result = ci(tmp_path, script)
    assert result.stdout.splitlines()[-1] == last, result.stdout + result.stderr
    assert result.returncode == status
