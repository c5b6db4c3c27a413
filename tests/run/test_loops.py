# SPDX-License-Identifier: MIT
"""Which loops say their bound themselves, and what is told of the others."""

import pytest
from bounding.loops import all_loops, loops_in, needless, read_bounds, without_bound
from covering.gaps import Gap, stale
from lib.program import TOP


def loop(head: str, body: str = "\t\tuse(i);") -> str:
    return f"static void f(int n) {{\n\t{head} {{\n{body}\n\t}}\n}}\n"


@pytest.mark.parametrize(
    "head",
    [
        "for (int i = 0; i < n; i++)",
        "for (uint32_t i = 1; good && i <= n; i++)",
        "for (size_t i = 0; i < n; i += STEP)",
        "for (size_t i = n; i-- > 0;)",
        "for (uint64_t i = n; i > 0; i--)",
        "for (const struct s *i = first; i != NULL; i = i->next)",
        "for (i = first(a, b);\n\t\t\ti != NULL; i = i->newer)",
    ],
)
def test_loops_that_say_their_bound(head: str) -> None:
    (found,) = loops_in("a.c", loop(head))
    assert (found.line, found.function, found.is_bounded) == (2, "f", True)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("for (;;)", "\t\tuse(i);"),
        ("while (true)", "\t\tuse(i);"),
        ("while (n > 0)", "\t\tn--;"),
        ("for (int i = 0; i < n;)", "\t\tuse(i);"),
        ("for (int i = 0; i != n; i++)", "\t\tuse(i);"),
        ("for (int i = 0; i < n; j++)", "\t\tuse(i);"),
        ("for (int i = 0; i < n; i++)", "\t\ti--;"),
        ("for (int i = 0; i < n; i++)", "\t\ti = 0;"),
        ("for (int i = 0; i < n; i++)", "\t\tread(&i);"),
        ("for (struct s *i = a; i != NULL; i = i->next)", "\t\ti = a;"),
        ("for (struct s *i = a; i != end; i = i->next)", "\t\tuse(i);"),
    ],
)
def test_loops_that_do_not(head: str, body: str) -> None:
    (found,) = loops_in("a.c", loop(head, body))
    assert not found.is_bounded


def test_what_looks_like_a_change_is_none() -> None:
    body = "\t\tif (i == 3 || j[i] <= i) {\n\t\t\ttake(&i->ring, &j[i]);\n\t\t}"
    (found,) = loops_in("a.c", loop("for (int i = 0; i < n; i++)", body))
    assert found.is_bounded


def test_a_loop_in_a_comment_is_none_and_do_is_one() -> None:
    text = "/*\n\twhile (x) {\n */\nvoid f(void) {\n\tdo {\n\t\tx();\n\t} while (y);\n}\n"
    (found,) = loops_in("a.c", text)
    assert (found.line, found.text) == (7, "} while (y);")


def test_each_other_one_takes_a_bound() -> None:
    other = loop("for (int i = 0; i < n; i++)").replace(" f(", " h(")
    loops = loops_in("a.c", loop("while (n)") + other)
    assert [one.text for one in without_bound(loops, [])] == ["while (n) {"]
    for functions, left in (((), 0), (("f",), 0), (("g",), 1)):
        bound = Gap("x.toml, loop 1", "a.c", "why", ("while (n) {",), functions)
        assert len(without_bound(loops, [bound])) == left
    lines = ("while (n) {", "for (int i = 0; i < n; i++) {", "use(i);")
    assert needless(loops, [Gap("x.toml, loop 1", "a.c", "why", lines)]) == [
        "x.toml, loop 1: a.c: it needs no bound: for (int i = 0; i < n; i++) {",
        "x.toml, loop 1: a.c: it needs no bound: use(i);",
    ]


def test_loops_of_this_tree() -> None:
    loops, bounds = all_loops(TOP), read_bounds(TOP)
    assert len(loops) > 300 and list(stale(bounds, TOP)) == needless(loops, bounds) == []
    assert without_bound(loops, bounds) == []
