# SPDX-License-Identifier: MIT
"""gid-evaluate: its chapters, its verdicts, and the three files that it writes."""

import contextlib
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import types
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from evaluations import (
    ENVIRONMENT,
    EVALUATE,
    INSTALLED,
    alone,
    chapter,
    evaluate,
    evaluation,
    figure,
    plan,
    run,
)
from gid_cockpit.daemon import Daemon
from gid_evaluate import chapters, output
from gid_evaluate.outcome import Broke, CannotRun
from gid_evaluate.plan import Goal, Plan
from gid_evaluate.result import (
    MEASURED,
    MET,
    MISSED,
    NOT_RUN,
    BadResult,
    Figure,
    read,
)
from gid_evaluate.run import run_all, run_one
from gid_evaluate.systems import BadCommand, Native
from lib.browser import VIEWS, Browser
from lib.program import PATIENCE, is_alive, wait_for

from lab.evaluate.chapters import all_plans
from lab.evaluate.context import Context, InCockpit


@pytest.fixture
def context() -> Context:
    return alone()


# --- verdicts -------------------------------------------------------------------------------------


def test_each_goal_is_told_with_what_was_reached(context: Context) -> None:
    goals = (Goal("a", 1), Goal("b", 0.5, is_least=True), Goal("c", 1))
    found = run_one(plan(lambda context: [figure("a", 2000), figure("b", 1)], *goals), context)
    told = [(one.figure, one.bound, one.value, one.verdict) for one in found.goals]
    assert told == [
        *(("a", "≤ 1", 2000, MISSED), ("b", "≥ 0.5", 1, MET)),
        ("c", "≤ 1", None, MISSED),
    ]
    text = output.render(evaluation(found))
    assert "<b>2,000</b>" in text and "not measured" in text


def test_a_guest_stands_behind_what_is_native() -> None:
    guest = Figure("a", 30, "ns", 10, (20, 90), "x", "guest")
    found = chapter("5.1", MET, figure("a", 10, margin=0.5), figure("b", 60), guest)
    ((heading, rows),) = output.tables(found)
    assert heading == "In ns"
    assert [(row.figure.name, row.figure.system) for row in rows] == [
        *(("a", "native"), ("a", "guest"), ("b", "native")),
    ]
    assert [row.ratio for row in rows] == [None, 3, None]
    assert [row.width for row in rows] == pytest.approx([100 / 6, 50, 100])
    assert (rows[1].least, rows[1].most) == pytest.approx((100 / 3, 100))
    page = output.render(evaluation(found))
    assert "3 × native" in page
    assert ">Value<" in page and ">Median<" not in page  # some are means, or the worst of all


@pytest.mark.parametrize(("lateness", "noisy"), [(7000, True), (400, False)])
def test_what_was_missed_on_a_noisy_machine_says_so(
    context: Context, monkeypatch: pytest.MonkeyPatch, lateness: float, noisy: bool
) -> None:
    machine = contextlib.nullcontext(types.SimpleNamespace(worst_us=lateness))
    monkeypatch.setattr("gid_evaluate.run.Lateness", lambda: machine)
    for value, verdict in ((2, MISSED), (1, MET)):
        measured = [figure("a", value)]
        found = run_one(plan(lambda context, found=measured: found, Goal("a", 1)), context)
        assert found.verdict == verdict
        text = output.render(evaluation(found))
        told = noisy and verdict == MISSED
        assert ("woke a sleeper 7.0 ms late meanwhile: it was not" in found.reason) == told
        assert ("it was not quiet enough to tell" in text) == told


def test_the_machine_is_watched_meanwhile(context: Context) -> None:
    found = run_one(plan(lambda context: [figure("a", 1)]), context)
    assert found.verdict == MEASURED and found.lateness_us is not None


def test_chapters_have_names_of_their_own_in_the_order_of_the_report() -> None:
    ids = [plan.id for plan in all_plans()]
    assert len(set(ids)) == len(ids)
    assert ids.index("5.1.5") < ids.index("5.9.3") < ids.index("5.11") < ids.index("buffers")


def test_what_judges_times_has_the_machine_alone() -> None:
    """The time of a repaint was once measured beside a soak."""
    beside = {plan.id: plan.goals for plan in all_plans() if not plan.needs_quiet}
    assert beside.keys() == {"5.20", "5.21"}
    assert all(goal.bound == 0 for goals in beside.values() for goal in goals)  # they count


