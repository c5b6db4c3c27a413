# SPDX-License-Identifier: MIT
"""What gcov says of objects: how often lines ran, and which conditions decided alone.

A source may be in several objects, a test's among them: what one of them reached is reached.
"""

import json
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Of one call of gcov: as many as a command line may well have.
_AT_ONCE = 50


@dataclass(frozen=True, order=True)
class Missing:
    """A line that did not run, or a condition that never decided alone."""

    line: int
    what: str


@dataclass
class Source:
    """`lines`: how often each with code ran. `functions`: by name the lines, and how often.

    `conditions`: by line, place in it and number of outcomes, which of those never decided.
    """

    lines: dict[int, int] = field(default_factory=dict)
    conditions: dict[tuple[int, int, int], set[tuple[int, bool]]] = field(default_factory=dict)
    functions: dict[str, tuple[range, int]] = field(default_factory=dict)

    def add(self, line: dict) -> None:
        """One of gcov's."""
        number = line["line_number"]
        self.lines[number] = self.lines.get(number, 0) + line["count"]
        for place, one in enumerate(line.get("conditions", [])):
            missing = {(index, True) for index in one["not_covered_true"]}
            missing |= {(index, False) for index in one["not_covered_false"]}
            key = (number, place, one["count"])
            self.conditions[key] = self.conditions.get(key, missing) & missing

    def add_function(self, function: dict) -> None:
        name = function["name"]
        lines = range(function["start_line"], function["end_line"] + 1)
        before = self.functions.get(name, (lines, 0))[1]
        self.functions[name] = (lines, before + function["execution_count"])

    def function_of(self, line: int) -> str:
        """ "" for none."""
        return next((name for name, (lines, _) in self.functions.items() if line in lines), "")

    def runs(self, function: str) -> bool:
        return self.functions.get(function, (range(0), 0))[1] > 0

    @property
    def reached(self) -> int:
        return sum(count > 0 for count in self.lines.values())

    @property
    def outcomes(self) -> int:
        return sum(count for _, _, count in self.conditions)

    @property
    def decided(self) -> int:
        return self.outcomes - sum(len(missing) for missing in self.conditions.values())

    @property
    def missing(self) -> list[Missing]:
        """Of a line that did not run, its conditions are not told again."""
        found = [Missing(line, "not run") for line, count in self.lines.items() if count == 0]
        for (line, _, _), missing in self.conditions.items():
            if self.lines[line] > 0:
                found += [
                    Missing(line, f"condition {index + 1} never decides by being {_word(truth)}")
                    for index, truth in sorted(missing)
                ]
        return sorted(found)


def _word(truth: bool) -> str:
    return "true" if truth else "false"


def joined(documents: Iterable[dict], path_of: Callable[[str], str]) -> dict[str, Source]:
    """By the paths that `path_of` gives; those for which it has none are left out."""
    sources: dict[str, Source] = {}
    for document in documents:
        for file in document["files"]:
            if path := path_of(file["file"]):
                source = sources.setdefault(path, Source())
                for line in file["lines"]:
                    source.add(line)
                for function in file["functions"]:
                    source.add_function(function)
    return sources


def ask(folder: Path, notes: Sequence[Path]) -> Iterable[dict]:
    """gcov's documents of these .gcno files. Those that never ran have counts of 0."""
    for begin in range(0, len(notes), _AT_ONCE):
        command = ["gcov", "--json-format", "--conditions", "--stdout"]
        command += map(str, notes[begin : begin + _AT_ONCE])
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        for line in said.stdout.splitlines():
            if line.startswith("{"):
                yield json.loads(line)
