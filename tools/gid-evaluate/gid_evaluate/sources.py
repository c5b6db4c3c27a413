# SPDX-License-Identifier: MIT
"""The tables of the documents that gidway comes from, in their form, with our figures beside them.

What they printed is in sources.toml. The machines differ, so each side is drawn by its own largest
value: what is to be compared is the form of the two.
"""

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tomllib

from .result import Chapter, Figure

_FILE = Path(__file__).with_name("sources.toml")
SAME, WEAKER, OTHER = "same", "weaker", "other"
MEASURES = {
    SAME: "the same measure",
    WEAKER: "a weaker measure",
    OTHER: "another measure",
}
_SYSTEMS = ("native", "guest", "uml", "both")


@dataclass(frozen=True)
class Line:
    """A row of a table. Each of `ours` is the name of a figure and its system; none where we have
    nothing to set beside it."""

    name: str
    theirs: tuple[float | None, ...]
    ours: tuple[tuple[str, str] | None, ...]


@dataclass(frozen=True)
class Table:
    document: str
    section: str
    chapter: str
    title: str
    unit: str
    measure: str
    why: str
    theirs: tuple[str, ...]
    ours: tuple[str, ...]
    bars: frozenset[int]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Words:
    """What a document measures without a table. `chapter`: ours that has it; none: `why`."""

    document: str
    section: str
    title: str
    chapter: str
    measure: str
    why: str


@dataclass(frozen=True)
class Cell:
    """A value and its bar, in percent of the longest of its side; no bar: None."""

    value: float | None
    width: float | None


@dataclass(frozen=True)
class Row:
    name: str
    theirs: list[Cell]
    ours: list[Cell]


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@cache
def tables() -> tuple[Table, ...]:
    return tuple(_table(_read()["documents"], one) for one in _read()["table"])


@cache
def words() -> tuple[Words, ...]:
    names = _read()["documents"]
    return tuple(Words(names[one.pop("of")], **one) for one in map(dict, _read()["words"]))


def left_out() -> list[Words]:
    """What no chapter of ours has."""
    return [one for one in words() if not one.chapter]


def _table(documents: dict[str, str], found: dict[str, Any]) -> Table:
    theirs, ours = tuple(found["theirs"]), tuple(found["ours"])
    return Table(
        document=documents[found["of"]],
        theirs=theirs,
        ours=ours,
        bars=frozenset(found.get("bars", range(len(theirs)))),
        lines=tuple(_line(row, len(theirs), ours) for row in found["rows"]),
        **{key: found[key] for key in ("section", "chapter", "title", "unit", "measure", "why")},
    )


def _line(row: dict[str, Any], width: int, columns: tuple[str, ...]) -> Line:
    values = tuple(None if math.isnan(one) else float(one) for one in row["theirs"])
    named = row["ours"]
    if isinstance(named, str):  # the same on each system, which the columns name
        ours = tuple((named, column) if named else None for column in columns)
    else:
        ours = tuple(_figure(one) for one in named)
    if len(values) != width or len(ours) != len(columns):
        raise ValueError(f"“{row['name']}” has not as many values as its table has columns")
    return Line(row["name"], values, ours)


def _figure(name: str) -> tuple[str, str] | None:
    figure, _, system = name.rpartition("@")
    if system in _SYSTEMS and figure:
        return figure, system
    return (name, "native") if name else None


def beside(chapter: Chapter) -> list[tuple[Table, list[Row]]]:
    """The tables of this chapter's documents, with its figures."""
    figures = {(one.name, one.system): one for one in chapter.figures}
    return [(table, _rows(table, figures)) for table in tables() if table.chapter == chapter.id]


def _rows(table: Table, figures: dict[tuple[str, str], Figure]) -> list[Row]:
    ours = [
        [figures[one].value if one in figures else None for one in line.ours]
        for line in table.lines
    ]
    longest = _longest([line.theirs[i] for line in table.lines for i in table.bars])
    our_longest = _longest([value for values in ours for value in values])
    return [
        Row(
            line.name,
            [
                _cell(value, longest if i in table.bars else None)
                for i, value in enumerate(line.theirs)
            ],
            [_cell(value, our_longest) for value in values],
        )
        for line, values in zip(table.lines, ours, strict=True)
    ]


def _longest(values: list[float | None]) -> float:
    return max((abs(value) for value in values if value is not None), default=0.0) or 1.0


def _cell(value: float | None, longest: float | None) -> Cell:
    is_drawn = value is not None and longest is not None
    return Cell(value, max(0.0, value) / longest * 100 if is_drawn else None)
