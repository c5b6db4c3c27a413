# SPDX-License-Identifier: MIT
"""evaluation.html, evaluation.json and evaluation.csv. The page needs no other file.

What is measured before all is lies in evaluation.part.json: an interruption loses no chapter, and
costs no page of an earlier evaluation.
"""

import csv
import datetime
import io
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .result import MEASURED, MET, MISSED, NOT_RUN, Chapter, Evaluation, Figure, figure_text, read
from .sources import MEASURES, beside, left_out

_HEADINGS = {
    "": "Ratios and counts",
    "share": "Shares",
    "fps": "Frames a second",
    "Hz": "A second",
    "frames/s of CPU": "Frames for each second of the processor",
}
_PAGE = Path(__file__).parent / "page"
_PART = "evaluation.part.json"


def prepare(folder: Path) -> None:
    """Raises OSError if files cannot be written there: better now than after the measurement."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def write(folder: Path, evaluation: Evaluation) -> list[Path]:
    """Writes all three; each is whole or as it was before."""
    prepare(folder)
    texts = {
        "evaluation.html": render(evaluation),
        "evaluation.json": evaluation.to_json(),
        "evaluation.csv": to_csv(evaluation),
    }
    for name, text in texts.items():
        _replace(folder / name, text)
    (folder / _PART).unlink(missing_ok=True)
    return [folder / name for name in texts]


def keep(folder: Path, evaluation: Evaluation) -> None:
    """Until write(): the chapters so far."""
    _replace(folder / _PART, evaluation.to_json())


def has_part(folder: Path) -> bool:
    return (folder / _PART).exists()


def kept(folder: Path) -> Evaluation:
    """The chapters so far, or the evaluation that is there. Raises BadResult."""
    return read(folder / _PART if has_part(folder) else folder)


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def to_csv(evaluation: Evaluation) -> str:
    text = io.StringIO()
    table = csv.writer(text)
    columns = (
        "chapter",
        "title",
        "verdict",
        "system",
        "name",
        "value",
        "unit",
        "n",
        "least",
        "most",
    )
    table.writerow((*columns, "source"))
    for chapter in evaluation.chapters:
        for one in chapter.figures:
            table.writerow(
                (chapter.id, chapter.title, chapter.verdict, one.system, one.name, one.value)
                + (one.unit, one.n, *one.spread, one.source)
            )
    return text.getvalue()


def render(evaluation: Evaluation) -> str:
    import jinja2  # a third of a start, and most are of no page

    loader = jinja2.FileSystemLoader(_PAGE)
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["figure"] = figure_text
    environment.filters["date"] = _date
    return environment.get_template("evaluation.html.j2").render(
        evaluation=evaluation,
        counts={verdict: evaluation.count(verdict) for verdict in (MET, MISSED, NOT_RUN, MEASURED)},
        with_goal=sum(bool(chapter.goal) for chapter in evaluation.chapters),
        css={MET: "met", MEASURED: "measured", MISSED: "missed", NOT_RUN: "not-run"},
        marks={MET: "✓", MISSED: "✗", NOT_RUN: "–"},
        not_run=NOT_RUN,
        missed=MISSED,
        tables=tables,
        beside=beside,
        measures=MEASURES,
        left_out=left_out(),
    )


def _date(text: str) -> str:
    """As in "23 November 2026, 02:40 UTC"; a text that is no date stays as it is."""
    try:
        began = datetime.datetime.fromisoformat(text)
    except ValueError:
        return text
    time = "" if len(text) == len("2026-11-23") else f"{began:, %H:%M %Z}".rstrip()
    return f"{began.day} {began:%B %Y}{time}"


@dataclass(frozen=True)
class Row:
    """A figure in its table. `width`, and `least` to `most` of its spread, in percent of the
    longest bar; `ratio`: of one in a guest to the native one of the same name."""

    figure: Figure
    width: float
    least: float
    most: float
    ratio: float | None


def tables(chapter: Chapter) -> list[tuple[str, list[Row]]]:
    """For each unit, put for people: its figures, one of a guest behind the native one of the same
    name."""
    by_unit: dict[str, dict[str, list[Figure]]] = {}
    for one in chapter.figures:
        by_unit.setdefault(one.unit, {}).setdefault(one.name, []).append(one)
    return [
        (_HEADINGS.get(unit, f"In {unit}"), _rows(list(named.values())))
        for unit, named in by_unit.items()
    ]


def _rows(groups: list[list[Figure]]) -> list[Row]:
    longest = max(abs(one.value) for group in groups for one in group) or 1.0
    rows = []
    for group in groups:
        native = next((one.value for one in group if one.system == "native"), None)
        for one in group:
            least, most = (min(max(0.0, end / longest), 1.0) * 100 for end in one.spread)
            ratio = one.value / native if native and one.system != "native" else None
            rows.append(Row(one, abs(one.value) / longest * 100, least, most, ratio))
    return rows