# --- side by side, and one guest for all ----------------------------------------------------------


def test_only_chapters_without_need_of_quiet_run_together(context: Context) -> None:
    running, most, lock = set(), {"calm": 0, "quiet": 0}, threading.Lock()
    both = threading.Barrier(2)  # which two calm ones pass only side by side

    def measure(kind: str) -> Callable[[Context], list[Figure]]:
        def run(context: Context) -> list[Figure]:
            with lock:
                running.add(threading.get_ident())
                most[kind] = max(most[kind], len(running))
            if kind == "calm":
                both.wait(PATIENCE)
            else:
                time.sleep(0.2)
            with lock:
                running.discard(threading.get_ident())
            context.notes.append(kind)
            return [figure("a", 1)]

        return run

    kinds = ("quiet", "calm", "quiet", "calm")
    plans = [
        Plan(f"5.{i}", "T", "M", measure(kind), needs_quiet=kind == "quiet")
        for i, kind in enumerate(kinds)
    ]
    begun: list[str] = []
    kept: list[int] = []
    found = evaluation(chapter("5.0", NOT_RUN))
    run_all(
        plans,
        context,
        found,
        lambda plan: begun.append(plan.id),
        lambda found: kept.append(len(found.chapters)),
    )
    assert most == {"calm": 2, "quiet": 1}
    assert sorted(begun) == [plan.id for plan in plans]
    # Each has its own notes only.
    notes = {one.id: one.notes for one in found.chapters}
    assert notes == {plan.id: [kind] for plan, kind in zip(plans, kinds, strict=True)}
    assert kept == [2, 3, 3, 4]  # the one that was not run is there until it was


DID = {"devices": 4, "arrived": 4, "refused": 4, "passed": 0, "tried": 90, "nowhere": 9}
DID |= {"changed": 0, "pages": 0, "written": 1000, "held": 0}
ROWS = [
    {
        "what": "start",
        "piece": "--part=start",
        "who": "guest is up to a live light, drawn without Weston",
        "seconds": 0.8,
    },
    {
        "what": "start",
        "piece": "--part=start",
        "who": "start of Weston in the guest",
        "seconds": 3.0,
    },
    {"what": "run", "piece": "--run=gid-probe calls", "out": '{"figures": []}'},
    {"what": "failed", "piece": "--run=sh -c 'a b'", "why": "gone"},
    {"what": "rate", "piece": "--part=load", "who": "cluster, with the guest running"},
    *(
        {
            "what": "rate",
            "piece": "--part=reboot",
            "who": who,
            "rate_hz": 60 * ratio,
            "frames": 300,
            "rate_vs_undisturbed": ratio,
            "longest_gap_refreshes": 1.0,
        }
        for who, ratio in (("undisturbed", 1), ("flood", 0.999), ("reboot 1", 1), ("reboot 2", 0.9))
    ),
    *(
        {
            "what": "rate",
            "piece": "--part=attacks",
            "who": who,
            "rate_hz": 60.0,
            "frames": 300,
            "rate_vs_undisturbed": 1.0,
            "longest_gap_refreshes": 1.0,
            "did": did,
        }
        for who, did in (("undisturbed", {}), ("leak", {}), ("dma", DID))
    ),
]


def test_chapters_of_one_guest(context: Context) -> None:
    """All take what they need from one run of `./run bench virtual`."""
    wanted = tuple(dict.fromkeys(row["piece"] for row in ROWS))
    context.virtual = (("--seconds=1",), wanted)
    context.results.get(("virtual", "--seconds=1", *wanted), lambda: [{"rows": ROWS}, 12.0])
    plans = {plan.id: plan for plan in all_plans()}
    start = run_one(plans["5.4.3"], context)
    assert start.verdict == MET and len(start.figures) == 2 and start.figures[0].system == "guest"
    reboot = run_one(plans["5.18.2"], context)
    assert reboot.verdict == MISSED and "is 0.9, aim 0.99" in reboot.reason
    attacks, devices, access = (
        run_one(plans[one], context) for one in ("5.16.2.2", "5.17.2", "5.21.2")
    )
    assert [one.verdict for one in (attacks, devices, access)] == [MET] * 3, devices.reason
    assert not any("dma" in one.name for one in attacks.figures)
    guest = InCockpit(context.in_guest)
    assert guest.typed("gid-probe calls") == "./run bench virtual --run 'gid-probe calls'"
    assert guest.run(["gid-probe", "calls"], 1) == '{"figures": []}'
    with pytest.raises(Broke, match="gone"):
        guest.run(["sh", "-c", "a b"], 1)
    with pytest.raises(CannotRun, match="was not run"):
        guest.run(["true"], 1)


