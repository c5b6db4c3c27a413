# SPDX-License-Identifier: MIT
"""evaluation.html, evaluation.json and evaluation.csv. The page needs no other file."""

import csv
import io
import os
from pathlib import Path

import jinja2

from .result import MET, MISSED, NOT_RUN, Chapter, Evaluation, Figure

_PAGE = Path(__file__).parent / "page"


def write(folder: Path, evaluation: Evaluation) -> list[Path]:
    """Writes all three; each is whole or as it was before."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "evaluation.html": render(evaluation),
        "evaluation.json": evaluation.to_json(),
        "evaluation.csv": to_csv(evaluation),
    }
    for name, text in texts.items():
        temporary = folder / f".{name}.{os.getpid()}"
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(folder / name)
    return [folder / name for name in texts]


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
    loader = jinja2.FileSystemLoader(_PAGE)
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["figure"] = figure_text
    return environment.get_template("evaluation.html.j2").render(
        evaluation=evaluation,
        counts={verdict: evaluation.count(verdict) for verdict in (MET, MISSED, NOT_RUN)},
        css={MET: "met", MISSED: "missed", NOT_RUN: "not-run"},
        bars=bars,
    )


def figure_text(value: float) -> str:
    """Three or four digits that count, without an exponent where people can do without."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if size >= 0.001 else f"{value:.2e}"


def bars(chapter: Chapter) -> list[tuple[str, list[tuple[Figure, float]]]]:
    """For each unit: its figures, each with the width of its bar in percent."""
    by_unit: dict[str, list[Figure]] = {}
    for one in chapter.figures:
        by_unit.setdefault(one.unit, []).append(one)
    found = []
    for unit, figures in by_unit.items():
        most = max(abs(one.value) for one in figures) or 1.0
        found.append((unit, [(one, abs(one.value) / most * 100) for one in figures]))
    return found
