# SPDX-License-Identifier: MIT
"""What a program of the build is made of, compiled again: by gcc as packages are, and by clang."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from analyse import words_of

from bounding.calls import Function, join, normal, read_ci
from bounding.llvm import read
from bounding.pointers import Pointers

TOP = Path(__file__).resolve().parents[2]

# Two functions that are alike stay two, so that each has its calls.
_GCC = ("-fstack-usage", "-fcallgraph-info=su,da", "-fno-ipa-icf")
_CLANG = ("-w", "-g", "-O0", "-fsanitize=kcfi", "-S", "-emit-llvm")


@dataclass(frozen=True)
class Compiled:
    """One file. `made`: how it was, beside it, to see whether it has to be made again."""

    source: str
    object: Path  # of the build
    commands: tuple[list[str], list[str]]  # gcc's and clang's
    into: Path  # both write INTO.*

    @property
    def files(self) -> tuple[Path, Path]:
        return Path(f"{self.into}.ci"), Path(f"{self.into}.ll")

    def _is_new(self, said: str) -> bool:
        made = Path(f"{self.into}.made")
        return (
            made.exists()
            and made.read_text() == said
            and made.stat().st_mtime >= self.object.stat().st_mtime
        )

    def make(self, build: Path) -> None:
        said = "\n".join(shlex.join(command) for command in self.commands)
        if self._is_new(said):
            return
        self.into.parent.mkdir(parents=True, exist_ok=True)
        for command in self.commands:
            subprocess.run(command, cwd=build, check=True)
        Path(f"{self.into}.o").unlink()
        Path(f"{self.into}.made").write_text(said)


class Program:
    def __init__(self, build: Path, name: str, files: Sequence[Compiled]) -> None:
        self.name = name
        self._build = build
        self._files = files

    def path_of(self, path: str) -> str:
        return normal(path, self._build, TOP)

    @cached_property
    def functions(self) -> dict[str, Function]:
        return join(read_ci(one.files[0].read_text(), self.path_of) for one in self._files)

    @cached_property
    def pointers(self) -> Pointers:
        return Pointers(
            (self.path_of(one.source), read(one.files[1].read_text(), self.path_of))
            for one in self._files
        )


def flags_of_packages() -> list[str]:
    said = [
        subprocess.run(["dpkg-buildflags", "--get", name], capture_output=True, text=True).stdout
        for name in ("CFLAGS", "CPPFLAGS")
    ]
    return shlex.split(" ".join(said))


def _without_outputs(command: list[str]) -> list[str]:
    words = list(command)
    for name in ("-o", "-MQ", "-MF"):
        at = words.index(name)
        del words[at : at + 2]
    return [word for word in words if word != "-MD" and not word.startswith("-Werror")]


def compiled(build: Path, folder: Path, names: Sequence[str]) -> dict[str, Program]:
    """The programs of a build folder, by their paths there; `folder` gets what is made."""
    entries = {
        entry["output"]: entry
        for entry in json.loads((build / "compile_commands.json").read_text())
        if "output" in entry
    }
    flags = flags_of_packages()
    files: dict[str, Compiled] = {}
    members: dict[str, list[str]] = {}
    for name in names:
        command = ["ninja", "-C", str(build), "--quiet", "-t", "inputs", name]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        members[name] = [one for one in said.splitlines() if one in entries]
        for one in members[name]:
            words = _without_outputs(words_of(entries[one]["command"]))
            into = folder / re.sub(r"\.o$", "", one)
            gcc = [*words, *flags, "-w", *_GCC, "-o", f"{into}.o"]
            clang = ["clang", *words[1:], *_CLANG, "-o", f"{into}.ll"]
            files[one] = Compiled(entries[one]["file"], build / one, (gcc, clang), into)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda one: one.make(build), files.values()))
    return {name: Program(build, name, [files[one] for one in members[name]]) for name in names}