@pytest.mark.parametrize(
    ("chapter_id", "key"),
    [("5.17.2", key) for key in ("changed", "pages", "passed")]
    + [("5.21.2", key) for key in ("held", "changed", "pages")],
)
def test_a_page_of_others_that_was_written_is_a_page_too_many(
    context: Context, chapter_id: str, key: str
) -> None:
    rows = [row | {"did": DID | {key: 1}} if row.get("who") == "dma" else row for row in ROWS]
    context.virtual = (("--seconds=1",), ("--part=attacks",))
    asked = ("virtual", "--seconds=1", "--part=attacks")
    context.results.get(asked, lambda: [{"rows": rows}, 12.0])
    (plan,) = (one for one in all_plans() if one.id == chapter_id)
    found = run_one(plan, context)
    assert found.verdict == MISSED and "is 1, aim 0" in found.reason


@pytest.mark.parametrize(
    ("chapter_id", "guest", "verdict"),
    [("5.7.2", 0.95, MET), ("5.7.2", 0.9, MISSED), ("5.8.3", 1.0, MET), ("5.8.3", 0.98, MISSED)],
)
def test_a_guests_film_and_camera_stand_beside_native_ones(
    context: Context, chapter_id: str, guest: float, verdict: str
) -> None:
    what, rate = ("film", 25) if chapter_id == "5.7.2" else ("camera", 30)
    row = {
        "what": "shown",
        "piece": "--part=film",
        "who": what,
        "rate": 10,
        "sent": 50,
        "shown": 50,
        "shown_of_sent": guest,
    }
    context.virtual = (("--seconds=1",), ("--part=film",))
    native = {"what": what, "who": "gid-cluster", "rate": rate, "sent": 100}
    # One bad run natively does not make the guest look good.
    rows = {"rows": [native | {"shown_of_sent": share} for share in (1.0, 0.8)], "ratios": {}}
    (plan,) = (one for one in all_plans() if one.id == chapter_id)
    context.benchmark = lambda name, *words, **more: (  # type: ignore[method-assign]
        rows if name == "shown" else {"rows": [row]}
    )
    # run_one() makes a context of its own for each chapter.
    context.for_chapter = lambda: context  # type: ignore[method-assign]
    found = run_one(plan, context)
    assert (found.verdict, found.figures[-1].value) == (verdict, guest), found.reason
    assert [one.system for one in found.figures] == ["native", "guest", "guest", "both"]


def test_without_a_guest_its_chapters_say_so(context: Context) -> None:
    for one in all_plans():
        if getattr(one, "in_guest", ()):
            found = run_one(one, context)
            assert found.verdict == NOT_RUN and "none was wanted" in found.reason


# --- the three files ------------------------------------------------------------------------------


def test_files(tmp_path: Path) -> None:
    told = evaluation(chapter("5.1", MET, figure("a", 12.5)), chapter("5.2", NOT_RUN))
    names = [path.name for path in output.write(tmp_path / "new folder", told)]
    assert names == ["evaluation.html", "evaluation.json", "evaluation.csv"]
    folder = tmp_path / "new folder"
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    again = read(folder / "evaluation.json")
    assert again.machine == told.machine
    assert [one.figures for one in again.chapters] == [one.figures for one in told.chapters]
    rows = list(csv.DictReader((folder / "evaluation.csv").open()))
    assert [(row["chapter"], row["value"], row["unit"]) for row in rows] == [("5.1", "12.5", "ns")]


def test_the_page_says_what_it_is(tmp_path: Path) -> None:
    text = output.render(evaluation(chapter("5.1", MET, figure("<script>", 1), figure("b", 2))))
    assert "a &lt;b&gt;" in text and "&lt;script&gt;" in text and "<script>" not in text
    assert "A quick run." in text
    alone = chapter("5.2", MET, figure("x", 1), figure("y", 2), figure("the ratio", 1.5, ""))
    assert "the ratio" in output.render(evaluation(alone))
    assert "A quick run." not in output.render(evaluation(mode="full"))


