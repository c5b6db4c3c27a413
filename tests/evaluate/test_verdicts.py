# SPDX-License-Identifier: MIT
"""Verdicts: what breaks while it is measured is missed, whatever a benchmark says of itself."""

import html
import shutil
import time
from pathlib import Path

import pytest
from evaluations import alone, chapter, evaluation, figure, plan
from fake_bench import ANSWERS
from gid_evaluate import output
from gid_evaluate.outcome import Broke, CannotRun, NotRun
from gid_evaluate.plan import Goal
from gid_evaluate.result import MEASURED, MET, MISSED, NOT_RUN, Chapter, Figure, read
from gid_evaluate.run import judge, judge_anew, run_one
from lib.program import TOP, is_alive, wait_for

from lab.evaluate.chapters import all_plans
from lab.evaluate.context import Context

RESTART = next(plan for plan in all_plans() if plan.id == "5.18.1")
BAD_ANSWERS = ("no rows", "no such rows", "no ratios", "a list", "garbage", "nothing", "NaN")
BAD_FIGURES = ("infinity", "too large", "texts", "never")


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    folder = tmp_path / "bench"
    folder.mkdir()
    shutil.copy(TOP / "tests/evaluate/fake_bench.py", folder / "isolation.py")
    return folder


def restarted(bench: Path, monkeypatch: pytest.MonkeyPatch, way: str, **more: float) -> Chapter:
    """The chapter of restarts, of a benchmark that behaves so."""
    monkeypatch.setenv("GID_TEST_BENCH", way)
    return run_one(RESTART, alone(bench, **more))


# --- benchmarks -----------------------------------------------------------------------------------


