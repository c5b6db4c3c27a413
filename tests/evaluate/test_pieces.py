# SPDX-License-Identifier: MIT
"""An evaluation in pieces: what one has measured is not measured again, unless it is asked for."""

import functools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from evaluations import MACHINE, alone, chapter, evaluation, figure, plan
from gid_evaluate import cli, output
from gid_evaluate.outcome import Broke, NotRun
from gid_evaluate.plan import Shared
from gid_evaluate.result import MET, MISSED, NOT_RUN, BadResult, Chapter, read
from gid_evaluate.results import Results
from gid_evaluate.run import run_one
from lib.program import TOP

from lab.evaluate.chapters import all_plans
from lab.evaluate.context import Context
from lab.evaluate.evaluate import Source
from lab.evaluate.table import renewed

KEY = ("isolation", "--case=flood")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


# --- what is kept ---------------------------------------------------------------------------------


def kept(out: Path, version: str = "1", *, is_anew: bool = False) -> Results:
    out.mkdir(exist_ok=True)
    return Results(out, version, is_anew)


def fails(error: Exception) -> Callable[[], object]:
    def measure() -> object:
        raise error

    return measure


def never() -> object:
    raise AssertionError("it was measured again")


def test_what_was_measured_is_there_the_next_time(out: Path) -> None:
    first = kept(out).get(KEY, lambda: {"rows": [1.5]})
    assert first[0] == {"rows": [1.5]} and first[1].startswith("20")
    assert kept(out).get(KEY, never) == first
    assert kept(out).all_of("isolation") == [(KEY, first[0])]
    assert kept(out).all_of("load") == []
    assert Results().get(KEY, lambda: 2)[0] == 2  # which keeps nothing


def test_another_gidway_measures_for_itself(out: Path) -> None:
    kept(out).get(KEY, lambda: 1)
    assert kept(out, "2").all_of("isolation") == []
    assert kept(out, "2").get(KEY, lambda: 2)[0] == 2


def test_what_broke_is_not_tried_again_and_what_was_wanting_is(out: Path) -> None:
    for error in (Broke("it crashed"), NotRun("no glmark2"), KeyError("row")):
        with pytest.raises(type(error)):
            kept(out).get((str(error),), fails(error))
    with pytest.raises(Broke, match="it crashed"):
        kept(out).get((str(Broke("it crashed")),), never)
    assert kept(out).get(("no glmark2",), lambda: 1)[0] == 1
    assert kept(out).get((str(KeyError("row")),), lambda: 1)[0] == 1
    assert kept(out, is_anew=True).get(("it crashed",), lambda: 2)[0] == 2
    assert kept(out).get(("it crashed",), never)[0] == 2


@pytest.mark.parametrize("text", ["", "[]", "[" * 100000, "nan", "{}", '{"key": ["isolation"]}'])
def test_a_file_that_is_damaged_is_measured_again(out: Path, text: str) -> None:
    kept(out).get(KEY, lambda: 1)
    (file,) = out.glob("*.json")
    file.write_text(text)
    assert kept(out).all_of("isolation") == []
    assert kept(out).get(KEY, lambda: 2)[0] == 2
    assert kept(out).get(KEY, never)[0] == 2


# --- the command ----------------------------------------------------------------------------------

COUNTED = """\
import os, pathlib
with pathlib.Path(__file__).with_suffix(".runs").open("a") as file:
    file.write(os.environ["GID_TEST_BENCH"] + "\\n")
"""


class Evaluate(Protocol):
    def __call__(self, way: str, *words: str, version: str = ...) -> int: ...

    def runs(self) -> list[str]: ...


