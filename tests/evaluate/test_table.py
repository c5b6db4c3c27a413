# SPDX-License-Identifier: MIT
"""The figures of documents are those of the evaluation that is kept, judged by today's goals."""

import dataclasses
import html
import json
import re
import runpy
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from evaluations import alone, chapter, evaluation, figure
from gid_evaluate import output, sources
from gid_evaluate.plan import Plan
from gid_evaluate.result import BROKE, GAVE_NO, MET, MISSED, Chapter, read
from lib.program import TOP

from bench.aims import AIMS
from lab.evaluate.chapters import all_plans
from lab.evaluate.table import aims_markdown, coverage_markdown, markdown

KEPT = TOP / "docs/evaluation/evaluation.json"
FIGURES = runpy.run_path(str(TOP / "scripts/figures"))
WITH_FIGURES = FIGURES["with_figures"]


@pytest.mark.parametrize("name", FIGURES["DOCUMENTS"])
def test_the_document_has_the_figures_of_the_file(name: str) -> None:
    document = (TOP / name).read_text(encoding="utf-8")
    assert WITH_FIGURES(document, KEPT) == document, "./run figures"


@pytest.mark.parametrize("number", range(0, 24, 6))
def test_another_figure_is_another_document(tmp_path: Path, number: int) -> None:
    document = (TOP / "docs/benchmarks.md").read_text(encoding="utf-8")
    kept = read(KEPT)
    one = kept.chapters[number]
    changed = dataclasses.replace(one.figures[0], value=one.figures[0].value + 7)
    one.figures = [changed, *one.figures[1:]]
    output.write(tmp_path, kept)
    assert WITH_FIGURES(document, tmp_path / "evaluation.json") != document


def test_each_chapter_says_when_it_was_measured_and_of_which_commit() -> None:
    for one in read(KEPT).chapters:
        assert one.measured.startswith("20") and "~git" in one.version, one.id
        told = f"{one.measured[:10]}, {one.version.rpartition('.')[2]}"
        assert told in (TOP / "docs/benchmarks.md").read_text(encoding="utf-8")


def row(identifier: str, *figures) -> str:
    return row_of(chapter(identifier, MET, *figures))


def row_of(one: Chapter) -> str:
    """Of the table."""
    text = markdown(evaluation(one, mode="full"))
    (title,) = (plan.title for plan in all_plans() if plan.id == one.id)
    (found,) = (line for line in text.splitlines() if line.startswith(f"| {one.id} {title} |"))
    return found


def test_verdicts_are_those_of_todays_goals() -> None:
    """Whatever the file says: it may have been judged by others."""
    rate = figure("lowest rate of all runs", 0.9)
    assert "| missed |" in row("5.18.1", rate)
    partly = row("5.18.1", figure("lowest rate of all runs", 1.0))
    assert "| not run |" in partly and "longest gap of all runs, attacked: not measured" in partly
    gaps = [figure(f"longest gap of all runs, {who}", 1.0) for who in ("attacked", "undisturbed")]
    calm = figure("rate undisturbed, of the display's refreshes", 1.0)
    assert "| met |" in row("5.18.1", figure("lowest rate of all runs", 1.0), calm, *gaps)
    assert "| measured |" in row("5.14", figure("a switch", 1.0))


@pytest.mark.parametrize("reason", [f"{BROKE}gid-cluster ended", f"{GAVE_NO}b.", ""])
def test_what_broke_is_missed(reason: str) -> None:
    """And not left out, as if it had been measured in another form, nor met by what it gave."""
    one = chapter("5.18.1", MISSED)
    one.reason = reason.replace(" ", " |\n")
    assert "| missed |" in row_of(one) and reason.replace(" ", " / ") in row_of(one)
    good = chapter("5.21", MISSED, figure("accesses that succeeded", 0.0))
    good.reason = reason
    assert ("| missed |" in row_of(good)) == bool(reason)
    without_goal = chapter("5.14", MISSED)
    without_goal.reason = reason
    assert "| missed |" in row_of(without_goal)


def test_figures_of_one_name_say_where_they_were_measured() -> None:
    native = figure("system calls, five", 885.0)
    guest = dataclasses.replace(native, value=14960.0, system="guest")
    told = "native: system calls, five: 885 ns; guest: system calls, five: 14,960 ns; a: 1 ns |"
    assert told in row("5.1.4", native, guest, figure("a", 1.0))
    both = (figure("a", 1.0), figure("a", 2.0, "Hz"))
    assert "| a: 1 ns; a: 2 Hz |" in row("5.1.4", *both)


@pytest.mark.parametrize(("late", "told"), [(43_200.0, True), (400.0, False), (None, False)])
def test_a_machine_that_was_not_quiet_is_named(late: float | None, told: bool) -> None:
    one = dataclasses.replace(chapter("5.14", MET, figure("a switch", 1.0)), lateness_us=late)
    assert ("machine late by 43.2 ms" in markdown(evaluation(one, mode="full"))) == told


