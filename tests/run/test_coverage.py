# SPDX-License-Identifier: MIT
"""What `./run coverage` counts, by gcc and gcov themselves."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from covering.gaps import BadGaps, Gap, Reasons, functions_in, read_gaps, stale
from covering.gcov import Missing, Source, ask, joined
from lib.program import TOP

CHOICE = """\
#include <stdlib.h>
int main(int count, char **words)
{
	int a = atoi(words[1]), b = atoi(words[2]);
	if (a && b)
		return 0;
	if (a > 7)
		return 3;
	return 0;
}
"""
FLAGS = ("--coverage", "-fcondition-coverage", "-O0")


def counted(folder: Path, *runs: tuple[str, str], source: str = CHOICE) -> Source:
    """What runs of a program reach; the same object also lies there without a run."""
    (folder / "choice.c").write_text(source)
    for name in ("one", "two"):
        subprocess.run(["gcc", *FLAGS, "-c", "choice.c", "-o", f"{name}.o"], cwd=folder, check=True)
    subprocess.run(["gcc", *FLAGS, "one.o", "-o", "choice"], cwd=folder, check=True)
    for words in runs:
        subprocess.run([folder / "choice", *words], cwd=folder)
    notes = [folder / "one.gcno", folder / "two.gcno"]
    found = joined(ask(folder, notes), lambda path: path if path == "choice.c" else "")
    assert list(found) == ["choice.c"]
    return found["choice.c"]


counts_conditions = pytest.mark.skipif(
    subprocess.run(["gcc", "-fcondition-coverage", "-E", "-x", "c", "/dev/null"]).returncode != 0,
    reason="gcc before 14 does not count conditions",
)


@counts_conditions
@pytest.mark.parametrize(
    ("runs", "decided", "missing"),
    [
        (
            (("1", "1"), ("1", "0"), ("0", "1"), ("8", "0")),
            6,
            [],
        ),
        (
            (("1", "1"), ("1", "0")),
            4,
            [
                Missing(5, "condition 1 never decides by being false"),
                Missing(7, "condition 1 never decides by being true"),
                Missing(8, "not run"),
            ],
        ),
        ((), 0, [Missing(line, "not run") for line in (2, 4, 5, 6, 7, 8, 9)]),
    ],
)
def test_what_runs_reach(
    tmp_path: Path,
    runs: tuple[tuple[str, str], ...],
    decided: int,
    missing: list[Missing],
) -> None:
    source = counted(tmp_path, *runs)
    assert source.missing == missing
    assert (source.outcomes, source.decided) == (6, decided)
    unreached = sum(one.what == "not run" for one in missing)
    assert source.reached == len(source.lines) - unreached


def test_what_several_objects_reach_is_reached() -> None:
    def line(count: int, by_true: list[int], by_false: list[int]) -> dict:
        condition = {
            "count": 4,
            "covered": 4 - len(by_true) - len(by_false),
            "not_covered_true": by_true,
            "not_covered_false": by_false,
        }
        return {"line_number": 3, "count": count, "conditions": [condition]}

    source = Source()
    source.add(line(0, [0, 1], [0, 1]))
    assert source.missing == [Missing(3, "not run")]
    source.add(line(2, [1], [0]))
    source.add(line(5, [0, 1], [0]))
    assert (source.reached, source.outcomes, source.decided) == (1, 4, 2)
    assert source.missing == [
        Missing(3, "condition 1 never decides by being false"),
        Missing(3, "condition 2 never decides by being true"),
    ]


# --- reasons ---


def a_gap(*lines: str, functions: tuple[str, ...] = ()) -> Gap:
    return Gap("x.toml, gap 1", "choice.c", "why", lines, functions)


TWICE = """\
__attribute__((noinline)) static int first(int a)
{
	return a;
}