@pytest.fixture
def evaluate(tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """Runs chapters with a benchmark that behaves so. `evaluate.runs`: how often it ran."""
    bench = tmp_path / "bench"
    bench.mkdir()
    fake = (TOP / "tests/evaluate/fake_bench.py").read_text()
    (bench / "isolation.py").write_text(COUNTED + fake)

    def run(way: str, *words: str, version: str = "0.2.0~git1.abc") -> int:
        monkeypatch.setenv("GID_TEST_BENCH", way)
        site = Source()
        site.context = functools.partial(Context, bench=bench)
        machine = MACHINE | {"gstreamer": "1.26"}
        words = ("--guest=none", f"--out={out}", *words)
        return cli.main(words, site=site, version=version, describe=lambda: machine)

    run.runs = lambda: (bench / "isolation.runs").read_text().splitlines()  # type: ignore[attr-defined]
    return run


def found(out: Path) -> dict[str, Chapter]:
    return {one.id: one for one in read(out).chapters}


def test_chapters_of_one_run_are_measured_by_it_in_several_pieces(
    evaluate: Evaluate, out: Path
) -> None:
    assert evaluate("good", "--chapters=5.16.2") == 0
    assert evaluate("one slow run", "--chapters=5.18.1", "--continue") == 0
    assert evaluate.runs() == ["good"]
    chapters = found(out)
    assert list(chapters) == ["5.16.2", "5.18.1"]
    assert chapters["5.18.1"].measured == chapters["5.16.2"].measured
    assert {one.version for one in chapters.values()} == {"0.2.0~git1.abc"}
    page = (out / "evaluation.html").read_text()
    assert page.count("gidway 0.2.0~git1.abc") == 2


def test_what_is_asked_for_again_is_measured_again_and_the_rest_stays(
    evaluate: Evaluate, out: Path
) -> None:
    assert evaluate("good", "--chapters=5.16.2,5.18.1") == 0
    assert evaluate("one slow run", "--chapters=5.18.1", "--again") == 1
    chapters = found(out)
    assert [one.verdict for one in chapters.values()] == [MET, MISSED]
    assert evaluate.runs() == ["good", "one slow run"]
    assert evaluate("good", "--continue", "--chapters=5.16.2,5.18.1") == 1  # nothing is left to do
    assert len(evaluate.runs()) == 2


def test_what_broke_in_one_piece_broke_for_the_others(evaluate: Evaluate, out: Path) -> None:
    assert evaluate("crashes", "--chapters=5.16.2") == 1
    assert evaluate("good", "--chapters=5.18.1", "--continue") == 1
    assert {one.verdict for one in found(out).values()} == {MISSED}
    assert evaluate.runs() == ["crashes"]
    assert evaluate("good", "--chapters=5.16.2,5.18.1", "--again") == 0


def test_a_new_one_begins_with_nothing(evaluate: Evaluate, out: Path) -> None:
    evaluate("good", "--chapters=5.16.2")
    evaluate("good", "--chapters=5.16.2")
    assert len(evaluate.runs()) == 2


def test_another_version_goes_on_with_its_own_figures(evaluate: Evaluate, out: Path) -> None:
    evaluate("good", "--chapters=5.16.2")
    evaluate("good", "--chapters=5.18.1", "--continue", version="0.2.0~git2.def")
    assert len(evaluate.runs()) == 2
    assert [one.version for one in found(out).values()] == ["0.2.0~git1.abc", "0.2.0~git2.def"]


def changed(out: Path, name: str, value: float | None) -> None:
    """The kept evaluation, whose figure of this name has that value; None: has no such figure."""
    whole = read(out)
    for one in whole.chapters:
        others = [each for each in one.figures if each.name != name]
        one.figures = [*others, *([figure(name, value)] if value is not None else [])]
    output.write(out, whole)


RATE = "lowest rate of all runs"


def test_what_goes_on_is_judged_by_todays_goals(evaluate: Evaluate, out: Path) -> None:
    """Not by those of the release that measured it."""
    assert evaluate("good", "--chapters=5.16.2") == 0
    changed(out, RATE, 0.9)
    assert evaluate("good", "--chapters=5.16.2,5.18.1", "--continue") == 1
    chapters = found(out)
    assert [one.verdict for one in chapters.values()] == [MISSED, MET]
    assert f"{RATE} is 0.9, aim 0.99" in chapters["5.16.2"].reason


def test_what_was_measured_in_another_form_is_measured_again(evaluate: Evaluate, out: Path) -> None:
    assert evaluate("good", "--chapters=5.16.2") == 0
    changed(out, RATE, None)
    assert evaluate("good", "--chapters=5.16.2", "--continue") == 0
    assert RATE in {one.name for one in found(out)["5.16.2"].figures}


def test_continue_and_again_are_one_or_the_other(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("good", "--continue", "--again") == 2
    assert "not allowed with" in capsys.readouterr().err


def test_a_shared_run_counts_once_and_for_whoever_is_first(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    def minutes(*words: str) -> dict[str, str]:
        capsys.readouterr()
        evaluate("good", "--full", "--plan", *words)
        return {line.split()[2]: line for line in capsys.readouterr().out.splitlines()[:-1]}

    both = minutes("--chapters=5.16.2,5.18.1")
    alone = minutes("--chapters=5.18.1")["5.18.1"]
    assert both["5.18.1"].split()[0] == "0.0" and "(with 5.16.2)" in both["5.18.1"]
    assert both["5.16.2"].split()[0] == alone.split()[0] != "0.0"
    names = [run.name for one in all_plans() for run in one.shares]
    assert len(set(names)) < len(names)
    runs = {run for one in all_plans() for run in one.shares}
    assert len({run.name for run in runs}) == len(runs)  # each has its minutes once
    assert isinstance(next(iter(runs)), Shared)


# --- a guest --------------------------------------------------------------------------------------

VIRTUAL = """\
import json, pathlib, sys
path = pathlib.Path(next(word for word in sys.argv if word.startswith("--json="))[7:])
pieces = [word for word in sys.argv if word.startswith(("--part=", "--run="))]
with pathlib.Path(__file__).with_suffix(".runs").open("a") as file:
    file.write(" ".join(pieces) + "\\n")
rows = [{"what": "run", "piece": one, "out": one} for one in pieces if "bad" not in one]
rows += [{"what": "failed", "piece": one, "why": "it hung"} for one in pieces if "bad" in one]
path.write_text(json.dumps({"rows": rows, "ratios": {}}))
"""


def guest(tmp_path: Path, results: Results, *pieces: str) -> Context:
    bench = tmp_path / "bench"
    bench.mkdir(exist_ok=True)
    (bench / "virtual.py").write_text(VIRTUAL)
    made = alone(bench)
    made.results, made.virtual = results, (("--seconds=6",), pieces)
    return made


def test_a_piece_of_a_guests_run_is_measured_once(tmp_path: Path, out: Path) -> None:
    first = guest(tmp_path, kept(out), "--part=load", "--run=a b")
    assert first.in_guest("--part=load")[0]["out"] == "--part=load"
    assert first.in_guest("--run=a b")[0]["out"] == "--run=a b"
    later = guest(tmp_path, kept(out), "--run=a b", "--part=film", "--part=load")
    for piece in ("--part=load", "--part=film", "--run=a b"):
        assert [row["out"] for row in later.in_guest(piece)] == [piece]
    runs = (tmp_path / "bench/virtual.runs").read_text().splitlines()
    assert runs == ["--part=load --run=a b", "--part=film"]


def test_a_piece_that_fails_costs_the_others_nothing(tmp_path: Path, out: Path) -> None:
    of = guest(tmp_path, kept(out), "--part=load", "--run=bad")
    with pytest.raises(Broke, match="guest: it hung"):
        of.in_guest("--run=bad")
    assert of.in_guest("--part=load")
    with pytest.raises(NotRun, match="was not run there"):
        of.in_guest("--part=film")


@pytest.mark.parametrize("newest", [0, 1])
def test_of_a_piece_that_was_measured_again_the_newest_counts(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch, newest: int
) -> None:
    """For all chapters that it is a piece of."""
    alone = ("virtual", "--seconds=6", "--part=load")
    for number, key in enumerate((alone, (*alone, "--run=a"))):
        when = f"2026-01-0{1 + (number == newest)}"
        monkeypatch.setattr("gid_evaluate.results.now", lambda when=when: when)
        rows = [{"what": "run", "piece": "--part=load", "out": number}]
        kept(out).get(key, lambda rows=rows: [{"rows": rows, "ratios": {}}, 1.0])
    of = guest(tmp_path, kept(out), "--part=load")
    assert of.in_guest("--part=load")[0]["out"] == newest


# --- hours that add up ----------------------------------------------------------------------------

SOAK = """\
import json, pathlib, sys
from lab.soak import parts
words = dict(word[2:].partition("=")[::2] for word in sys.argv if word.startswith("--"))
sample = {{"hours": 2.0, "rate_hz": 60.0, "programs": {{"gidd": {{"memory": 1024}}}}}}
pathlib.Path(words["out"], "soak.json").write_text(json.dumps([sample]))
part = parts.Part("{name}", "board", "2026", 2.0, "{state}", "told", {grows})
parts.add(pathlib.Path(words["parts"]), part)
print("told")
sys.exit({status})
"""


def soak(
    tmp_path: Path, out: Path, name: str, state: str = "ended", grows: bool = False
) -> Chapter:
    (tmp_path / "bench").mkdir(exist_ok=True)
    (tmp_path / "lab/soak").mkdir(parents=True, exist_ok=True)
    status = 3 if state == "broke" else int(grows)
    text = SOAK.format(name=name, state=state, grows=grows, status=status)
    (tmp_path / "lab/soak/soak.py").write_text(text)
    context = alone(tmp_path / "bench", is_full=True)
    context.results = kept(out)
    (plan,) = (one for one in all_plans() if one.id == "5.20")
    return run_one(plan, context)


def test_hours_of_a_soak_add_up(tmp_path: Path, out: Path) -> None:
    hours = "hours without a break, of 48"
    assert soak(tmp_path, out, "one").verdict == MET
    second = soak(tmp_path, out, "two")
    assert {one.name: one.value for one in second.figures}[hours] == 4
    assert any("4.00 of 48 hours, in 2 parts" in note for note in second.notes)
    third = soak(tmp_path, out, "three", "broke")
    assert third.verdict == MISSED and "status 3" in third.reason
    fourth = soak(tmp_path, out, "four")
    assert fourth.verdict == MISSED and "parts that broke off is 1, aim 0" in fourth.reason
    assert {one.name: one.value for one in fourth.figures}[hours] == 2


def test_what_grew_in_one_part_is_not_forgiven(tmp_path: Path, out: Path) -> None:
    assert soak(tmp_path, out, "one", grows=True).verdict == MISSED
    assert soak(tmp_path, out, "two").verdict == MISSED


# --- the file of documents ------------------------------------------------------------------------


def dated(name: str, when: str, value: float, verdict: str = MET) -> Chapter:
    made = chapter(name, verdict, figure("a", value))
    made.measured, made.version = when, f"0.2.0~git1.{when}"
    return made


def test_documents_take_what_is_new_and_keep_the_rest() -> None:
    before = evaluation(dated("5.16.2", "2026", 1), dated("5.20", "2026", 2), mode="full")
    after = evaluation(dated("5.20", "2027", 3), dated("5.21", "2027", 4), mode="full")
    after.chapters.append(dated("5.1.1", "2027", 5, NOT_RUN))
    after.machine = after.machine | {"processor": "new"}
    taken = renewed(before, after)
    assert [(one.id, one.measured) for one in taken.chapters] == [
        *(("5.16.2", "2026"), ("5.20", "2027"), ("5.21", "2027")),
    ]
    assert [bool(one.machine) for one in taken.chapters] == [True, False, False]
    assert "a <b>, 2 cores" in taken.chapters[0].machine
    assert "another machine: a &lt;b&gt;" in output.render(taken)
    again = renewed(taken, evaluation(dated("5.16.2", "2028", 6), mode="full"))
    assert [one.measured for one in again.chapters] == ["2028", "2027", "2027"]


def test_documents_take_nothing_that_is_unlike() -> None:
    before = evaluation(dated("5.20", "2026", 2), mode="full")
    with pytest.raises(BadResult, match="quick"):
        renewed(before, evaluation(dated("5.20", "2027", 2)))
    with pytest.raises(BadResult, match="when these were measured: 5.20"):
        renewed(before, evaluation(chapter("5.20", MET, figure("a", 1)), mode="full"))


def test_a_file_says_when_where_and_of_what(tmp_path: Path) -> None:
    one = dated("5.20", "2026-11-23", 1)
    one.machine = "a board"
    output.write(tmp_path, evaluation(one))
    (again,) = read(tmp_path).chapters
    assert (again.measured, again.version, again.machine) == (one.measured, one.version, "a board")
    assert "Measured 23 November 2026, gidway" in (tmp_path / "evaluation.html").read_text()
    text = json.loads((tmp_path / "evaluation.json").read_text())
    text["chapters"][0]["version"] = 3
    (tmp_path / "evaluation.json").write_text(json.dumps(text))
    with pytest.raises(BadResult, match="“version” is a text"):
        read(tmp_path)


def test_a_chapter_says_when_it_was_measured() -> None:
    found = run_one(plan(lambda context: [figure("a", 1)]), alone())
    assert found.measured.startswith("20")


def test_what_is_kept_is_not_of_the_report(evaluate: Evaluate, out: Path) -> None:
    """Whoever copies the three files has all of it."""
    evaluate("good", "--chapters=5.16.2")
    shutil.rmtree(out / "results")
    assert evaluate("good", "--chapters=5.16.2", "--continue") == 0
    assert len(evaluate.runs()) == 1