# --- the aims of the fast path --------------------------------------------------------------------


def figures_of(plan_id: str, ratios: dict[str, float], rows: list[dict]) -> list[str]:
    """Names that a chapter gives the ratios of its benchmark."""
    (plan,) = (plan for plan in all_plans() if plan.id == plan_id)
    context = alone(is_full=True)
    context.benchmark = lambda *_, **more: {  # type: ignore[method-assign]
        "ratios": ratios,
        "rows": rows,
    }
    return [one.name for one in plan.run(context)]


def test_each_aim_has_a_figure_in_its_chapter() -> None:
    points = [f"points_{words}{how}_vs_direct" for words in (100, 1000) for how in ("", "_cpu")]
    points += [f"points_{words}_one_processor_vs_direct" for words in (100, 1000)]
    layers = ["later_frame_cpu_vs_direct_n8", "first_frame_cpu_vs_private_n8"]
    layers += [f"{kind}_frame_drop_n8" for kind in ("first", "later", "fresh")]
    names = {(one.id, other.name) for one in read(KEPT).chapters for other in one.figures}
    for chapter_id, ratios in (("engine", points), ("layers", layers)):
        found = figures_of(chapter_id, dict.fromkeys(ratios, 1.0), [])
        names |= {(chapter_id, name) for name in found}
    counts = json.loads((TOP / "bench/counts.json").read_text()).values()
    names |= {("counts", name) for place in counts for name in place}
    for aim in AIMS:
        assert any(fnmatchcase(name, aim.figures) for of, name in names if of == aim.chapter), aim


def test_an_aim_is_told_beside_what_was_reached() -> None:
    readers = figure("a frame to 8 consumers, ratio to 1 consumer", 4.08, "")
    one = dataclasses.replace(chapter("buffers", MET, readers), measured="2026-11-29T10:00:00")
    text = aims_markdown(evaluation(one, mode="full"))
    (told,) = re.findall(
        r"^\d+ of (\d+) aims are met, .*not measured in this form yet\.$", text, re.M
    )
    assert int(told) == len(AIMS) == text.count("\n| ") - 1
    row = (
        "| a frame to 8 readers, to one reader | ≤ 1.5 | 4.08 | missed | `./run bench frame-cost` |"
    )
    assert f"{row} 2026-11-29 |" in text
    assert "| a frame of 64 streams in turn, to one stream | ≤ 1.03 |  | not run |" in text


# --- what the documents measure -------------------------------------------------------------------


def test_each_section_says_where_it_is_measured_or_why_not() -> None:
    text = coverage_markdown(evaluation())
    assert text.count("\n") == 1 + len(sources.tables()) + len(sources.words())
    ids = {plan.id for plan in all_plans()}
    for one in sources.words():
        assert one.why.endswith(".") and (one.measure in sources.MEASURES) == bool(one.chapter)
        assert not one.chapter or one.chapter in ids
        assert f"| {one.section} | {one.title} | {one.chapter or '–'} |" in text
    assert {one.title for one in sources.left_out()} <= {one.title for one in sources.words()}
    page = html.unescape(output.render(evaluation()))
    for one in sources.left_out():
        assert one.title in page and one.why in page


# --- the goals in the page about them -------------------------------------------------------------

# How the page says bounds that it does not say in figures.
IN_WORDS = {
    0: r"\bno(ne|thing)?\b",
    0.01: "no copy",
    1.01: "no more than",
    2: "twice",
    2 / 45000: "2 of 45,000",
    33.3: "two refreshes",
}


def told_goals() -> dict[str, str]:
    """What the page says of each chapter's goals."""
    page = (TOP / "docs/evaluation.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| chapter \| what \| goal \|\n\|[-|]+\n((?:\|.*\n)+)", page, re.M)
    told: dict[str, str] = {}
    for line in table.splitlines():
        names, _, goal = (cell.strip() for cell in line.strip("|").split("|"))
        for name in names.split(", "):
            assert name not in told, name
            told[name] = goal
    return told


def is_told(bound: float, text: str) -> bool:
    if re.search(rf"(?<![\d.,]){re.escape(f'{bound:g}')}(?![.,]?\d)", text):
        return True
    return any(bound == one and re.search(words, text) for one, words in IN_WORDS.items())


def test_the_page_has_all_chapters() -> None:
    assert sorted(told_goals()) == sorted(plan.id for plan in all_plans())


@pytest.mark.parametrize("plan", all_plans(), ids=lambda plan: plan.id)
def test_the_page_tells_the_goals_of_the_code(plan: Plan) -> None:
    told = told_goals()
    text = told[plan.id]
    if found := re.search(r"\bas ([\d.]+\d)$", text):
        text += told[found[1]]
    assert (text == "none") <= (not plan.goals)
    for goal in plan.goals:
        assert is_told(goal.bound, text), f"{goal}: the page says: {text}"
    if any(goal.only_kvm for goal in plan.goals):
        assert text.startswith("with KVM: ")
