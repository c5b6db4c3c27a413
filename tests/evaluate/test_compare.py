# SPDX-License-Identifier: MIT
"""gid-evaluate compare: a slowdown of a tenth is found, and noise is not."""

from pathlib import Path

import pytest
from evaluations import alone, chapter, evaluate, evaluation, figure
from gid_evaluate import compare, output
from gid_evaluate.chapters import beside
from gid_evaluate.result import MEASURED, MET, MISSED, NOT_RUN, Figure
from gid_evaluate.run import run_one

from lab.evaluate.chapters import all_plans


def worse(
    before: tuple[float, float, float], after: tuple[float, float, float], n: int = 10
) -> bool:
    """Of a median with the least and the most of n samples."""
    first, second = (
        evaluation(chapter("5.1", MET, Figure("a", value, "ns", n, (least, most), "x")))
        for value, least, most in (before, after)
    )
    (change,) = compare.changes(first, second)
    return change.is_worse


def test_worse_is_found_and_noise_is_not() -> None:
    first = evaluation(
        chapter("5.1", MET, figure("a", 10), figure("b", 10), figure("r", 9, "MB/s"))
    )
    noisy = figure("b", 12, margin=0.6)
    second = evaluation(chapter("5.1", MET, figure("a", 12), noisy, figure("r", 5, "MB/s")))
    found = {change.name for change in compare.changes(first, second) if change.is_worse}
    assert found == {"a", "r"}
    assert not any(change.is_worse for change in compare.changes(second, first))


@pytest.mark.parametrize("unit", ["MB/s", "Hz", "fps", "share", "million rounds/s", "tries", "h"])
def test_of_some_units_more_is_better(unit: str) -> None:
    much, little = (
        evaluation(chapter("5.1", MET, figure("a", value, unit))) for value in (10.0, 5.0)
    )
    assert [change.is_worse for change in compare.changes(much, little)] == [True]
    assert [change.is_worse for change in compare.changes(little, much)] == [False]


@pytest.mark.parametrize(("unit", "ratio"), [("MB/s", "share"), ("ns", "")])
def test_of_a_ratio_more_is_better_where_it_is_of_its_figures(unit: str, ratio: str) -> None:
    native, guest = (
        Figure("a", value, unit, 9, (value, value), "x", system)
        for value, system in ((10, "native"), (9, "guest"))
    )
    (found,) = beside.ratios([native, guest])
    assert (found.value, found.unit) == (0.9, ratio)


def test_what_is_copied_more_is_worse() -> None:
    rows = [{"who": "gid", "copies_per_frame": 0, "mb_s": 442, "frames": 60}]
    of = alone()
    of.benchmark = lambda *_, **more: {  # type: ignore[method-assign]
        "rows": rows,
        "ratios": {"gid_bandwidth_vs_best_peer": 1.0},
    }
    of.for_chapter = lambda: of  # type: ignore[method-assign]
    (bandwidth,) = (plan for plan in all_plans() if plan.id == "5.2")
    before = evaluation(run_one(bandwidth, of))
    rows[0]["mb_s"] = 884
    after = evaluation(run_one(bandwidth, of))
    name = "gid, to another process: moved"
    assert [one.name for one in compare.changes(before, after) if one.is_worse] == [name]
    assert not [one.name for one in compare.changes(after, before) if one.is_worse]


@pytest.mark.parametrize("n", [1, 5, 15, 100, 10000])
def test_a_tenth_is_found(n: int) -> None:
    margin = 0 if n == 1 else 0.03
    before, after = ((value, value * (1 - margin), value * (1 + margin)) for value in (10.0, 11.0))
    assert worse(before, after, n)
    assert not worse(after, before, n)


def test_a_tenth_is_found_though_the_spreads_overlap() -> None:
    assert worse((10, 9.2, 11.5), (11, 10.1, 12.6), 15)
    assert worse((10, 2, 100), (11, 2, 100), 10000)  # of many samples a few are always late


def test_what_may_be_chance_is_noise() -> None:
    assert not worse((10, 0, 10), (12, 11, 22))
    assert not worse((10, 8, 14), (11, 8, 15), 5)
    assert not worse(
        (10, 9.8, 10.2), (10.5, 10.3, 10.7)
    )  # less than what machines do by themselves


def test_of_many_figures_a_few_seem_worse_by_chance() -> None:
    """So each has to be surer where there are more of them."""
    before, after = (
        Figure("a", 10, "ns", 5, (9, 11), "x"),
        Figure("a", 11.7, "ns", 5, (10.7, 12.7), "x"),
    )
    pairs = [([before], [after])]
    more = [figure(f"f{i}", 1) for i in range(3000)]
    pairs.append(([before, *more], [after, *more]))
    found = [
        any(
            change.is_worse
            for change in compare.changes(
                evaluation(chapter("5.1", MET, *first)), evaluation(chapter("5.1", MET, *second))
            )
        )
        for first, second in pairs
    ]
    assert found == [True, False]


def test_lost_verdicts() -> None:
    first = evaluation(chapter("5.1", MET), chapter("5.2", MISSED), chapter("5.3", MEASURED))
    second = evaluation(chapter("5.1", MISSED), chapter("5.2", MISSED), chapter("5.3", MISSED))
    found = ["5.1 Title: missed", "5.3 Title: missed"]
    assert compare.lost_verdicts(first, second) == found
    assert compare.lost_verdicts(first, first) == []
    gone = evaluation(chapter("5.1", NOT_RUN))
    assert compare.lost_verdicts(first, gone) == ["5.1 Title: not run"]


def test_compare_from_the_command_line(tmp_path: Path) -> None:
    for name, value in (("a", 10), ("b", 20)):
        output.write(tmp_path / name, evaluation(chapter("5.1", MET, figure("x", value))))
    files = [tmp_path / name / "evaluation.json" for name in ("a", "b")]
    found = evaluate("compare", *files)
    assert found.returncode == 1 and "x: 10 → 20 ns (2.00 times)" in found.stdout
    found = evaluate("compare", files[0], files[0])
    assert (found.returncode, found.stdout) == (0, "Nothing became worse.\n")
    found = evaluate("compare", tmp_path / "a", tmp_path / "b")
    assert found.returncode == 1
    found = evaluate("compare", files[0], tmp_path / "none.json")
    assert found.returncode == 2 and "none.json: No such file" in found.stderr
    output.write(tmp_path / "c", evaluation(chapter("5.2", MET, figure("y", 1))))
    found = evaluate("compare", files[0], tmp_path / "c")
    assert found.returncode == 2 and "no figure in common" in found.stderr
    both = evaluation(chapter("5.1", MET, figure("x", 10), figure("y", 1)))
    output.write(tmp_path / "d", both)
    found = evaluate("compare", tmp_path / "d", files[0])
    assert found.returncode == 0 and "evaluation.json: 1\n" in found.stderr