GOOD = json.loads(evaluation(chapter("5.1", MET, figure("a", 1))).to_json())


def with_figure(**changed: object) -> str:
    good = GOOD["chapters"][0]
    return json.dumps(GOOD | {"chapters": [good | {"figures": [good["figures"][0] | changed]}]})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "nan",
        "[" * 100000,
        json.dumps(GOOD | {"chapters": 3}),
        json.dumps(GOOD | {"mode": 1}),
        json.dumps(GOOD | {"chapters": [{"id": "5.1"}]}),
        json.dumps(GOOD | {"chapters": [GOOD["chapters"][0] | {"verdict": "passed"}]}),
        json.dumps(GOOD | {"chapters": [GOOD["chapters"][0] | {"figures": [{}]}]}),
        with_figure(value="1"),
        with_figure(value=True),
        with_figure(value=None),
        with_figure(value=float("nan")),
        with_figure(value=10**400),
        with_figure(spread=[0, float("inf")]),
        with_figure(spread=[0, 1, 2]),
    ],
)
def test_a_file_that_is_no_evaluation_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "evaluation.json"
    path.write_text(text)
    with pytest.raises(BadResult, match="evaluation.json: not an evaluation: "):
        read(path)


def test_a_file_of_an_older_release_is_read(tmp_path: Path) -> None:
    """It has no goals, notes and lateness; one of a newer release has what nobody knows here."""
    known = ("id", "title", "method", "goal", "verdict", "reason", "figures")
    older = {key: GOOD["chapters"][0][key] for key in known} | {"new": [1]}
    (tmp_path / "evaluation.json").write_text(json.dumps(GOOD | {"chapters": [older], "new": 1}))
    (found,) = read(tmp_path).chapters
    assert found.figures == [figure("a", 1)] and found.notes == []


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An evaluation of this machine, of a chapter without a goal, which no machine can miss; and
    what was said of it."""
    out = tmp_path_factory.mktemp("measured")
    found = evaluate("--guest=none", "--chapters=5.14", "--out", out)
    assert found.returncode == 0, found.stderr
    return out / "evaluation.json", found.stdout


def test_a_chapter_from_the_command_line(measured: tuple[Path, str]) -> None:
    path, said = measured
    assert said.startswith("measured") and str(path.with_suffix(".html")) in said
    (told,) = read(path).chapters
    by_name = {one.name: one for one in told.figures}
    switch, late = by_name["two switches on one core"], by_name["timer, lateness"]
    assert switch.n == 5000 and 0 < switch.spread[0] <= switch.value <= switch.spread[1]
    assert late.spread[0] > 0
    assert "Not in a guest: none was wanted." in told.notes


@pytest.mark.parametrize("streams", ["2>&- >&- <&-", "2>/dev/full >/dev/full"])
def test_the_files_are_written_where_nobody_reads_what_it_says(
    tmp_path: Path, streams: str
) -> None:
    """Measurements of hours are not lost with the terminal that they were started from."""
    words = [*EVALUATE, "--chapters=5.18.2", "--guest=none", "--out", str(tmp_path)]
    subprocess.run(["sh", "-c", f'exec "$@" {streams}', "sh", *words], timeout=PATIENCE)
    assert [one.id for one in read(tmp_path).chapters] == ["5.18.2"]


def test_messages_really_cross(tmp_path: Path) -> None:
    """Whatever their times on a busy machine."""
    evaluate("--guest=none", "--chapters=5.1.5", "--out", tmp_path)
    (told,) = read(tmp_path / "evaluation.json").chapters
    assert told.verdict in (MET, MISSED), told.reason
    for end in ("there and back", "by a bare futex"):
        trips = [one for one in told.figures if one.name.endswith(end)]
        assert len(trips) == 5 and all(one.n == 1000 and one.value > 0 for one in trips)


def test_domains_are_joined_before_they_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where one of them is slow."""
    start = Daemon.start

    def start_slowly(daemon: Daemon) -> int:
        pid = start(daemon)
        if daemon.domain.name == "open":
            os.kill(pid, signal.SIGSTOP)
            threading.Timer(0.5, os.kill, (pid, signal.SIGCONT)).start()
        return pid

    monkeypatch.setattr(Daemon, "start", start_slowly)
    monkeypatch.setenv("PATH", ENVIRONMENT["PATH"])
    with alone().cockpit() as cockpit:
        said = cockpit.open.run(["gidctl", "--domain", "cluster", "--json", "status"], 60.0)
    links = json.loads(said)["links"]
    assert {(link["domain"], link["state"]) for link in links} == {("open", "up")}


