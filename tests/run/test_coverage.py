# SPDX-License-Identifier: MIT
"""What `./run coverage` counts, by gcc and gcov themselves."""

import subprocess
from pathlib import Path

import pytest
from covering.gcov import Missing, Source, ask, joined

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


@pytest.mark.skipif(
    subprocess.run(["gcc", "-fcondition-coverage", "-E", "-x", "c", "/dev/null"]).returncode != 0,
    reason="gcc before 14 does not count conditions",
)
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
