# SPDX-License-Identifier: MIT
"""What keeps the rules of assurance/rules.trlc: each checker that is named is there, and is on.

Checkers are `gcc -WNAME`, `clang-tidy CHECK`, `clang-format OPTION`, `lint CHECK`, `run COMMAND`.
Tests, too, but those are the catalogue's to know. `gcc -WNAME but FOLDER/`: not in that one.
"""

import json
import re
import shlex
import subprocess
from functools import cache, cached_property
from pathlib import Path

import analyse

from assuring.kit import Kit

# What of the tree is no product.
_NO_PRODUCT = ("tests/", "bench/", "lab/", "examples/")


class Checkers:
    def __init__(self, top: Path, build: Path) -> None:
        self._top = top
        self._build = build

    def problem(self, name: str) -> str:
        """What is wrong with the name of a checker; "" if nothing is."""
        kind, _, what = name.partition(" ")
        known = {
            "gcc": lambda: self._is_given(*what.partition(" but ")[::2]),
            "clang-tidy": lambda: what in self.tidy,
            "clang-format": lambda: f"{what}: true" in self._text(".clang-format").splitlines(),
            "lint": lambda: what in self.lint,
            "run": lambda: f"./run {what}" in self._text(f"scripts/{what}")[:400],
        }.get(kind)
        if known is None:
            return "no kind of checker that is known"
        return "" if known() else "there is no such checker, or it is not on for all of the product"

    def _text(self, name: str) -> str:
        path = self._top / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    @cached_property
    def lint(self) -> set[str]:
        return set(re.findall(r"^def (?:check|deep)_(\w+)\(", self._text("scripts/lint"), re.M))

    @cached_property
    def tidy(self) -> set[str]:
        asked = next(word for word in analyse.TIDY if word.startswith("--checks="))
        command = ["clang-tidy", asked, "--list-checks"]
        said = subprocess.run(command, capture_output=True, text=True).stdout
        return {line.strip() for line in said.splitlines() if line.startswith("    ")}

    def _is_given(self, warning: str, but: str) -> bool:
        """For every file of the product, but for those of a folder."""
        sets = {flags for name, flags in self._flags if not but or not name.startswith(but)}
        return bool(sets) and all(warning in enabled(flags) for flags in sets)

    @cached_property
    def _flags(self) -> list[tuple[str, tuple[str, ...]]]:
        """Of each file of the product what chooses its warnings."""
        found = []
        for entry in json.loads((self._build / "compile_commands.json").read_text()):
            path = (self._build / entry["file"]).resolve()
            if not path.is_relative_to(self._top) or path.is_relative_to(self._build):
                continue
            name = str(path.relative_to(self._top))
            if path.suffix == ".c" and not name.startswith(_NO_PRODUCT):
                words = shlex.split(entry["command"])
                warnings = (word for word in words if re.match(r"-W(?!l,|p,|error)|-std=", word))
                found.append((name, tuple(warnings)))
        return found


@cache
def enabled(flags: tuple[str, ...]) -> set[str]:
    """The warnings that gcc gives with these flags."""
    command = ["gcc", *flags, "-Q", "--help=warnings"]
    said = subprocess.run(command, capture_output=True, text=True).stdout
    found = re.findall(r"^\s+(-W[\w-]+)(?:=<\S*)?\s+(\S.*)$", said, re.M)
    off = ("[disabled]", "0", "[available", "-W")  # -W: another name, whose own line says it
    return {name for name, state in found if not state.startswith(off)}


def checker_errors(kit: Kit, checkers: Checkers) -> list[str]:
    """A line for each checker that is named and is not there."""
    return [
        f"assurance/{rule.place}: {name}: {problem}"
        for rule in kit.rules
        for name in rule.checked
        if not name.startswith("tests/") and (problem := checkers.problem(name))
    ]
