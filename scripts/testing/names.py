# SPDX-License-Identifier: MIT
"""The names of suites and tests that a command is given."""

import os
import sys
from pathlib import Path

from .one import Test, list_tests

TOP = Path(__file__).resolve().parents[2]


def refuse_unknown(tests: list[Test], wanted: list[str]) -> None:
    suites = {suite for test in tests for suite in test.suites} | {"fuzz"}
    names = {f"{suite}/{test.name}" for test in tests for suite in test.suites}
    for name in wanted:
        if name == "root" and os.geteuid() != 0:
            sys.exit("run: the suite root is what only root can do")
        if name not in suites | names and not name.startswith("fuzz/"):
            what = f"test: {name}" if "/" in name else f"suite: {name}"
            print(f"run: no such {what}; there are: {' '.join(sorted(suites))}", file=sys.stderr)
            sys.exit(2)


def refuse_before_it_is_built(folder: Path, wanted: list[str]) -> None:
    """The same, where the folder was configured since the tests' lists changed."""
    made = folder / "build.ninja"
    lists = (TOP / "tests").glob("**/meson.build")
    if wanted and made.exists():
        configured = made.stat().st_mtime
        if all(path.stat().st_mtime < configured for path in lists):
            refuse_unknown(list_tests(folder), wanted)
