# SPDX-License-Identifier: MIT
"""What an evaluation found: figures, chapters with a verdict each, and the machine.

The JSON form is that of evaluation.json. Reading it trusts nothing: a file may come from a board or
a release of somebody else.
"""

import contextlib
import dataclasses
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# What was measured and has no goal is neither met nor missed.
MET, MISSED, MEASURED, NOT_RUN = "met", "missed", "measured", "not run"
VERDICTS = (MET, MISSED, MEASURED, NOT_RUN)

# How the reason begins of what is missed because it gave no figure to judge.
BROKE, GAVE_NO = "It broke while it was measured: ", "Not measured: "


class BadResult(Exception):
    """Why a file is no evaluation.json, in a sentence."""


@dataclass(frozen=True)
class Figure:
    """One measured value: of `n` samples the median, or what its name says, as the worst.

    `spread` is the smallest and the largest of them. `source` is the command that gives this figure
    alone. `system` says where it was measured: native, guest, or both.
    """

    name: str
    value: float
    unit: str
    n: int
    spread: tuple[float, float]
    source: str
    system: str = "native"


@dataclass(frozen=True)
class Reached:
    """A goal of a chapter, and the value that was measured, if one was."""

    figure: str
    bound: str
    value: float | None
    verdict: str


@dataclass
class Chapter:
    """One section of the report, as it came out. `reason`: why it was missed or not run; `notes`:
    what else is to be known; `again`: what was tried more than once. `lateness_us`: by how much a
    program that only sleeps was woken too late by the machine meanwhile, at most. `measured`: when
    its first measurement began, as ISO 8601 has it; `version`: of which gidway; `machine`: where,
    if not where the evaluation says."""

    id: str
    title: str
    method: str
    goal: str
    verdict: str = NOT_RUN
    reason: str = ""
    figures: list[Figure] = field(default_factory=list)
    goals: list[Reached] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    seconds: float = 0.0
    lateness_us: float | None = None
    measured: str = ""
    version: str = ""
    machine: str = ""

    @property
    def is_broken(self) -> bool:
        """Missed, whatever the goals are: it broke, or had nothing to be judged by."""
        without = not self.figures or self.reason.startswith((BROKE, GAVE_NO))
        return self.verdict == MISSED and without


@dataclass
class Evaluation:
    """A whole run. `mode`: quick or full. `guest`: how it ran: kvm, tcg, a command, or none.
    `began`, and `continued`: when it was begun, and gone on with after an interruption."""

    machine: dict[str, Any]
    mode: str
    guest: str
    began: str
    chapters: list[Chapter]
    continued: list[str] = field(default_factory=list)

    def has(self, chapter: str) -> bool:
        """Whether that one was measured."""
        return any(one.id == chapter and one.verdict != NOT_RUN for one in self.chapters)

    def count(self, verdict: str, *, with_goal: bool = False) -> int:
        return sum(
            chapter.verdict == verdict and (bool(chapter.goal) or not with_goal)
            for chapter in self.chapters
        )

    @property
    def headline(self) -> str:
        """Of the chapters with a goal alone: nothing is met by one that has none."""
        goals = sum(bool(chapter.goal) for chapter in self.chapters)
        parts = [
            f"{self.count(MET)} of {goals} chapters with a goal are met",
            f"{self.count(MISSED)} missed",
            f"{self.count(NOT_RUN, with_goal=True)} not run",
        ]
        again = sum(len(chapter.again) for chapter in self.chapters)
        parts += [f"tried again: {again}"] if again else []
        return f"{', '.join(parts)}; {self.count(MEASURED)} without a goal"

    @property
    def status(self) -> int:
        """The exit status: 0 only if every chapter with a goal is met, and nothing broke."""
        if self.count(MISSED):
            return 1
        return 3 if self.count(NOT_RUN, with_goal=True) else 0

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), indent=2, ensure_ascii=False) + "\n"


def figure_text(value: float) -> str:
    """Three or four digits that count, without an exponent where people can do without."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if size >= 0.001 else f"{value:.2e}"


def read(path: Path) -> Evaluation:
    """Of the file, or of the folder that it is in."""
    path = path / "evaluation.json" if path.is_dir() else path
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadResult(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadResult(f"{path}: not an evaluation: it is no JSON: {error}") from error
    try:
        chapters = [_chapter(one) for one in _typed(found, "chapters", list)]
        machine = _typed(found, "machine", dict)
        texts = (_typed(found, key, str) for key in ("mode", "guest", "began"))
        return Evaluation(machine, *texts, chapters, _texts(found, "continued"))
    except BadResult as error:
        raise BadResult(f"{path}: not an evaluation: {error}") from None


def _typed(found: object, key: str, kind: type | tuple[type, ...]) -> Any:
    value = found.get(key) if isinstance(found, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadResult(f"“{key}” is missing or of another type")
    return value


def _chapter(found: object) -> Chapter:
    texts = [_typed(found, key, str) for key in ("id", "title", "method", "goal", "verdict")]
    if texts[-1] not in VERDICTS:
        raise BadResult(f"chapter {texts[0]}: no such verdict: {texts[-1]}")
    figures = [_figure(one) for one in _typed(found, "figures", list)]
    late = found.get("lateness_us")
    if texts[-1] == MET and not texts[-2]:
        texts[-1] = MEASURED  # as earlier releases said it
    return Chapter(
        *texts,
        _typed(found, "reason", str),
        figures,
        notes=_texts(found, "notes"),
        again=_texts(found, "again"),
        seconds=_number(found.get("seconds", 0), "seconds"),
        lateness_us=None if late is None else _number(late, "lateness_us"),
        **{key: _text(found, key) for key in ("measured", "version", "machine")},
    )


def _text(found: dict[str, Any], key: str) -> str:
    """Which may be missing: earlier releases had none."""
    text = found.get(key, "")
    if not isinstance(text, str):
        raise BadResult(f"“{key}” is a text")
    return text


def _texts(found: dict[str, Any], key: str) -> list[str]:
    """Which may be missing: earlier releases had none."""
    texts = found.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise BadResult(f"“{key}” are texts")
    return texts


def _figure(found: object) -> Figure:
    name = _typed(found, "name", str)
    spread = _typed(found, "spread", list)
    if len(spread) != 2:
        raise BadResult(f"“{name}”: a spread is two numbers")
    least, most, value = (_number(one, name) for one in (*spread, _typed(found, "value", object)))
    return Figure(
        name=name,
        value=value,
        unit=_typed(found, "unit", str),
        n=_typed(found, "n", int),
        spread=(least, most),
        source=_typed(found, "source", str),
        system=_typed(found, "system", str),
    )


def _number(found: object, name: str) -> float:
    """JSON as Python reads it has NaN, infinity, and numbers of any length."""
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        with contextlib.suppress(OverflowError):
            if math.isfinite(found):
                return float(found)
    raise BadResult(f"“{name}”: not all that should be are numbers")