static int second(
		int a, const char *b)
{
	struct x {
		int y;
	} x = {a};
	return a;
}
"""


def test_functions_are_found_in_their_text() -> None:
    found = functions_in(TWICE.replace(")\n{", ") {"))
    assert list(found) == ["first", "second"]
    assert found["first"][1:] == ["return a;", "}"] and found["second"][-2:] == ["return a;", "}"]


@counts_conditions
def test_what_is_missing_has_the_reason_of_its_line(tmp_path: Path) -> None:
    source = counted(tmp_path, ("1", "1"), ("1", "0"))
    gap = a_gap("if (a > 7)", "return 3;", functions=("main",))
    reasons = Reasons(source, CHOICE.split("\n"), [gap])
    assert [(one.line, reasons.of(one)) for one in source.missing] == [
        (5, None),
        (7, gap),
        (8, gap),
    ]
    assert list(reasons.refused("choice.c")) == []


@counts_conditions
def test_one_reason_for_lines_of_some_functions(tmp_path: Path) -> None:
    """Each line is meant in those that have it."""
    text = TWO + "int main(void) {\n\treturn 0;\n}\n"
    source = counted(tmp_path, source=text)
    gap = a_gap("return a;", "return b;", functions=("first", "second"))
    reasons = Reasons(source, text.split("\n"), [gap])
    assert [one.line for one in source.missing if reasons.of(one)] == [2, 7, 8]
    assert list(reasons.refused("choice.c")) == []


@counts_conditions
def test_a_reason_for_what_is_reached_is_refused(tmp_path: Path) -> None:
    source = counted(tmp_path, ("1", "1"), ("1", "0"))
    reasons = Reasons(source, CHOICE.split("\n"), [a_gap("return 0;"), a_gap(functions=("main",))])
    assert list(reasons.refused("choice.c")) == [
        "x.toml, gap 1: choice.c: it is reached: return 0;",
        "x.toml, gap 1: choice.c: main() is reached, at least in part",
    ]


@counts_conditions
def test_a_reason_for_what_is_tried_in_part_may_be_reached(tmp_path: Path) -> None:
    """Another part with each build of a program, or by the time that something takes."""
    source = counted(tmp_path, ("1", "1"), ("1", "0"))
    line, whole = a_gap("return 0;"), a_gap(functions=("main",))
    gaps = [
        replace(line, tests=("tests/faults/test_gid_cluster.py",)),
        replace(whole, sometimes=True),
    ]
    assert list(Reasons(source, CHOICE.split("\n"), gaps).refused("choice.c")) == []


@counts_conditions
def test_a_function_that_never_runs_has_one_reason(tmp_path: Path) -> None:
    source = counted(tmp_path)
    gap, nearer = a_gap(functions=("main",)), a_gap("return 3;")
    reasons = Reasons(source, CHOICE.split("\n"), [gap, nearer])
    assert {one.line: reasons.of(one) for one in source.missing} == {
        line: nearer if line == 8 else gap for line in (2, 4, 5, 6, 7, 8, 9)
    }
    assert list(reasons.refused("choice.c")) == []


TWO = """\
int first(int a) {
	return a;
}

int second(int a, int b) {
	if (a)
		return a;
	return b;
}
"""


def test_lines_and_functions_of_one_reason_belong_to_each_other(tmp_path: Path) -> None:
    (tmp_path / "choice.c").write_text(TWO)
    text = HEAD + 'functions = ["first", "second"]\nlines = ["return a;", "return b;"]\nwhy = "w"\n'
    assert list(stale(written(tmp_path, text), tmp_path)) == []
    text += HEAD + 'functions = ["first", "second"]\nlines = ["if (a)", "return c;"]\nwhy = "w"\n'
    text += HEAD + 'functions = ["second"]\nlines = ["return b;"]\nwhy = "w"\n'
    assert list(stale(written(tmp_path / "more", text), tmp_path)) == [
        "one.toml, gap 2: choice.c has no line: return c;",
        "one.toml, gap 2: choice.c: first() has none of these lines",
        "one.toml, gap 3: choice.c: one.toml, gap 1 is for this, too: return b;",
    ]


HEAD = '[[gap]]\nfile = "choice.c"\n'


def written(folder: Path, text: str) -> list[Gap]:
    gaps = folder / "gaps"
    gaps.mkdir(parents=True)
    (gaps / "one.toml").write_text(text)
    return read_gaps(gaps)


def test_reasons_for_what_the_files_do_not_have_are_errors(tmp_path: Path) -> None:
    (tmp_path / "choice.c").write_text(CHOICE.replace(")\n{", ") {"))
    text = HEAD + 'lines = ["return 3;", "return 4;"]\nwhy = "w"\ntests = ["tests/none.py"]\n'
    text += HEAD + 'functions = ["main", "atoi"]\nwhy = "w"\n'
    text += HEAD + 'lines = ["return 3;"]\nwhy = "another"\n'
    text += '[[gap]]\nfile = "gone.c"\nfunctions = ["main"]\nwhy = "w"\n'
    text += HEAD + 'lines = ["return 0;"]\nwhy = "w"\n'
    text += HEAD + 'functions = ["main"]\nlines = ["return 0;", "return 5;"]\nwhy = "w"\n'
    assert list(stale(written(tmp_path, text), tmp_path)) == [
        "one.toml, gap 1: choice.c has no line: return 4;",
        "one.toml, gap 1: there is no tests/none.py",
        "one.toml, gap 2: choice.c has no function atoi",
        "one.toml, gap 3: choice.c: one.toml, gap 1 is for this, too: return 3;",
        "one.toml, gap 4: gone.c has no function main",
        "one.toml, gap 5: choice.c has it 2 times, so it takes its function: return 0;",
        "one.toml, gap 6: choice.c has no line: return 5;",
    ]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + 'lines = ["x"]\n',
        HEAD + 'why = "w"\n',
        HEAD + 'why = "w"\nlines = "x"\n',
        HEAD + 'why = "w"\nlines = ["x"]\nbecause = "y"\n',
        HEAD + 'why = "w"\nlines = ["x"]\nsometimes = "y"\n',
        '[[gaps]]\nfile = "choice.c"\n',
        "[[gap]",
    ],
)
def test_files_that_are_no_gaps_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadGaps):
        written(tmp_path, text)


def test_the_reasons_of_this_tree_are_for_what_it_has() -> None:
    gaps = read_gaps(TOP / "assurance/gaps")
    assert gaps and list(stale(gaps, TOP)) == []