def test_no_illegal_access_succeeds(tmp_path: Path) -> None:
    evaluate("--guest=none", "--chapters=5.21", "--out", tmp_path)
    (told,) = read(tmp_path / "evaluation.json").chapters
    assert told.verdict == MET, told.reason
    by_name = {one.name: one for one in told.figures}
    guessed = by_name["memory is got by a guessed gid"]
    assert (guessed.value, guessed.n) == (0, 2000)
    assert by_name["accesses that succeeded"].n == len(told.figures) - 1 >= 9


def test_a_plan_measures_nothing(tmp_path: Path) -> None:
    found = evaluate("--plan", "--out", tmp_path / "none")
    lines = found.stdout.splitlines()
    assert found.returncode == 0 and not (tmp_path / "none").exists()
    assert [line.split()[2] for line in lines[:-1]] == [plan.id for plan in all_plans()]
    quick = float(lines[-1].split()[0])
    assert 0 < quick <= 19
    full = evaluate("--plan", "--full", "--chapters=5.20").stdout.splitlines()
    assert float(full[-1].split()[0]) > 100


def test_an_installed_one_has_the_chapters_that_run_there_and_says_so(tmp_path: Path) -> None:
    lines = run(INSTALLED, "--plan", "--out", tmp_path).stdout.splitlines()
    ids = [plan.id for plan in chapters.all_plans()]
    assert [line.split()[2] for line in lines[:-1]] == ids
    rest = [plan.id for plan in all_plans() if plan.id not in ids]
    assert len(rest) > len(ids) > 10
    for words, status in ((["--help"], 0), ([f"--chapters={rest[0]}"], 2)):
        told = run(INSTALLED, *words)
        assert told.returncode == status
        assert "./run evaluate in" in " ".join((told.stdout + told.stderr).split())
    found = run(INSTALLED, "--guest=none", "--chapters=5.21", "--out", tmp_path)
    assert found.returncode == 0, found.stdout


def interrupted(way: Path, arguments: Sequence[object]) -> tuple[int, str]:
    """The status of one that is interrupted in chapter 5.14, in its guest, and what it said."""
    mark = way.with_name("mark")
    way.write_text(
        "#!/bin/sh\n"
        f"case $* in *calls*) [ -e {mark} ] || {{ echo $$ >{mark}; exec sleep 1000; }} ;; esac\n"
        'exec sh -c "$*"\n'
    )
    way.chmod(0o755)
    begun = subprocess.Popen(
        [*EVALUATE, *map(str, arguments)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: mark.exists() and mark.read_text(), "the chapter to begin")
    begun.send_signal(signal.SIGINT)
    out, said = begun.communicate(timeout=PATIENCE)
    assert out == "" and not is_alive(int(mark.read_text()))
    return begun.returncode, said


def test_one_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    out, way = tmp_path / "out", tmp_path / "way"
    output.write(out, evaluation(chapter("5.1", MET, figure("of an earlier one", 1))))
    arguments = (f"--guest={way}", "--chapters=5.1.5,5.14", "--out", out)
    status, said = interrupted(way, arguments)
    assert status == 130 and "interrupted" in said and "--continue" in said
    assert read(out).chapters[0].figures[0].name == "of an earlier one"
    (first,) = output.kept(out).chapters
    assert first.id == "5.1.5" and first.verdict != NOT_RUN

    left = evaluate(*arguments, "--plan", "--continue").stdout.splitlines()
    assert [line.split()[2] for line in left[:-1]] == ["5.14"]
    wrong = evaluate(*arguments, "--continue", "--full")
    assert wrong.returncode == 2 and "go on with --quick" in wrong.stderr

    for _ in range(2):  # the second one has nothing to do
        assert evaluate(*arguments, "--continue").returncode == (first.verdict == MISSED)
        found = read(out)
        assert [one.id for one in found.chapters] == ["5.1.5", "5.14"]
        assert {one.system for one in found.chapters[1].figures} == {"native", "guest"}
        assert found.chapters[0].figures == first.figures
        assert found.chapters[0].seconds == first.seconds
        assert not list(out.glob("*part*"))
    assert len(found.continued) == 2
    page = (out / "evaluation.html").read_text()
    assert "gone on with" in page and page.count("not measured") == 0


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("machine", {"processor": "another"}, "another machine"),
        ("guest", "kvm", "begun with guest kvm"),
        ("chapters", 1, "not an evaluation"),
        ("continued", [1], "not an evaluation"),
    ],
)
def test_only_one_like_it_goes_on(
    measured: tuple[Path, str], tmp_path: Path, key: str, value: object, words: str
) -> None:
    path = Path(shutil.copy(measured[0], tmp_path))
    text = json.dumps(json.loads(path.read_text()) | {key: value})
    path.write_text(text)
    found = evaluate("--guest=none", "--chapters=5.14", "--continue", "--out", tmp_path)
    assert found.returncode == 2 and words in found.stderr
    assert len(found.stderr.splitlines()) == 1 and path.read_text() == text