def test_a_good_answer_is_met(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = restarted(bench, monkeypatch, "good")
    assert (found.verdict, found.reason, found.again) == (MET, "", [])
    assert evaluation(found).status == 0


@pytest.mark.parametrize("way", [*BAD_ANSWERS, *BAD_FIGURES, "crashes", "ends with a message"])
def test_what_breaks_is_missed(bench: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    assert way in ANSWERS or way in ("crashes", "ends with a message")
    found = restarted(bench, monkeypatch, way)
    assert found.verdict == MISSED and found.reason.startswith("It broke while it was measured: ")
    assert found.figures == [] and {goal.verdict for goal in found.goals} == {MISSED}
    assert evaluation(found).status == 1
    assert found.reason in html.unescape(output.render(evaluation(found)))


def test_what_was_said_is_told(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = restarted(bench, monkeypatch, "ends with a message")
    assert "status 1: bench: restart: the cluster's display ended" in found.reason
    assert "ended with signal 11" in restarted(bench, monkeypatch, "crashes").reason
    assert "NaN is no figure" in restarted(bench, monkeypatch, "NaN").reason
    assert "gave no answer" in restarted(bench, monkeypatch, "leaves").reason


def test_a_hang_is_ended_and_missed(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    monkeypatch.setenv("GID_TEST_PID", str(pid))
    begin = time.monotonic()
    found = restarted(bench, monkeypatch, "hangs", patience=12 / 3600)
    assert found.verdict == MISSED and "took over 0.2 minutes" in found.reason
    assert time.monotonic() - begin < 500
    wait_for(lambda: not is_alive(int(pid.read_text())), "it to be gone")


def test_only_what_is_named_is_wanting(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = restarted(bench, monkeypatch, "wants")
    assert (found.verdict, found.reason) == (NOT_RUN, "there is no glmark2")
    assert evaluation(found).status == 3  # it has a goal that nobody looked at
    assert restarted(bench, monkeypatch, "says it wants nothing").verdict == MISSED


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("one slow run", "lowest rate of all runs is 0.9, aim 0.99"),
        ("one gap", "longest gap of all runs, attacked is 2.5, aim 2"),
        ("one gap undisturbed", "longest gap of all runs, undisturbed is 1.6, aim 1.5"),
    ],
)
def test_of_a_promise_the_worst_run_counts(
    bench: Path, monkeypatch: pytest.MonkeyPatch, way: str, words: str
) -> None:
    found = restarted(bench, monkeypatch, way)
    assert found.verdict == MISSED and words in found.reason


def test_what_was_tried_again_is_counted_and_shown(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = restarted(bench, monkeypatch, "again")
    assert found.verdict == MET and found.again == ["unixfd: hardly a frame"]
    whole = evaluation(found)
    assert "tried again: 1" in whole.headline
    assert "Tried again: 1" in output.render(whole) and "hardly a frame" in output.render(whole)
    output.write(tmp_path, whole)
    assert read(tmp_path).chapters[0].again == found.again


def test_what_broke_is_not_measured_again(context: Context) -> None:
    for error in (NotRun("wanting"), Broke("broken"), KeyError("row")):
        calls: list[int] = []

        def fail(error: Exception = error, calls: list[int] = calls) -> None:
            calls.append(1)
            raise error

        for _ in range(3):
            with pytest.raises(type(error)):
                context.results.get((str(error),), fail)
        assert len(calls) == 1


# --- chapters -------------------------------------------------------------------------------------


@pytest.fixture
def context() -> Context:
    return alone()


def failing(error: Exception, context: Context, has_measured: bool = False) -> Chapter:
    def run(context: Context) -> list[Figure]:
        context.has_measured = has_measured
        raise error

    return run_one(plan(run, Goal("a", 1)), context)


@pytest.mark.parametrize("error", [NotRun("there is no KVM"), CannotRun("no gid-probe there")])
def test_what_is_wanting_is_not_run_unless_something_was_measured(
    context: Context, error: Exception
) -> None:
    found = failing(error, context)
    assert (found.verdict, found.reason) == (NOT_RUN, str(error))
    assert [goal.verdict for goal in found.goals] == [NOT_RUN]
    assert failing(error, context, has_measured=True).verdict == MISSED


@pytest.mark.parametrize(
    "error", [Broke("gone"), OSError("no"), KeyError("row"), ZeroDivisionError("by none")]
)
def test_whatever_else_ends_a_chapter_is_missed(context: Context, error: Exception) -> None:
    found = failing(error, context)
    assert found.verdict == MISSED and str(error) in found.reason and found.figures == []
    assert [goal.verdict for goal in found.goals] == [MISSED]


def test_a_part_that_breaks_leaves_the_rest_its_figures(context: Context) -> None:
    def run(context: Context) -> list[Figure]:
        with context.part("Not in a guest"):
            raise Broke("it crashed")
        return [figure("a", 1)]

    found = run_one(plan(run, Goal("a", 1)), context)
    assert found.verdict == MISSED and "Not in a guest: it crashed" in found.reason
    assert [one.name for one in found.figures] == ["a"]
    page = output.render(evaluation(found))
    assert page.count("Not in a guest: it crashed") == 2  # in the summary, too


def test_goals() -> None:
    both = [Goal("a", 1.1), Goal("b", 0.99, is_least=True)]
    assert judge(both, [figure("a", 1.1), figure("b", 0.99)]) == (MET, "")
    verdict, reason = judge(both, [figure("a", 1.2), figure("b", 0.5)])
    assert verdict == MISSED
    assert "a is 1.2, aim 1.1" in reason and "b is 0.5, aim 0.99" in reason
    assert judge([Goal("a", 1)], [figure("b", 0)]) == (MISSED, "Not measured: a.")
    assert judge([], []) == (MISSED, "Nothing was measured.")
    assert judge([], [figure("a", 1)]) == (MEASURED, "")


def test_a_goal_of_full_runs_alone() -> None:
    goal = plan(lambda context: [figure("a", 2)], Goal("a", 1, only_full=True))
    short = run_one(goal, alone())
    assert (short.verdict, short.goal, short.goals) == (MEASURED, "", [])
    assert run_one(goal, alone(is_full=True)).verdict == MISSED


def test_the_headline_counts_chapters_with_goals_alone() -> None:
    chapters = [
        *(
            chapter(f"5.{i}", verdict, figure("a", 1))
            for i, verdict in enumerate((MET, MET, MISSED))
        ),
        *(chapter(f"6.{i}", MEASURED, figure("a", 1), goal="") for i in range(9)),
        chapter("7", NOT_RUN),
        chapter("8", NOT_RUN, goal=""),
    ]
    whole = evaluation(*chapters)
    told = "2 of 4 chapters with a goal are met, 1 missed, 1 not run; 9 without a goal"
    assert whole.headline == told and told in output.render(whole)
    assert whole.status == 1
    assert evaluation(*chapters[:2], *chapters[3:12], chapters[-1]).status == 0
    assert evaluation(chapters[0], chapters[-2]).status == 3


def test_an_older_report_met_nothing_without_a_goal(tmp_path: Path) -> None:
    output.write(tmp_path, evaluation(chapter("5.1", MET, figure("a", 1), goal="")))
    assert read(tmp_path).chapters[0].verdict == MEASURED


def test_what_stays_missed_tells_todays_aim() -> None:
    """Not that of the release that measured it; and it is not broken for want of a new figure."""
    one = chapter("5.14", MISSED, figure("a", 3.0))
    one.reason, one.lateness_us = "a is 3, aim 1.", 30_000.0
    judge_anew(one, [Goal("a", 2), Goal("b", 2)])
    assert one.verdict == MISSED and "aim 2" in one.reason and "aim 1" not in one.reason
    assert "30.0 ms late" in one.reason and one.notes[0] in one.reason
    judge_anew(one, [Goal("a", 3)])
    assert (one.verdict, one.reason) == (MET, "")


# --- sound and picture ----------------------------------------------------------------------------

TOGETHER = {"lag_ms": -30.0, "lag_ms_min": -44.0, "lag_ms_max": -20.0, "drift_ms": 0.1}
TOGETHER |= {"to_light_ms": 25.0}
TOGETHER |= {"marks": 600, "flashes": 600, "bursts": 599, "n": 599, "gaps": 0}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, ""),
        ({"lag_ms_min": -46.8}, "sound and picture apart, worst second is 46.8, aim 45"),
        ({"lag_ms": 0.0, "lag_ms_min": -50.0, "lag_ms_max": 50.0}, "worst second is 50, aim 45"),
        ({"flashes": 300}, "without their flash or their burst is 300, aim 1"),
        ({"n": 2}, "without their flash or their burst is 598, aim 1"),
        ({"gaps": 1}, "gaps in the sound is 1, aim 0"),
    ],
)
def test_sound_and_picture_are_judged_by_their_worst_second(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, float], words: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda program: program)
    (together,) = (plan for plan in all_plans() if plan.id == "5.7.3")
    of = alone()
    of.benchmark = lambda *_, **more: {  # type: ignore[method-assign]
        "rows": [TOGETHER | changed],
        "ratios": {"worst_lag_ms": 0.0},
    }
    of.for_chapter = lambda: of  # type: ignore[method-assign]
    found = run_one(together, of)
    assert (found.verdict == MET) == (not words) and words in found.reason, found.reason


