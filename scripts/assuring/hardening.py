# SPDX-License-Identifier: MIT
"""python3 -m assuring.hardening BUILD FILE: what hardens the programs of a build folder, as JSON

Status 1, and a line for each: some of it is missing. The linker's part is looked for in the
programs themselves, the compiler's in how each of their sources was compiled: a program that copies
nothing has no checked copy, and is no worse for it.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from testing.results import tree_state

TOP = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Program:
    """A program or library of ours that is installed. `lacks`: of what hardens it."""

    name: str
    needs: tuple[str, ...]  # names of libraries
    lacks: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """Of the compiler, by a word that it is given. `not_for` takes it back if it comes later."""

    what: str
    word: str
    not_for: str
    machines: str = ".*"  # as readelf names them


ASKED = (
    Asked("stack guards", r"-fstack-protector-(strong|all)", r"-fno-stack-protector"),
    Asked(
        *("stack probes", r"-fstack-clash-protection", r"-fno-stack-clash-protection"),
        machines="(?!RISC-V).*",
    ),
    Asked("checked copies", r"-D_FORTIFY_SOURCE=[23]", r"-[UD]_FORTIFY_SOURCE(=[01])?"),
    Asked("an optimizer, for checked copies", r"-O[123sg]", r"-O0"),
    Asked("checked formats", r"-Werror=format-security", r"-Wno-(error=)?format-security"),
    Asked("marked branches", r"-fcf-protection(=full)?", r"-fcf-protection=none", ".*X86-64.*"),
    Asked("marked branches", r"-mbranch-protection=standard", r"-mbranch-.*=none", "AArch64"),
)


def said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout


def headers_of(path: Path) -> str:
    """What readelf says of a program or library."""
    return said("readelf", "--wide", "--file-header", "--dynamic", "--program-headers", path)


def lacking_in_file(text: str) -> list[str]:
    """By its headers."""
    holds = {
        "a random address": re.search(r"^\s*Type:\s+DYN\b", text, re.M) is not None,
        "no code on the stack": re.search(r"GNU_STACK .* RW ", text) is not None,
        "no memory for both data and code": re.search(r"LOAD .* RWE ", text) is None,
        "read-only relocations": "GNU_RELRO" in text,
        "all of them at the start": re.search(r"BIND_NOW|FLAGS.* NOW", text) is not None,
        "none in the code": "TEXTREL" not in text,
    }
    return [what for what, is_there in holds.items() if not is_there]


def lacking_in_command(words: Iterable[str], machine: str) -> list[str]:
    """By how a source was compiled; what comes last counts."""
    words = list(words)

    def last(pattern: str) -> int:
        return max((at for at, word in enumerate(words) if re.fullmatch(pattern, word)), default=-1)

    return [
        one.what
        for one in ASKED
        if re.fullmatch(one.machines, machine)
        and (last(one.word) < 0 or last(one.not_for) > last(one.word))
    ]


class Commands:
    """How the objects of a build folder were compiled."""

    def __init__(self, build: Path) -> None:
        self._build = build
        self._words = {
            entry["output"]: shlex.split(entry["command"])
            for entry in json.loads((build / "compile_commands.json").read_text())
            if "output" in entry
        }

    def of(self, program: Path) -> dict[str, list[str]]:
        """By the objects that it has, those of its static libraries too."""
        name = program.resolve().relative_to(self._build.resolve())
        listed = said("ninja", "-C", self._build, "--quiet", "-t", "inputs", name)
        return {one: self._words[one] for one in listed.splitlines() if one in self._words}


def looked_at(path: Path, commands: dict[str, list[str]]) -> Program:
    text = headers_of(path)
    needs = tuple(re.findall(r"\(NEEDED\).*\[(.+)\]", text))
    machine = re.search(r"Machine:\s+(.*)", text)
    lacks = lacking_in_file(text)
    if not commands:
        lacks.append("anything known of how it was compiled")
    found: dict[str, list[str]] = {}
    for name, words in commands.items():
        for what in lacking_in_command(words, machine[1] if machine else ""):
            found.setdefault(what, []).append(name)
    lacks += [
        f"{what}: in {len(names)} of {len(commands)} objects, such as {names[0]}"
        for what, names in found.items()
    ]
    return Program(path.name, needs, tuple(lacks))


def built_programs(build: Path) -> list[Program]:
    """Those that are installed and are built already."""
    listed = json.loads(said("meson", "introspect", "--installed", build) or "{}")
    paths = [Path(name) for name in sorted(listed)]
    commands = Commands(build)
    return [
        looked_at(path, commands.of(path))
        for path in paths
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"
    ]


def of_packages(folder: Path, tree: str) -> list[Program] | None:
    """What `./run package` found; None: of other files, or no packages were made."""
    for file in folder.glob("gidway_*.programs.json"):
        found = json.loads(file.read_text(encoding="utf-8"))
        if found["files"] == tree:
            return [
                Program(one["name"], tuple(one["needs"]), tuple(one["lacks"]))
                for one in found["programs"]
            ]
    return None


def main(build: Path, file: Path) -> int:
    programs = built_programs(build)
    whole = {"files": tree_state(TOP), "programs": [asdict(program) for program in programs]}
    file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    for program in programs:
        for what in program.lacks:
            print(f"{program.name} lacks {what}", file=sys.stderr)
    return int(not programs or any(program.lacks for program in programs))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
