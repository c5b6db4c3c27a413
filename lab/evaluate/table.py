# SPDX-License-Identifier: MIT
"""An evaluation as a Markdown table for documents: its figures beside the current goals."""

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from gid_evaluate.lateness import NOISY_US
from gid_evaluate.plan import Goal
from gid_evaluate.result import (
    MEASURED,
    MET,
    MISSED,
    NOT_RUN,
    BadResult,
    Chapter,
    Evaluation,
    Figure,
    figure_text,
)
from gid_evaluate.run import verdict_by
from gid_evaluate.sources import MEASURES, tables, words

from bench.aims import AIMS
from lab.evaluate.chapters import all_plans

COUNTS = Path(__file__).resolve().parents[2] / "bench/counts.json"
_MOST_OTHERS = 3  # figures without a goal that a row shows; the file has all


def markdown(evaluation: Evaluation) -> str:
    """Judged by the goals of this release, which may differ from those of the run."""
    found = {chapter.id: chapter for chapter in evaluation.chapters}
    rows, counts, with_goal = [], dict.fromkeys((MET, MISSED, NOT_RUN, MEASURED), 0), 0
    for plan in all_plans():
        chapter = found.get(plan.id, Chapter(plan.id, plan.title, plan.method, ""))
        goals = plan.goals_of(evaluation.mode == "full", evaluation.guest)
        verdict = verdict_by(goals, chapter)
        if verdict == NOT_RUN and not goals:
            continue  # there is nothing to report
        counts[verdict] += 1
        with_goal += bool(goals)
        reached = "; ".join([*_broken(chapter), *_goals(goals, chapter), *_others(goals, chapter)])
        name = f"{plan.id} {plan.title}" if plan.id[0].isdigit() else plan.title
        rows.append(f"| {name} | {verdict} | {reached} | {_when(chapter)} |")
    headline = (
        f"{counts[MET]} of {with_goal} chapters with a goal are met, {counts[MISSED]} missed, "
        f"{counts[NOT_RUN]} not measured in this form yet; without a goal: {counts[MEASURED]}."
    )
    head = ["| chapter | verdict | reached (goal) | measured |", "|---|---|---|---|"]
    return "\n".join([headline, "", *head, *rows])


def aims_markdown(evaluation: Evaluation) -> str:
    """The aims of the fast path, beside what was measured of each last."""
    found = {chapter.id: chapter for chapter in evaluation.chapters} | {"counts": _counted()}
    rows, counts = [], Counter()
    for aim in AIMS:
        chapter = found.get(aim.chapter, Chapter(aim.chapter, "", "", ""))
        value = aim.worst(aim.figures, {one.name: one.value for one in chapter.figures})
        verdict = NOT_RUN if value is None else aim.verdict(value)
        counts[verdict] += 1
        told = ("", "") if value is None else (figure_text(value), _when(chapter))
        command = f"`./run {aim.command}`"
        cells = (aim.what, aim.goal.limit, told[0], verdict, command, told[1])
        rows.append(f"| {' | '.join(cells)} |")
    headline = (
        f"{counts[MET]} of {len(AIMS)} aims are met, {counts[MISSED]} missed, {counts[NOT_RUN]} "
        "not measured in this form yet."
    )
    head = ["| what | aim | reached | verdict | command | measured |", "|---|---|---|---|---|---|"]
    return "\n".join([headline, "", *head, *rows])


def _counted() -> Chapter:
    """What is written down of counts, for the first compiler that has any."""
    place, counts = next(iter(json.loads(COUNTS.read_text(encoding="utf-8")).items()))
    figures = [Figure(name, one, "", 1, (one, one), "") for name, one in counts.items()]
    return Chapter("counts", "", "", "", MEASURED, figures=figures, machine=place)


def coverage_markdown(_: Evaluation) -> str:
    """What each document measures, in which chapter that is measured here, and how alike."""
    head = ["| document | its section | what | here | measure | why |", "|---|---|---|---|---|---|"]
    rows = []
    for one in sorted((*tables(), *words()), key=lambda one: (one.document, not one.chapter)):
        measure = MEASURES.get(one.measure, "none")
        document = re.split(r"[:,(]", one.document)[0].strip()
        cells = (document, one.section, one.title, one.chapter or "–", measure, one.why)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*head, *rows])


def renewed(kept: Evaluation, new: Evaluation) -> Evaluation:
    """The chapters of `new`, and those of `kept` that `new` does not have. So pieces measured on
    different days and machines become one evaluation; each chapter has its own date, machine and
    version.
    """
    if (kept.mode, kept.guest) != (new.mode, new.guest):
        raise BadResult(f"{new.mode} with guest {new.guest}; kept is {kept.mode} with {kept.guest}")
    measured = {chapter.id: chapter for chapter in new.chapters if chapter.verdict != NOT_RUN}
    if undated := [chapter.id for chapter in measured.values() if not chapter.measured]:
        raise BadResult(f"it does not say when these were measured: {', '.join(undated)}")
    for chapter in kept.chapters:
        if not chapter.machine and kept.machine != new.machine:
            chapter.machine = machine_text(kept)
    all_of = {chapter.id: chapter for chapter in kept.chapters} | measured
    chapters = [all_of[plan.id] for plan in all_plans() if plan.id in all_of]
    return dataclasses.replace(new, chapters=chapters, continued=[])


def machine_text(evaluation: Evaluation) -> str:
    known = evaluation.machine
    return f"{known['processor']}, {known['cores']} cores, kernel {known['kernel']}"


def _when(chapter: Chapter) -> str:
    """The day, the commit at the end of the version, and the lateness of the machine itself."""
    late = chapter.lateness_us or 0
    parts = (
        chapter.measured[:10],
        chapter.version.rpartition(".")[2],
        chapter.machine,
        f"machine late by {late / 1000:.1f} ms" if late >= NOISY_US else "",
    )
    return ", ".join(filter(None, parts))


def _goals(goals: Sequence[Goal], chapter: Chapter) -> Iterator[str]:
    by_name = {figure.name: figure for figure in chapter.figures}
    for goal in goals:
        value = _value(by_name[goal.figure]) if goal.figure in by_name else "not measured"
        yield f"{goal.figure}: {value} ({goal.limit})"


def _broken(chapter: Chapter) -> list[str]:
    """Why it is missed whatever its goals are, in a cell."""
    reason = chapter.reason if chapter.is_broken else ""
    return [" ".join(reason.replace("|", "/").split())] if reason else []


def _others(goals: Sequence[Goal], chapter: Chapter) -> Iterator[str]:
    wanted = {goal.figure for goal in goals}
    others = [one for one in chapter.figures if one.name not in wanted]
    names = Counter(name for name, _ in {(one.name, one.system) for one in others})
    for one in others[:_MOST_OTHERS]:
        where = f"{one.system}: " if names[one.name] > 1 else ""
        yield f"{where}{one.name}: {_value(one)}"


def _value(figure: Figure) -> str:
    unit = "" if figure.unit == "share" else figure.unit
    return f"{figure_text(figure.value)} {unit}".strip()