def test_nothing_goes_on_where_nothing_was_begun(tmp_path: Path) -> None:
    found = evaluate("--guest=none", "--chapters=5.14", "--continue", "--out", tmp_path / "none")
    assert found.returncode == 2 and "No such file" in found.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.at_length
def test_another_way_to_the_guest(tmp_path: Path) -> None:
    """The one of a test above has a single word."""
    found = evaluate("--guest=sh -c", "--chapters=5.14", "--out", tmp_path)
    assert found.returncode == 0, found.stderr
    (told,) = read(tmp_path / "evaluation.json").chapters
    assert {one.system for one in told.figures} == {"native", "guest"}


def test_a_way_that_leads_nowhere_is_said(tmp_path: Path) -> None:
    found = evaluate("--guest=false", "--chapters=5.14", "--out", tmp_path)
    assert found.returncode == 0, found.stderr
    (told,) = read(tmp_path / "evaluation.json").chapters
    assert {one.system for one in told.figures} == {"native"}
    assert any(note.startswith("Not in a guest") for note in told.notes)


def test_unknown_chapters_are_refused(tmp_path: Path) -> None:
    found = evaluate("--guest=none", "--chapters=9.9, 5.14,x", "--out", tmp_path / "out")
    assert found.returncode == 2 and "no such chapter: 9.9, x; there are: 5.1" in found.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_measured(
    tmp_path: Path,
) -> None:
    file = tmp_path / "file"
    file.touch()
    for folder in (file, file / "below", Path("/proc/none")):
        found = evaluate("--guest=none", "--chapters=5.14", "--out", folder)
        assert found.returncode == 2 and str(folder) in found.stderr
        assert "5.14" not in found.stderr and len(found.stderr.splitlines()) == 1


# --- systems of somebody else ---------------------------------------------------------------------

FIGURE = '{"name": "a", "value": 1, "unit": "ns", "n": 3, "spread": [0, 2]}'


def script(folder: Path, text: str) -> str:
    """A way to a system, as `ssh board` is one."""
    path = folder / "way"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_the_native_system_may_be_elsewhere(tmp_path: Path) -> None:
    found = evaluate("--native=sh -c", "--guest=none", "--chapters=5.14,5.21", "--out", tmp_path)
    assert found.returncode == 3, found.stderr
    assert "0 of 1 chapters with a goal are met, 0 missed, 1 not run; 1 without" in found.stdout
    calls, access = read(tmp_path).chapters
    assert calls.verdict == MEASURED and calls.figures[0].source.startswith("sh -c gid-probe")
    assert access.verdict == NOT_RUN and "on the machine where it is started" in access.reason


def test_a_system_without_our_programs_is_said_at_once(tmp_path: Path) -> None:
    bare = "env PATH=/usr/bin:/bin sh -c"
    found = evaluate(f"--native={bare}", "--guest=none", "--chapters=5.14", "--out", tmp_path)
    assert found.returncode == 2
    assert "native: there is no gid-probe in the search path there" in found.stderr
    assert not (tmp_path / "evaluation.json").exists()
    found = evaluate(f"--guest={bare}", "--chapters=5.14", "--out", tmp_path)
    assert found.returncode == 0
    assert "guest: there is no gid-probe" in found.stderr
    (told,) = read(tmp_path).chapters
    assert any("there is no gid-probe in the search path there" in note for note in told.notes)


