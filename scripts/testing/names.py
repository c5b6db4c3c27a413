# SPDX-License-Identifier: MIT
"""The names of suites and tests that a command is given."""

import os
import re
import shlex
import sys
import textwrap
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
            print(f"run: {_missing(tests, suites, name)}", file=sys.stderr)
            sys.exit(2)


def purposes() -> dict[str, str]:
    """What each folder of tests is for: the first sentence of its meson.build."""
    found = {}
    for path in sorted((TOP / "tests").glob("*/meson.build")):
        head = re.match(r"# SPDX.*\n((?:# .+\n)+)", path.read_text())
        if head is None:
            sys.exit(f"run: {path.relative_to(TOP)} does not begin with what the folder is for")
        words = " ".join(line[2:] for line in head[1].splitlines())
        found[path.parent.name] = re.split(r"\.(?= |$)", words)[0]
    return found


def show_purposes() -> str:
    """For the help of a command, which takes these names."""
    indent = " " * 13
    rows = [
        textwrap.fill(f"  {name:11}{words}", 96, subsequent_indent=indent, break_on_hyphens=False)
        for name, words in purposes().items()
    ]
    return "\n".join(["suites, each a folder of tests/:", *rows])


def _missing(tests: list[Test], suites: set[str], name: str) -> str:
    """What there is in its place: tests of its suite, as they are typed, else suites."""
    suite, slash, _ = name.partition("/")
    if slash and suite in suites:
        there = {test.name for test in tests if suite in test.suites}
        words = " ".join(shlex.quote(f"{suite}/{one}") for one in sorted(there))
        return f"no such test: {name}; there are: {words}"
    return f"no such suite: {suite}; there are: {' '.join(sorted(suites))}"


def refuse_before_it_is_built(folder: Path, wanted: list[str]) -> None:
    """The same, where the folder was configured since the tests' lists changed."""
    made = folder / "build.ninja"
    lists = (TOP / "tests").glob("**/meson.build")
    if wanted and made.exists():
        configured = made.stat().st_mtime
        if all(path.stat().st_mtime < configured for path in lists):
            refuse_unknown(list_tests(folder), wanted)
