# SPDX-License-Identifier: MIT
"""Why tests do not reach what they do not: assurance/gaps/*.toml, beside what was counted.

[[gap]]
file = "libgid/ring.c"
functions = ["name", ...]
lines = ["text of each line, whatever its number", ...]
why = "a sentence"
tests = ["tests/vm/test_x.py", ...]
sometimes = true

Without `lines`: nothing at all of these functions runs. Without `functions`: each line is there
once in the file. With both: each line is in some of the functions, and is meant in all that have
it. `tests`, where there are some: who tries it, and is not counted. A reason for what is not there,
or is reached, is refused: it may have been for another line. But not where a test of SAMPLED tries
it, which tries another part with each build, nor with `sometimes`: some runs reach it, by the time
that something took in them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import tomllib

from covering.gcov import Missing, Source

SAMPLED = "tests/faults/"


@dataclass(frozen=True)
class Gap:
    """`place`: where the reason stands."""

    place: str
    file: str
    why: str
    lines: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    sometimes: bool = False

    @property
    def may_be_reached(self) -> bool:
        return self.sometimes or any(test.startswith(SAMPLED) for test in self.tests)


class BadGaps(Exception):
    """A file is not as gaps are written."""


def read_gaps(folder: Path, table: str = "gap") -> list[Gap]:
    """`table`: the name of each; bounding.loops has others."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        try:
            listed = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise BadGaps(f"{path.name}: {error}") from None
        for number, fields in enumerate(listed.pop(table, []), 1):
            found.append(_gap(f"{path.name}, {table} {number}", fields))
        if listed:
            raise BadGaps(f"{path.name}: {', '.join(listed)}: only [[{table}]] is known")
    return found


def _gap(place: str, fields: dict) -> Gap:
    def texts(name: str) -> tuple[str, ...]:
        listed = fields.pop(name, [])
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise BadGaps(f"{place}: {name} is no list of texts")
        return tuple(listed)

    fields = dict(fields)
    file, why = fields.pop("file", ""), fields.pop("why", "")
    lines, functions, tests = texts("lines"), texts("functions"), texts("tests")
    sometimes = fields.pop("sometimes", False)
    if not file or not why or not (lines or functions) or not isinstance(sometimes, bool) or fields:
        words = (
            "it takes file, why, lines or functions or both, and maybe tests or sometimes = true"
        )
        raise BadGaps(f"{place}: {words}")
    return Gap(place, file, why, lines, functions, tests, sometimes)


def function_places(text: str) -> dict[str, range]:
    """The lines of each function, from 1 on, as C is formatted here."""
    plain = re.sub(r"__attribute__\(\(.*?\)\)\)? ", "", text)
    found = re.finditer(r"^(?!#|typedef)\w[^\n;{]*?\b(\w+)\([^;{]*\{\n.*?^\}", plain, re.M | re.S)
    return {
        one[1]: range(plain[: one.start()].count("\n") + 1, plain[: one.end()].count("\n") + 2)
        for one in found
    }


def functions_in(text: str) -> dict[str, list[str]]:
    lines = [line.strip() for line in text.split("\n")]
    return {
        name: [lines[number - 1] for number in place]
        for name, place in function_places(text).items()
    }


def stale(gaps: Iterable[Gap], top: Path) -> Iterator[str]:
    """Of what is not in the files any more; without any counting."""
    seen: dict[tuple[str, str, str], str] = {}
    for gap in gaps:
        path = top / gap.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        known = functions_in(text)
        yield from (
            f"{gap.place}: {gap.file} has no function {name}"
            for name in gap.functions
            if name not in known
        )
        for line in gap.lines:
            yield from _stale_line(gap, line, text, known)
        for name in gap.functions or ("",):
            lines = [line for line in gap.lines if not name or line in known.get(name, [line])]
            if gap.lines and not lines:
                yield f"{gap.place}: {gap.file}: {name}() has none of these lines"
            for line in lines if gap.lines else ("",):
                if other := seen.get((gap.file, name, line)):
                    yield f"{gap.place}: {gap.file}: {other} is for this, too: {line or name}"
                seen[gap.file, name, line] = gap.place
        yield from (
            f"{gap.place}: there is no {one}" for one in gap.tests if not (top / one).is_file()
        )


def _stale_line(gap: Gap, line: str, text: str, known: dict[str, list[str]]) -> Iterator[str]:
    count = [one.strip() for one in text.split("\n")].count(line)
    if not gap.functions and count > 1:
        yield f"{gap.place}: {gap.file} has it {count} times, so it takes its function: {line}"
    elif count == 0 or not any(line in known.get(name, [line]) for name in gap.functions or ("",)):
        yield f"{gap.place}: {gap.file} has no line: {line}"


class Reasons:
    """Of one source. `texts`: its lines."""

    def __init__(self, source: Source, texts: Sequence[str], gaps: Iterable[Gap]) -> None:
        self._source = source
        self._texts = texts
        self._lines: dict[tuple[str, str], Gap] = {}  # by function, or "", and text
        self._functions: dict[str, Gap] = {}
        places = function_places("\n".join(texts))
        self._places = {line: name for name, lines in places.items() for line in lines}
        there = {(self._function_of(at), text.strip()) for at, text in enumerate(texts, 1)}
        for gap in gaps:
            for name in gap.functions or ("",):
                mine = [line for line in gap.lines if not name or (name, line) in there]
                self._lines |= {(name, line): gap for line in mine}
                if not gap.lines:
                    self._functions[name] = gap

    def _function_of(self, line: int) -> str:
        """gcov knows none that is compiled into others alone."""
        return self._source.function_of(line) or self._places.get(line, "")

    def of(self, missing: Missing) -> Gap | None:
        """A line's own reason is the nearer one."""
        text = self._texts[missing.line - 1].strip()
        function = self._function_of(missing.line)
        return (
            self._lines.get((function, text))
            or self._lines.get(("", text))
            or self._functions.get(function)
        )

    def refused(self, path: str) -> Iterator[str]:
        """What is reached, and so takes no reason."""
        missing = {
            (name, self._texts[one.line - 1].strip())
            for one in self._source.missing
            for name in ("", self._function_of(one.line))
        }
        for (name, line), gap in self._lines.items():
            if (name, line) not in missing and not gap.may_be_reached:
                yield f"{gap.place}: {path}: it is reached: {line}"
        for name, gap in self._functions.items():
            if self._source.runs(name) and not gap.may_be_reached:
                yield f"{gap.place}: {path}: {name}() is reached, at least in part"
