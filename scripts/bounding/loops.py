# SPDX-License-Identifier: MIT
"""Loops of what runs in the safety domain, and what bounds each.

Some say it themselves: those that count to a limit, and leave the counter alone, and walks along a
list of our own to its end. Each other one has its bound in assurance/loops, written as the reasons
of covering.gaps are.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from covering.gaps import Gap, function_places, read_gaps

SOURCES = ("libgid/*.[ch]", "cluster/**/*.[ch]", "kms/*.[ch]", "gidd/base/access.c")

_COUNTS_UP = re.compile(r"for \([^;]*?(\w+) = [^;]*; (?:.* )?\1 <=? [^;]*; \1(?:\+\+| \+= \w+)\)")
_COUNTS_DOWN = re.compile(r"for \([^;]*?(\w+) = [^;]*; (?:\1-- > 0;|\1 > 0; \1--)\)")
_WALKS = re.compile(r"for \([^;]*?(\w+) = [^;]*; \1 != NULL; \1 = \1->\w+\)")
_MACROS = re.compile(r"^\s*(?:wl_list_for_each\w*|TAILQ_FOREACH\w*)\(", re.M)


@dataclass(frozen=True)
class Loop:
    """`text`: its first line, or the last one of `do`, which has the condition."""

    file: str
    line: int
    function: str
    text: str
    is_bounded: bool  # as it says itself


def loops_in(file: str, text: str) -> list[Loop]:
    code = re.sub(r"/\*.*?\*/", lambda one: re.sub(r"[^\n]", " ", one[0]), text, flags=re.S)
    lines = code.split("\n")
    places = function_places(code)
    found = []
    for at, line in enumerate(lines):
        if re.match(r"\t+(for|while|\} while) \(", line):
            function = next((name for name, lines in places.items() if at + 1 in lines), "")
            told = text.split("\n")[at].strip()
            found.append(Loop(file, at + 1, function, told, _is_bounded(lines, at)))
    macros = [code[: one.start()].count("\n") + 1 for one in _MACROS.finditer(code)]
    found += [Loop(file, line, "", lines[line - 1].strip(), True) for line in macros]
    return sorted(found, key=lambda loop: loop.line)


def _is_bounded(lines: list[str], at: int) -> bool:
    head, last = lines[at].strip(), at
    while head.count("(") > head.count(")"):
        last += 1
        head += f" {lines[last].strip()}"
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    body = []
    for line in lines[last + 1 :]:
        if line.startswith(f"{indent}}}"):
            break
        body.append(line)
    for pattern in (_COUNTS_UP, _COUNTS_DOWN, _WALKS):
        if one := pattern.match(head):
            changed = rf"&{one[1]}\b(?!->)|\b{one[1]}(\+\+|--| [-+*/]?= )|(\+\+|--){one[1]}\b"
            return re.search(changed, "\n".join(body)) is None
    return False


def all_loops(top: Path) -> list[Loop]:
    return [
        loop
        for pattern in SOURCES
        for path in sorted(top.glob(pattern))
        for loop in loops_in(str(path.relative_to(top)), path.read_text(encoding="utf-8"))
    ]


def read_bounds(top: Path) -> list[Gap]:
    return read_gaps(top / "assurance/loops", "loop")


def without_bound(loops: Iterable[Loop], bounds: Iterable[Gap]) -> list[Loop]:
    known = {
        (bound.file, name, line)
        for bound in bounds
        for name in bound.functions or ("",)
        for line in bound.lines
    }
    return [
        loop
        for loop in loops
        if not loop.is_bounded
        and not {(loop.file, name, loop.text) for name in ("", loop.function)} & known
    ]


def needless(loops: Iterable[Loop], bounds: Iterable[Gap]) -> list[str]:
    """Lines that are no loop, or one that says its bound itself."""
    others = {(loop.file, loop.text) for loop in loops if not loop.is_bounded}
    return [
        f"{bound.place}: {bound.file}: it needs no bound: {line or 'a whole function'}"
        for bound in bounds
        for line in bound.lines or ("",)
        if (bound.file, line) not in others
    ]
