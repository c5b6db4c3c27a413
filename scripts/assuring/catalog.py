# SPDX-License-Identifier: MIT
"""Which tests there are: the files below tests/, their functions, and who runs them."""

import ast
import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from testing.one import ONLY_BY_NAME, Test, list_tests
from testing.results import Result

# Those of which each test must be some requirement's.
SUITES = ("unit", "hostile", "safety")

_C_FUNCTION = re.compile(r"^(?:static void|int) (test_\w+|main)\(", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A file of tests. Cases of one in C are sentences: what is known of it is known as a whole."""

    path: str  # from the top
    functions: tuple[str, ...]
    runs: tuple[Test, ...] = ()
    at_length: tuple[str, ...] = ()  # of the functions, those that only tests of the suite long run

    @property
    def is_python(self) -> bool:
        return self.path.endswith(".py")

    @property
    def usual(self) -> tuple[Test, ...]:
        """Those that run where nobody names them; all, if it has no such."""
        usual = tuple(test for test in self.runs if not ONLY_BY_NAME & set(test.suites))
        return usual or self.runs

    def runs_of(self, function: str) -> tuple[Test, ...]:
        """Those that show it; without a name, that show the file as a whole."""
        return self.runs if function in self.at_length else self.usual

    @property
    def suites(self) -> set[str]:
        return {suite for test in self.runs for suite in test.suites}


@dataclass(frozen=True)
class Catalog:
    sources: dict[str, Source]
    without_file: tuple[Test, ...] = field(default=())  # of SUITES: not built, or no file is known

    def problem(self, name: str) -> str:
        """What is wrong with the name of a test; "" if nothing is."""
        path, separator, function = name.partition("::")
        source = self.sources.get(path)
        if source is None:
            return "there is no such file of tests"
        if separator and function not in source.functions:
            return "there is no such function in the file"
        return ""

    def to_cover(self) -> list[str]:
        """Every test of SUITES, as FILE::FUNCTION."""
        return sorted(
            f"{source.path}::{function}"
            for source in self.sources.values()
            if source.suites & set(SUITES)
            for function in source.functions
        )

    def uncovered(self, named: Iterable[str]) -> list[str]:
        """Those of to_cover() that nobody names, neither by themselves nor with their file."""
        known = set(named)
        return [
            name
            for name in self.to_cover()
            if name not in known and name.partition("::")[0] not in known
        ]


def left_to_run(
    tests: Iterable[Test], wanted: list[str], results: Iterable[Result], tree: str
) -> list[str]:
    """The titles of the wanted ones that did not run with just these files, whatever came of it."""
    ran = {(result.folder, result.title) for result in results if result.tree == tree}
    left = (test for test in tests if (test.folder.name, test.title) not in ran)
    return sorted({test.title for test in left if test.is_wanted(wanted)})


def read_source(path: Path, name: str) -> Source:
    """Without who runs it. `name`: its path from the top."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        body = ast.parse(text).body
        functions = [node for node in body if isinstance(node, ast.FunctionDef)]
        tests = [node for node in functions if node.name.startswith("test_")]
        at_length = tuple(node.name for node in tests if _is_at_length(node))
        return Source(name, tuple(node.name for node in tests), at_length=at_length)
    names = _C_FUNCTION.findall(text)
    return Source(name, tuple(name for name in names if name != "main" or names == ["main"]))


def _is_at_length(function: ast.FunctionDef) -> bool:
    return "pytest.mark.at_length" in map(ast.unparse, function.decorator_list)


def read_catalog(top: Path, build: Path) -> Catalog:
    """Of a build folder that is configured."""
    files = sorted([*(top / "tests").rglob("test_*.py"), *(top / "tests").rglob("test_*.c")])
    found = {path: read_source(path, str(path.relative_to(top))) for path in files}
    targets = _sources_of_programs(build)
    runs: dict[Path, list[Test]] = {path: [] for path in found}
    without_file = []
    for test in list_tests(build):
        mine = {
            path for word in test.command for path in targets.get(word, [(build / word).resolve()])
        }
        mine &= found.keys()
        for path in mine:
            runs[path].append(test)
        if not mine and set(test.suites) & set(SUITES):
            without_file.append(test)
    sources = [replace(source, runs=tuple(runs[path])) for path, source in found.items()]
    return Catalog({source.path: source for source in sources}, tuple(without_file))


def _sources_of_programs(build: Path) -> dict[str, list[Path]]:
    command = ["meson", "introspect", "--targets", build]
    listed = subprocess.run(command, capture_output=True, check=True).stdout
    return {
        file: [Path(name) for part in target["target_sources"] for name in part.get("sources", [])]
        for target in json.loads(listed)
        for file in target["filename"]
    }