# --- a cockpit's programs -------------------------------------------------------------------------


@pytest.mark.parametrize(("hz", "verdict"), [(60.0, MET), (59.4, MET), (53.0, MISSED)])
def test_what_the_load_of_one_domain_costs_the_other_is_judged(hz: float, verdict: str) -> None:
    """gidd takes nothing of a processor: that goal alone could not be missed."""
    (load,) = (plan for plan in all_plans() if plan.id == "5.1.1")
    rates = {"running": 60.0, "loaded": hz}
    rows = [
        {"what": "rate", "state": state, "rate_hz": rate, "frames": 300}
        for state, rate in rates.items()
    ]
    of = alone()
    of.benchmark = lambda *_, **more: {  # type: ignore[method-assign]
        "rows": rows,
        "ratios": {"gidds_cpu_percent_running": 0.01},
    }
    of.for_chapter = lambda: of  # type: ignore[method-assign]
    assert run_one(load, of).verdict == verdict


# --- starts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("longest", "verdict"), [(0.9, MET), (1.1, MISSED)])
def test_the_longest_start_counts(longest: float, verdict: str) -> None:
    (start,) = (plan for plan in all_plans() if plan.id == "5.4")
    times = {"seconds": 0.4, "seconds_min": 0.3, "seconds_max": longest, "n": 10}
    names = (
        "gid-cluster's start to its first picture",
        "start of the other domain to its live light",
    )
    of = alone()
    of.benchmark = lambda *_, **more: {  # type: ignore[method-assign]
        "rows": [times | {"what": name} for name in names],
        "ratios": {},
    }
    of.for_chapter = lambda: of  # type: ignore[method-assign]
    found = run_one(start, of)
    assert found.verdict == verdict, found.reason


# --- the soak -------------------------------------------------------------------------------------

SOAK = """\
import json, os, pathlib, sys
words = dict(word[2:].partition("=")[::2] for word in sys.argv if word.startswith("--"))
out = pathlib.Path(words["out"])
part = {{"id": "1", "machine": "", "began": "", "hours": 0.5, "state": "ended", "told": ""}}
pathlib.Path(words["parts"]).write_text(json.dumps(part | {{"grows": {status} == 1}}))
sample = {{"hours": 0.5, "rate_hz": 60.0, "programs": {{"gidd": {{"memory": 1024}}}}}}
(out / "soak.json").write_text(json.dumps([sample, sample]))
print("{words}")
sys.stdout.flush()
os._exit({status}) if {status} >= 0 else os.kill(os.getpid(), -({status}))
"""


@pytest.mark.parametrize(
    ("status", "short", "full"),
    [(0, MEASURED, MET), (1, MEASURED, MISSED), (3, MISSED, MISSED), (-11, MISSED, MISSED)],
)
def test_a_short_soak_is_measured_and_never_met(
    bench: Path, status: int, short: str, full: str
) -> None:
    (bench.parent / "lab/soak").mkdir(parents=True)
    text = SOAK.format(words="It was too short: all of it was warm-up.", status=status)
    (bench.parent / "lab/soak/soak.py").write_text(text)
    soak = next(plan for plan in all_plans() if plan.id == "5.20")
    found = run_one(soak, alone(bench))
    assert found.verdict == short, found.reason
    assert run_one(soak, alone(bench, is_full=True)).verdict == full