@pytest.mark.parametrize("command", ["ssh 'board", " ", "/none/ssh board"])
def test_a_way_that_is_no_command_is_said(tmp_path: Path, command: str) -> None:
    found = evaluate(f"--native={command}", "--guest=none", "--chapters=5.14", "--out", tmp_path)
    assert found.returncode == 2 and "native" in found.stderr
    assert len(found.stderr.splitlines()) == 1
    if "none" not in command:
        with pytest.raises(BadCommand, match="native"):
            Native(command)


def test_a_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    way = Native(script(tmp_path, f"sleep 1000 & echo $! >{mark}; wait"))
    begin = time.monotonic()
    with pytest.raises(Broke, match="native: gid-probe calls took over 5 s"):
        way.probe(["calls"], 5)
    assert time.monotonic() - begin < 500
    wait_for(lambda: not is_alive(int(mark.read_text())), "what it started to end")


def test_a_command_that_leaves_others_with_its_output_is_not_waited_for(tmp_path: Path) -> None:
    way = Native(script(tmp_path, f"sleep 1000 & echo '{{\"figures\": [{FIGURE}]}}'"))
    begin = time.monotonic()
    assert len(way.probe(["calls"], 1000)) == 1
    assert time.monotonic() - begin < 500


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("echo no figures", "printed no figures: 'no figures"),
        ("true", "printed no figures: ''"),
        ("yes", "does not end printing"),
        ("head -c 100000 /dev/urandom", "printed no figures"),
        ("echo '{\"figures\": [1]}'", "printed no figures"),
        ('echo \'{"figures": {"a": 1}}\'', "printed no figures"),
        (f"echo '{{\"figures\": [{FIGURE.replace('2]', '2, 3]')}]}}'", "printed no figures"),
        (f"echo '{{\"figures\": [{FIGURE.replace('1,', 'NaN,', 1)}]}}'", "printed no figures"),
        ("echo gone >&2; exit 255", "gid-probe calls: gone"),
        ("exit 3", "gid-probe calls: status 3"),
    ],
)
def test_a_command_that_prints_rubbish_is_said(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(Broke) as told:
        Native(script(tmp_path, text), "guest").probe(["calls"], 30)
    assert str(told.value).startswith("guest: ") and words in str(told.value)


def test_what_a_login_says_is_left_out(tmp_path: Path) -> None:
    text = f"echo Welcome to the board; echo '{{\"figures\": [{FIGURE}]}}'; echo bye"
    assert Native(script(tmp_path, text)).probe(["calls"])[0]["value"] == 1


# --- the page in a browser ------------------------------------------------------------------------


@pytest.mark.parametrize(("view", "width", "dark"), VIEWS)
def test_page(browser: Browser, tmp_path: Path, view: str, width: int, dark: bool) -> None:
    figures = [figure(f"a figure with a rather long name {i}", 10**i) for i in range(6)]
    chapters = [
        chapter(f"5.{i}", verdict, *figures) for i, verdict in enumerate((MET, MISSED, NOT_RUN))
    ]
    output.write(tmp_path, evaluation(*chapters))
    browser.open(tmp_path / "evaluation.html", width, dark)
    assert browser.errors() == []
    assert browser.overflow() <= 0
    assert browser.violations() == []


def test_pdf(browser: Browser, tmp_path: Path) -> None:
    """On paper: A4, light even where the screen is dark, and all of a wide table."""
    figures = [figure(f"a figure with a rather long name {i}", 10 ** (i % 6)) for i in range(60)]
    output.write(tmp_path, evaluation(chapter("5.1", MET, *figures), chapter("5.2", MISSED)))
    browser.open(tmp_path / "evaluation.html", 1400, True)
    browser.print_pdf(tmp_path / "evaluation.pdf")
    pdf = (tmp_path / "evaluation.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert 2 <= len(re.findall(rb"/Type /Page\b", pdf)) <= 4
    sides = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert [round(float(side)) for side in sides.groups()] == pytest.approx([595, 842], abs=2)
    # As wide as the paper between its margins, at 96 pixels an inch.
    browser.open(tmp_path / "evaluation.html", 688, True)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.overflow() <= 0
    style = "return getComputedStyle(document.body).backgroundColor"
    assert browser.run(style) == "rgb(255, 255, 255)"
    browser.shoot(tmp_path / "print.png")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
