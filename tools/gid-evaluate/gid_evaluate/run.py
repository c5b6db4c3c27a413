# SPDX-License-Identifier: MIT
"""Runs chapters, those that need no quiet side by side, and judges each by its goals."""

import concurrent.futures
import sys
import time
from collections.abc import Callable, Sequence

from .lateness import NOISY_US, Lateness
from .outcome import Broke, NotRun
from .plan import Context, Goal, Plan
from .result import (
    BROKE,
    GAVE_NO,
    MEASURED,
    MET,
    MISSED,
    NOT_RUN,
    Chapter,
    Evaluation,
    Figure,
    Reached,
    figure_text,
)
from .results import now

AT_A_TIME = 2  # chapters that need no quiet


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
    goals = plan.goals_of(context.is_full, context.how)
    goal = "; ".join(map(str, goals))
    chapter = Chapter(plan.id, plan.title, plan.method, goal)
    begin, began = time.monotonic(), now()
    context = context.for_chapter()
    with Lateness() as late:
        chapter.verdict, chapter.reason = _measure(plan, context, chapter)
    chapter.lateness_us = round(max(late.worst_us, context.lateness_us), 1)
    chapter.goals = reached(goals, chapter.figures, chapter.verdict)
    chapter.notes, chapter.again = list(context.notes), list(context.again)
    if not context.broken:  # noise breaks nothing
        _tell_noise(chapter)
    chapter.seconds = round(time.monotonic() - begin, 1)
    chapter.version = context.results.version
    chapter.measured = context.since or began
    return chapter


def _measure(plan: Plan, context: Context, chapter: Chapter) -> tuple[str, str]:
    """Its verdict, with the reason. Whatever breaks once it is being measured is missed: a display
    that ended, a program that hangs, an answer that is none. Only what is not there is not run."""
    try:
        chapter.figures = plan.run(context)
    except NotRun as error:
        if not context.has_measured:
            return NOT_RUN, str(error)
        context.broken.append(f"it could not go on: {error}")
    except Broke as error:
        context.broken.append(str(error))
    except LookupError as error:
        context.broken.append(f"what was measured has no {error}")
    except Exception as error:  # also a mistake in a chapter costs the others nothing
        context.broken.append(f"{type(error).__name__}: {error}")
    flaw = _flaw(chapter.figures)
    if flaw:
        chapter.figures = []  # none of them is to be believed, nor can a page show them
        context.broken.append(flaw)
    if context.broken:
        return MISSED, f"{BROKE}{'; '.join(context.broken)}"
    return judge(plan.goals_of(context.is_full, context.how), chapter.figures)


def _flaw(figures: Sequence[Figure]) -> str:
    """Why these are no figures."""
    for one in figures:
        for number in (one.value, *one.spread):
            is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
            if not is_number or abs(number) > sys.float_info.max or number != number:
                return f"“{one.name}” is no number: {number!r:.40}"
        if isinstance(one.n, bool) or not isinstance(one.n, int) or one.n < 1:
            return f"“{one.name}” was never measured: n is {one.n!r:.40}"
    return ""


def _tell_noise(chapter: Chapter) -> None:
    """Where a goal is missed, and the machine was late by itself."""
    late = chapter.lateness_us or 0
    if chapter.verdict == MISSED and late >= NOISY_US:
        noise = (
            f"The machine itself woke a sleeper {late / 1000:.1f} ms late meanwhile: it was not "
            "quiet enough to tell whether the goal was missed. Measure again when it is."
        )
        chapter.reason += f" {noise}"
        chapter.notes += [noise] if noise not in chapter.notes else []


def reached(goals: Sequence[Goal], figures: Sequence[Figure], verdict: str) -> list[Reached]:
    by_name = {figure.name: figure.value for figure in figures}
    found = []
    for goal in goals:
        value = by_name.get(goal.figure)
        if value is not None:
            one = MET if goal.is_met(value) else MISSED
        else:
            one = NOT_RUN if verdict == NOT_RUN else MISSED
        found.append(Reached(goal.figure, goal.limit, value, one))
    return found


def judge(goals: Sequence[Goal], figures: Sequence[Figure]) -> tuple[str, str]:
    """Met if all goals are, missed if one is not, or has no figure."""
    if not figures:
        return MISSED, "Nothing was measured."
    by_name = {figure.name: figure.value for figure in figures}
    missing = [goal.figure for goal in goals if goal.figure not in by_name]
    if missing:
        return MISSED, f"{GAVE_NO}{', '.join(missing)}."
    missed = [goal for goal in goals if not goal.is_met(by_name[goal.figure])]
    if missed:
        told = (
            f"{goal.figure} is {figure_text(by_name[goal.figure])}, aim {goal.bound:g}"
            for goal in missed
        )
        return MISSED, f"{'; '.join(told)}."
    return (MET if goals else MEASURED), ""


def verdict_by(goals: Sequence[Goal], chapter: Chapter) -> str:
    """What these goals make of a chapter that was judged by others, as by those of another release:
    missed if one of them is missed, or if it broke; met only if all of them were measured."""
    by_name = {figure.name: figure.value for figure in chapter.figures}
    if chapter.is_broken:
        return MISSED
    if not goals:
        return MEASURED if by_name else NOT_RUN
    known = [goal for goal in goals if goal.figure in by_name]
    if not all(goal.is_met(by_name[goal.figure]) for goal in known):
        return MISSED
    return MET if len(known) == len(goals) else NOT_RUN


def judge_anew(chapter: Chapter, goals: Sequence[Goal]) -> None:
    """Gives it the verdict by these goals."""
    was, names = chapter.verdict, {figure.name for figure in chapter.figures}
    is_broken, chapter.verdict = chapter.is_broken, verdict_by(goals, chapter)
    if not is_broken and {was, chapter.verdict} != {NOT_RUN}:
        known = [goal for goal in goals if goal.figure in names]
        chapter.reason = {
            MISSED: judge(known, chapter.figures)[1],
            NOT_RUN: "It was measured in another form.",
        }.get(chapter.verdict, "")
        _tell_noise(chapter)
    chapter.goal = "; ".join(map(str, goals))
    chapter.goals = reached(goals, chapter.figures, chapter.verdict)
