# SPDX-License-Identifier: MIT
"""Runs chapters, those that need no quiet side by side, and judges each by its goals."""

import concurrent.futures
import json
import subprocess
import time
from collections.abc import Callable, Sequence

from .lateness import Lateness
from .plan import Context, NotRun, Plan
from .result import MET, MISSED, NOT_RUN, Chapter, Evaluation, Figure, Reached, figure_text
from .systems import CannotRun

AT_A_TIME = 2  # chapters that need no quiet

_NOISY_US = 1000  # by how much later a sleeper is woken than on a machine with nothing else to do


def run_all(
    plans: Sequence[Plan],
    context: Context,
    evaluation: Evaluation,
    progress: Callable[[Plan], None],
    keep: Callable[[Evaluation], None],
) -> None:
    """Adds these chapters to the evaluation, each in the place of one that it has of the same name.

    `progress` is called with each chapter before it begins: first those that need no quiet, two at
    a time, then the others, each alone. `keep` is called after each of them.
    """

    def run(plan: Plan) -> Chapter:
        progress(plan)
        return run_one(plan, context)

    def add(chapter: Chapter) -> None:
        evaluation.chapters = [one for one in evaluation.chapters if one.id != chapter.id]
        evaluation.chapters.append(chapter)
        keep(evaluation)

    calm = [plan for plan in plans if not plan.needs_quiet]
    pool = concurrent.futures.ThreadPoolExecutor(AT_A_TIME)
    try:
        for done in concurrent.futures.as_completed([pool.submit(run, plan) for plan in calm]):
            add(done.result())
    finally:
        pool.shutdown(cancel_futures=True)
    for plan in plans:
        if plan.needs_quiet:
            add(run(plan))


def run_one(plan: Plan, context: Context) -> Chapter:
    goal = "; ".join(map(str, plan.goals))
    chapter = Chapter(plan.id, plan.title, plan.method, goal, document=list(plan.document))
    begin = time.monotonic()
    context = context.for_chapter()
    try:
        with Lateness() as late:
            chapter.figures = plan.run(context)
        chapter.lateness_us = round(max(late.worst_us, context.lateness_us), 1)
        chapter.verdict, chapter.reason = judge(plan, chapter.figures)
        if chapter.verdict == MISSED and chapter.lateness_us >= _NOISY_US:
            chapter.reason += f" {_noise(chapter.lateness_us)}"
    except NotRun as error:
        chapter.verdict, chapter.reason = NOT_RUN, str(error)
    except (
        CannotRun,
        OSError,
        subprocess.SubprocessError,
        LookupError,
        json.JSONDecodeError,
    ) as error:
        is_missing = isinstance(error, LookupError)
        what = f"what was measured has no {error}" if is_missing else str(error)
        chapter.verdict, chapter.reason = NOT_RUN, what
    chapter.goals = reached(plan, chapter.figures)
    chapter.notes = list(context.notes)
    if chapter.verdict == MISSED and chapter.lateness_us >= _NOISY_US:
        chapter.notes.append(_noise(chapter.lateness_us))
    chapter.seconds = round(time.monotonic() - begin, 1)
    return chapter


def _noise(lateness_us: float) -> str:
    return (
        f"The machine itself woke a sleeper {lateness_us / 1000:.1f} ms late meanwhile: it was not "
        "quiet enough to tell whether the goal was missed. Measure again when it is."
    )


def reached(plan: Plan, figures: Sequence[Figure]) -> list[Reached]:
    by_name = {figure.name: figure.value for figure in figures}
    found = []
    for goal in plan.goals:
        value = by_name.get(goal.figure)
        verdict = NOT_RUN
        if value is not None:
            verdict = MET if goal.is_met(value) else MISSED
        found.append(Reached(goal.figure, goal.limit, value, verdict))
    return found


def judge(plan: Plan, figures: Sequence[Figure]) -> tuple[str, str]:
    """Met if all goals are; a chapter without a goal is met when it has figures."""
    if not figures:
        return NOT_RUN, "Nothing was measured."
    by_name = {figure.name: figure.value for figure in figures}
    missing = [goal.figure for goal in plan.goals if goal.figure not in by_name]
    if missing:
        return NOT_RUN, f"Not measured: {', '.join(missing)}."
    missed = [goal for goal in plan.goals if not goal.is_met(by_name[goal.figure])]
    if missed:
        told = (
            f"{goal.figure} is {figure_text(by_name[goal.figure])}, aim {goal.bound:g}"
            for goal in missed
        )
        return MISSED, f"{'; '.join(told)}."
    return MET, ""
