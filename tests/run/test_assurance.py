# SPDX-License-Identifier: MIT
"""What `./run assurance` says: each gap is red, and no name of a test is believed."""

import dataclasses
import json
import subprocess
from pathlib import Path

import pytest
from assuring import kit as kits
from assuring.catalog import Catalog, Source, left_to_run, read_catalog
from assuring.detected import detected_of
from assuring.evidence import About, Evidence
from assuring.hardening import Program
from assuring.kit import (
    FAULTS,
    MISHAPS,
    Failure,
    Interface,
    Kit,
    KitError,
    NoTrlc,
    Part,
    Requirement,
    Rule,
    Step,
    read_kit,
)
from assuring.light import Light, lights_of
from assuring.report import as_json, page, write
from assuring.rules import Checkers, checker_errors
from assuring.supply import Package, Release
from assuring.verdicts import COVERAGE as COVERAGE_RUN
from assuring.verdicts import Verdicts, judge, name_errors, of_commands
from assuring.vulnerabilities import Vulnerability
from bounding.loops import Loop
from lib.program import BUILD, TOP
from testing.one import Case, Outcome, Test
from testing.results import Result, keep_results, read_results, tree_state

TRIXIE = Release("debian", "13", "trixie")
ABOUT = About("0.2.0", "abc", "2026-11-26T21:00:00Z", 1.5, "those of this run", TRIXIE)
PYTHON, C = "tests/safety/test_light.py", "tests/unit/test_ring.c"


def a_test(title: str, *suites: str, folder: Path = Path("build")) -> Test:
    suite, _, name = title.partition("/")
    return Test(folder, name, (suite, *suites), ("x",), {}, 30, True, False)


def catalog() -> Catalog:
    light = Source(PYTHON, ("test_on", "test_off"), (a_test("safety/light"),))
    ring = Source(C, ("test_order", "test_lies"), (a_test("unit/ring"),))
    other = Source("tests/gst/test_film.py", ("test_film",), (a_test("gst/film"),))
    never = Source("tests/vm/test_gone.py", ("test_gone",))
    return Catalog({source.path: source for source in (light, ring, other, never)})


def requirement(name: str, *tests: str) -> Requirement:
    return Requirement(name, "r.trlc:1", f"{name} shall hold.", "why", "libgid", tests)


def failure(
    fault: str, timed: tuple[str, ...], injected: tuple[str, ...], at: str = "Frames"
) -> Failure:
    words = ("bad", "seen", "done", "Safe", "soon")
    return Failure(fault, "h.trlc:1", at, fault, *words, timed, injected)


STACKS = {
    "files": "abc",
    "problems": ["gid-x: tree calls tree: a recursion"],
    "programs": [
        {
            "program": "gid-x",
            "functions": 3,
            "pointer_calls": 1,
            "recursions": [[{"function": "tree", "place": "x.c:1", "stack": 40}]],
            "dynamic": [],
            "libraries": ["puts"],
            "threads": [
                {
                    "function": "main",
                    "has": 1000,
                    "needs": 600,
                    "way": [{"function": "main", "place": "x.c:9", "stack": 400}],
                    "called_back": [{"function": "x.c:back", "place": "x.c:5", "stack": 200}],
                }
            ],
        }
    ],
}

COVERAGE = {
    "files": "abc",
    "tests": "3 passed, 0 failed",
    "problems": ["libgid: 8 of 10 statements are reached, less than 95 %"],
    "sets": [{"name": "libgid", "statements": 10, "reached": 8, "outcomes": 0, "decided": 0}],
    "sources": [
        {
            "file": "libgid/a.c",
            "statements": 10,
            "reached": 8,
            "outcomes": 0,
            "decided": 0,
            "missing": [
                {"line": 7, "what": "not run", "text": "return -EIO;", "why": "", "tests": []},
                {
                    **{"line": 9, "what": "not run", "text": "return -ENOMEM;"},
                    **{"why": "Memory is there.", "tests": ["tests/faults/test_libgid.py"]},
                },
            ],
        }
    ],
    "without_reason": 1,
}

GOOD = (
    Result(
        "build",
        "safety/light",
        "abc",
        "now",
        (
            Case("test_light.py::test_on[1]", "passed"),
            Case("test_light.py::test_on[2]", "skipped", "no such card"),
            Case("test_light.py::test_off", "passed"),
        ),
    ),
    Result("build", "unit/ring", "abc", "now", (Case("frames come in order", "passed"),)),
)


def judged(*tests: str, results: tuple[Result, ...] = GOOD, tree: str = "abc") -> Verdicts:
    return judge(Kit((requirement("One", *tests),)), catalog(), results, tree)


def only(verdicts: Verdicts) -> tuple[bool, list[str]]:
    (row,) = verdicts.requirements
    return row.is_red, [test.verdict for test in row.tests]


def test_what_passed_is_not_red() -> None:
    assert only(judged(PYTHON, f"{C}::test_order")) == (False, ["passed", "passed"])
    (row,) = judged(f"{PYTHON}::test_on").requirements
    assert row.tests[0].why == "1 skipped: no such card", "what was left out is told"
    assert row.tests[0].cases == 2


def test_a_requirement_without_a_test_is_red() -> None:
    verdicts = judged()
    assert only(verdicts) == (True, [])
    assert verdicts.red["requirements"] == 1


@pytest.mark.parametrize(
    ("name", "case", "verdict"),
    [
        (f"{PYTHON}::test_off", Case("test_light.py::test_off", "failed"), "failed"),
        (f"{PYTHON}::test_off", Case("test_light.py::test_off (setup)", "failed"), "failed"),
        (f"{PYTHON}::test_off", Case("test_light.py::test_off", "skipped", "why"), "skipped"),
        (f"{PYTHON}::test_off", Case("ended by SIGSEGV", "failed"), "failed"),
        (f"{PYTHON}::test_off", Case("all", "skipped", "the build lacks x"), "skipped"),
        (f"{PYTHON}::test_off", Case("test_light.py::test_off_road", "passed"), "not run"),
        (f"{C}::test_lies", Case("a lie is found", "failed"), "failed"),
    ],
)
def test_what_did_not_pass_is_red(name: str, case: Case, verdict: str) -> None:
    title = "safety/light" if name.startswith(PYTHON) else "unit/ring"
    results = (Result("build", title, "abc", "now", (case,)),)
    assert only(judged(name, results=results)) == (True, [verdict])


def test_a_failure_with_a_sanitizer_counts() -> None:
    worse = Result("build-asan", "unit/ring", "abc", "now", (Case("frames come", "failed"),))
    assert only(judged(C, results=(*GOOD, worse))) == (True, ["failed"])


def test_results_of_other_files_are_none() -> None:
    assert only(judged(C, tree="other")) == (True, ["not run"])
    assert only(judged("tests/gst/test_film.py")) == (True, ["not run"])
    assert only(judged("tests/vm/test_gone.py")) == (True, ["not run"])


def test_what_failed_beside_others_is_told() -> None:
    """It passed by itself then, and is not red."""
    late = Case("test_light.py::test_on[2]", "failed")
    results = (dataclasses.replace(GOOD[0], at_first=(late,)), GOOD[1])
    verdicts = judged(f"{PYTHON}::test_on", f"{PYTHON}::test_off", results=results)
    assert only(verdicts) == (False, ["passed", "passed"])
    assert verdicts.only_alone == [f"{PYTHON}::test_on"]
    assert judged(PYTHON, results=results).only_alone == [PYTHON]
    assert judged(PYTHON).only_alone == []
    found = Evidence(ABOUT, verdicts)
    assert as_json(found)["passed_only_alone"] == [f"{PYTHON}::test_on"]
    assert page(found).count("only by itself") == 1


def test_what_only_root_can_do_counts_where_root_did_it() -> None:
    users = Result(
        "build", "safety/light", "abc", "now", (Case("test_light.py::test_on", "passed"),)
    )
    roots = Result(
        "build", "root/light", "abc", "now", (Case("test_light.py::test_off", "passed"),)
    )
    both = Source(PYTHON, ("test_on", "test_off"), (a_test("safety/light"), a_test("root/light")))
    catalog = Catalog({PYTHON: both})
    kit = Kit((requirement("One", f"{PYTHON}::test_on", f"{PYTHON}::test_off"),))

    def verdicts(*results: Result) -> list[str]:
        return [test.verdict for test in judge(kit, catalog, results, "abc").requirements[0].tests]

    assert verdicts(users) == ["passed", "not run"]
    assert verdicts(users, roots) == ["passed", "passed"]
    assert verdicts(roots) == ["not run", "not run"], "what a user runs has to be there"


def test_tests_without_a_requirement_are_red() -> None:
    kit = Kit((requirement("One", f"{PYTHON}::test_on", f"{C}::test_lies"),))
    verdicts = judge(kit, catalog(), GOOD, "abc")
    assert verdicts.uncovered == (f"{PYTHON}::test_off", f"{C}::test_order")
    assert verdicts.red["tests without a requirement"] == 2
    assert judged(PYTHON, C).uncovered == (), "those of other suites need none"


def test_what_a_command_shows_is_by_its_findings() -> None:
    """Coverage that has a gap without a reason, has none, or was not looked at."""
    kit = Kit((requirement("One", COVERAGE_RUN),))
    without = COVERAGE | {"without_reason": 0}
    verdicts = {"failed": of_commands(COVERAGE), "passed": of_commands(without), "not run": None}
    for verdict, commands in verdicts.items():
        found = judge(kit, catalog(), GOOD, "abc", commands)
        assert only(found) == (verdict != "passed", [verdict])
        assert found.uncovered == judge(Kit(), catalog(), GOOD, "abc").uncovered
    assert of_commands(COVERAGE)[COVERAGE_RUN].why == "1 of 2 without a reason"
    html = page(Evidence(ABOUT, judge(kit, catalog(), GOOD, "abc", of_commands(COVERAGE))))
    assert "<code>run coverage</code>" in html and "1 of 2 without a reason" in html


def test_names_that_are_not_there_are_errors() -> None:
    kit = Kit(
        (
            requirement("One", PYTHON, f"{PYTHON}::test_of", "tests/safety/test_lihgt.py"),
            requirement("Two", COVERAGE_RUN, "run stack", "runs coverage"),
        ),
        failures=(failure("lost", (), (f"{C}::test_none",)),),
    )
    assert name_errors(kit, catalog()) == [
        f"assurance/r.trlc:1: {PYTHON}::test_of: there is no such function in the file",
        "assurance/r.trlc:1: tests/safety/test_lihgt.py: there is no such file of tests",
        "assurance/r.trlc:1: runs coverage: there is no such file of tests",
        f"assurance/h.trlc:1: {C}::test_none: there is no such function in the file",
        "assurance/r.trlc:1: run stack: only these commands show a requirement: run coverage",
    ]


def test_gaps_of_failures_are_red() -> None:
    kit = Kit(
        interfaces=(Interface("Frames", "A ring.", "one", "other"),),
        failures=(
            failure("lost", (C,), (PYTHON,)),
            failure("late", (), (PYTHON,)),
            failure("repeated", (C,), ()),
            failure("corrupted", ("tests/gst/test_film.py",), (PYTHON,)),
        ),
    )
    verdicts = judge(kit, catalog(), GOOD, "abc")
    assert [row.is_red for row in verdicts.failures] == [False, True, True, True]
    assert verdicts.failures[1].gaps == ("the time to react is not measured",)
    assert verdicts.failures[2].gaps == ("no test makes this fault",)
    left = [fault for fault in FAULTS if fault not in ("lost", "late", "repeated", "corrupted")]
    assert verdicts.not_analysed == tuple(("Frames", fault) for fault in left)


def test_parts_are_analysed_as_well() -> None:
    kit = Kit(
        parts=(Part("Daemon", "It serves.", "The clock."),),
        failures=(failure("slow", (C,), (PYTHON,), "Daemon"),),
    )
    verdicts = judge(kit, catalog(), GOOD, "abc")
    left = [mishap for mishap in MISHAPS if mishap != "slow"]
    assert verdicts.not_analysed == tuple(("Daemon", mishap) for mishap in left)
    html = page(Evidence(ABOUT, verdicts))
    assert "It serves. It has in common with others: The clock." in html
    assert '<tr id="slow">' in html and html.count("not analysed</td></tr>") == len(left)


def test_the_report_has_every_line() -> None:
    found = Evidence(
        ABOUT,
        judged(PYTHON, "tests/vm/test_gone.py"),
        detected={"crc64": 999_999},
        stacks=STACKS,
        loops=[Loop("libgid/a.c", 9, "wait", "while (!done) {", False)],
        coverage=COVERAGE,
        lights=[Light("oil", 18.5, 1.25, 33.33, 53.08)],
        programs=[Program("gid-x", ("libc.so.6",), ("stack guards",)), Program("gid-y", (), ())],
        packages=[
            Package(
                *("libc6", "2.41", "runs beside it", "glibc", "2.41-1", "amd64"),
                licences=("LGPL-2.1+",),
                used_by=("gid-x",),
            ),
            Package("meson", "1.7", "builds, tests or shows", "meson", "1.7"),
        ],
        vulnerabilities=[
            Vulnerability("CVE-1", "glibc", "2.41-1", "low", "2.42", "Bad.", "runs beside it"),
            Vulnerability("CVE-2", "glibc", "2.41-1", "unimportant", "", "Not.", "runs beside it"),
        ],
    )
    html = page(found)
    assert '<tr id="One" class="red">' in html
    assert "One shall hold." in html and "this build does not have it" in html
    assert f"<code>{C}::test_order</code>" in html, "a test without a requirement"
    assert "tree calls tree: a recursion" in html and "<code>back</code> 200" in html
    assert "return -EIO;" in html and "8 of 10, 80.0 %" in html
    assert html.count("no reason is known") == 1
    assert "Memory is there. <code>faults/test_libgid.py</code>" in html
    assert "tracker/source-package/glibc" in html and "<td>gid-x</td>" in html
    assert "<small>LGPL-2.1+</small>" in html and html.count("not told here") == 1
    assert "Bad. Mended in 2.42." in html and "CVE-2" in html
    summary = as_json(found)
    assert "<td>oil</td><td>18.50 ms</td>" in html and "<td>53.08 ms</td></tr>" in html
    assert summary["light_ms"] == {"oil": 53.08}
    assert "libgid/a.c:9 while (!done) {</code> nobody" in html
    assert summary["red"] == 10 == sum(summary["red_by"].values())
    assert summary["red_by"]["loops without a known bound"] == 1
    assert summary["red_by"]["gaps of coverage without a reason"] == 1
    assert summary["red_by"]["known vulnerabilities of what runs"] == 1
    assert summary["red_by"]["aims of coverage that are missed"] == 1
    assert summary["not_looked_at"] == [] and "nobody looked: 1" not in html
    assert summary["recursions"] == 1
    assert summary["stack_bytes"] == {"gid-x main": {"needs": 600, "has": 1000}}
    assert summary["coverage"] == COVERAGE["sets"]
    assert summary["detected_of_a_million"] == {"crc64": 999_999}
    assert "by crc64</td><td>999999</td>" in html
    assert summary["calls_after_seal"] is None and "not counted with these files" in html
    calls = {"gidd": 0, "gid-cluster": 3, "frames": 60, "seconds": 1.0}
    sealed = Evidence(ABOUT, judged(PYTHON), calls=calls)
    assert as_json(sealed)["calls_after_seal"] == calls
    told = "in 60 frames (1.0 s) of a sealed domain: 0 by gidd, 3 by gid-cluster"
    assert told in page(sealed)


def test_what_nobody_looked_at_is_red() -> None:
    found = Evidence(ABOUT, judged(PYTHON, C))
    summary = as_json(found)
    assert summary["recursions"] is None and summary["coverage"] is None
    assert {what: number for what, number in summary["red_by"].items() if number} == {
        "faults on the way that are not seen": 1,
        "ways to the light that are not told": 1,
        "programs that lack hardening": 1,
        "stacks that are not bounded": 1,
        "aims of coverage that are missed": 1,
        "gaps of coverage without a reason": 1,
        "known vulnerabilities of what runs": 1,
    }
    assert summary["not_looked_at"] == [
        what for what, number in summary["red_by"].items() if number
    ]
    html = page(found)
    assert html.count("<td>nobody looked: 1</td>") == len(summary["not_looked_at"])
    assert summary["light_ms"] is None and "The sum is not told" in html
    for said in ("Not looked at with just", "Not counted with just", "No packages were made of"):
        assert said in html
    assert "Nobody looked: <code>--tracker FILE</code>" in html


def a_rule(*checked: str, deviation: str = "") -> Rule:
    return Rule("One", "rules.trlc:1", "It is so.", ("17.2",), checked, deviation)


def test_a_rule_without_a_checker_or_a_reason_is_red() -> None:
    rules = (a_rule(), a_rule(deviation="not kept"), a_rule("gcc -Wvla"), a_rule(C))
    verdicts = judge(Kit(rules=rules), catalog(), [], "abc")
    assert [row.is_red for row in verdicts.rules] == [True, False, False, True]
    assert "nothing checks it" in page(Evidence(ABOUT, verdicts))


def test_a_step_whose_test_did_not_pass_is_red() -> None:
    way = (
        Step("Going", "way.trlc:1", 1, "It goes.", "Soon.", "", (f"{PYTHON}::test_on",)),
        Step(
            "Waiting", "way.trlc:2", 2, "It waits.", "A refresh.", "x", ("tests/gst/test_film.py",)
        ),
    )
    verdicts = judge(Kit(way=way), catalog(), GOOD, "abc")
    assert [row.is_red for row in verdicts.way] == [False, True]
    html = page(Evidence(ABOUT, verdicts))
    assert '<tr id="Waiting" class="red">' in html and "A refresh.<br><small>x</small>" in html


def test_the_sum_is_what_gid_cluster_says(tmp_path: Path) -> None:
    """Nothing, where it is not built or refuses the display."""
    assert lights_of(TOP, tmp_path) is None
    program = tmp_path / "cluster/gid-cluster"
    program.parent.mkdir()
    said = "oil  18.50 ms  1.25 ms  33.33 ms  53.08 ms from the ring to the light"
    for status, lights in ((0, [Light("oil", 18.5, 1.25, 33.33, 53.08)]), (1, None)):
        program.write_text(f"#!/bin/sh\necho 'role taken'\necho '{said}'\nexit {status}\n")
        program.chmod(0o755)
        assert lights_of(TOP, tmp_path) == lights


def test_checkers_that_are_not_there_are_errors() -> None:
    checkers = Checkers(TOP, BUILD)
    good = ("gcc -Wvla", "gcc -Wimplicit-fallthrough", "clang-tidy bugprone-infinite-loop")
    good += ("clang-format InsertBraces", "lint null", "lint gcc", "run stack")
    good += ("gcc -Wshadow but gst/",)
    bad = (
        "gcc -Wshadow",
        "gcc -Wcast-qual but gst/",
        "gcc -Wvlaa",
        "gcc -Wcast-qual",
        "clang-tidy bugprone-branch-clone",
    )
    bad += ("clang-format AllowShortLoopsOnASingleLine", "lint nul", "run stak", "sparse x")
    found = checker_errors(Kit(rules=(a_rule(*good, *bad, C),)), checkers)
    assert [line.partition(": ")[2].partition(":")[0] for line in found] == list(bad)


def test_faults_that_nobody_made_are_red() -> None:
    """How many were seen is what a test said of these files, and of nothing else."""
    cases = (
        Case("crc64: detected 1000000 of 1000000 by crc64", "passed"),
        Case("cmac: detected 999998 of 1000000 by cmac", "failed"),
    )
    results = [Result("build", "unit/detected", "abc", "now", cases)]
    assert detected_of(results, "abc") == {"crc64": 1_000_000, "cmac": 999_998}
    assert detected_of(results, "other") is None
    worse = Result(
        "build-asan",
        *("unit/detected", "abc", "now"),
        (Case("detected 999999 of 1000000 by crc64", "failed"),),
    )
    assert detected_of([*results, worse], "abc") == {"crc64": 999_999, "cmac": 999_998}
    skipped = Result("build", "unit/detected", "abc", "now", (Case("all", "skipped", "nettle"),))
    assert detected_of([skipped], "abc") is None
    red = "faults on the way that are not seen"
    for detected, number in ((None, 1), ({"crc64": 1_000_000}, 0), ({"cmac": 999_998}, 2)):
        assert Evidence(ABOUT, judged(PYTHON), detected=detected).red[red] == number


def test_files_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # no browser
    package = Package("a:b", "1+2", "r")
    written = write(tmp_path / "out", Evidence(ABOUT, judged(PYTHON), packages=[package]))
    assert [path.name for path in written] == [
        *("assurance.html", "assurance.json", "sbom.spdx.json"),
    ]
    bill = json.loads((tmp_path / "out/sbom.spdx.json").read_text())
    assert [one["SPDXID"] for one in bill["packages"]] == [
        *("SPDXRef-gidway", "SPDXRef-OperatingSystem-debian", "SPDXRef-a-b"),
    ]


# --- TRLC ---

SCHEMA = (TOP / "assurance/gidway.rsl").read_text()
SAMPLE = """package Gidway

Requirement Light {
   statement = "gid-cluster shall show libgid.so."
   rationale = "why"
   owner     = Owner.weston_plugin
   tests     = ["tests/a.py::b"]
}
Interface Frames { description = "d." from_part = "a" to_part = "b" }
Safe_State Dark { description = "d" }
Failure Frames_lost {
   at = Frames fault = Fault.lost effect = "e" detection = "d" reaction = "r"
   safe_state = Dark within = "w" timed = [] injected = ["tests/a.py"]
}
Part Daemon { description = "d" shares = "s" }
Breakdown Daemon_ends {
   at = Daemon fault = Mishap.ends effect = "e" detection = "d" reaction = "r"
   safe_state = Dark within = "w" timed = [] injected = ["tests/c.py"]
}
Assumption Clock { statement = "s" rationale = "r" tests = [] }
Step Second { number = 2 statement = "It waits." bound = "A refresh." tests = ["tests/a.py"] }
Step First {
   number = 1 statement = "It goes." bound = "Soon." depends = "x" tests = ["tests/b.py"]
}
Rule Short { statement = "It is so." like = ["1.3"] checked = ["gcc -Wvla", "tests/a.py"] }
"""


def read_or_skip(folder: Path) -> Kit:
    try:
        return read_kit(folder)
    except NoTrlc:
        pytest.skip(f"TRLC {kits.TRLC} cannot be installed by pip")


def read_text(folder: Path, text: str) -> Kit:
    (folder / "gidway.rsl").write_text(SCHEMA)
    (folder / "sample.trlc").write_text(text)
    return read_or_skip(folder)


def test_files_of_trlc_are_read(tmp_path: Path) -> None:
    kit = read_text(tmp_path, SAMPLE)
    assert kit.requirements == (
        Requirement(
            *("Light", "sample.trlc:3", "gid-cluster shall show libgid.so.", "why"),
            *("weston-plugin", ("tests/a.py::b",)),
        ),
    )
    assert kit.requirements[0].chapter == "sample"
    owned = read_text(tmp_path, SAMPLE.replace("weston_plugin", "common_input"))
    assert owned.requirements[0].owner == "common/input"
    assert [(one.at, one.fault, one.safe_state, one.within) for one in kit.failures] == [
        ("Frames", "lost", "Dark", "w"),
        ("Daemon", "ends", "Dark", "w"),
    ]
    assert kit.parts == (Part("Daemon", "d", "s"),)
    assert kit.safe_states == (("Dark", "d"),)
    assert kit.assumptions[0].checked == ""
    assert kit.rules[0].like == ("1.3",) and kit.rules[0].deviation == ""
    assert [(step.name, step.number, step.depends) for step in kit.way] == [
        ("First", 1, "x"),
        ("Second", 2, ""),
    ]
    assert {"tests/a.py", "tests/b.py", "tests/c.py"} <= {name for name, _ in kit.named_tests()}
    assert ("tests/a.py", kit.rules[0].place) in kit.named_tests()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (" shall ", " should ", "a requirement is one sentence with shall"),
        ("Owner.weston_plugin", "Owner.nobody", "nobody"),
        ("at = Frames", "at = Lights", "unknown symbol Lights"),
        ('Dark within = "w" timed', "Dark timed", "within"),
        ('   rationale = "why"\n', "", "rationale"),
    ],
)
def test_mistakes_of_trlc_are_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in SAMPLE
    with pytest.raises(KitError, match=said) as error:
        read_text(tmp_path, SAMPLE.replace(old, new))
    assert "sample.trlc:" in str(error.value)


def test_owners_are_folders() -> None:
    kit = read_or_skip(TOP / "assurance")
    assert len(kit.requirements) >= 150
    assert {item.owner for item in kit.requirements if not (TOP / item.owner).is_dir()} == set()
    assert {item.fault for item in kit.failures} == {*FAULTS, *MISHAPS}
    assert kit.not_analysed() == [], "each kind of each interface and part"


# --- results and tests as they are ---


def test_results_are_kept_by_test_and_folder(tmp_path: Path) -> None:
    def outcome(title: str, folder: str, *cases: Case) -> Outcome:
        return Outcome(a_test(title, folder=Path(folder)), 1.0, list(cases))

    bad, good = Case("x", "failed"), Case("x", "passed")
    keep_results(tmp_path, "one", [outcome("s/a", "build", bad), outcome("s/b", "build", good)])
    keep_results(tmp_path, "two", [outcome("s/a", "build", good), outcome("s/a", "asan", bad)])
    found = {(one.folder, one.title): (one.tree, one.cases) for one in read_results(tmp_path)}
    assert found == {
        ("build", "s/a"): ("two", (good,)),
        ("build", "s/b"): ("one", (good,)),
        ("asan", "s/a"): ("two", (bad,)),
    }


def test_a_first_failure_is_kept(tmp_path: Path) -> None:
    bad, good = Case("x", "failed"), Case("x", "passed")
    first = Outcome(a_test("s/a"), 1.0, [bad, Case("y", "passed")])
    outcomes = [Outcome(a_test("s/a"), 1.0, [good]), Outcome(a_test("s/b"), 1.0, [good])]
    keep_results(tmp_path, "one", outcomes, [first])
    found = {result.title: result.at_first for result in read_results(tmp_path)}
    assert found == {"s/a": (bad,), "s/b": ()}


def test_results_of_before_a_run_are_none_of_its(tmp_path: Path) -> None:
    keep_results(tmp_path, "one", [Outcome(a_test("s/a"), 1.0, [Case("x", "passed")])])
    (result,) = read_results(tmp_path)
    assert read_results(tmp_path, result.when) == [result]
    assert read_results(tmp_path, f"{result.when[:3]}9{result.when[4:]}") == []


def test_what_is_left_to_run_has_no_result_of_these_files() -> None:
    tests = [a_test(f"unit/{name}") for name in ("good", "bad", "old", "new")]
    tests += [a_test("unit/root's", "root"), a_test("gst/film"), a_test("gst/other")]
    tests.append(a_test("unit/good", folder=Path("build-asan")))
    results = [
        Result("build", "unit/good", "abc", "now", (Case("x", "passed"),)),
        Result("build", "unit/bad", "abc", "now", (Case("x", "failed"),)),
        Result("build", "unit/old", "other", "now", (Case("x", "passed"),)),
    ]
    wanted = ["unit", "gst/film"]
    left = ["gst/film", "unit/good", "unit/new", "unit/old"]
    assert left_to_run(tests, wanted, results, "abc") == left, "one of a sanitizer is another"
    everything = [Result(test.folder.name, test.title, "abc", "now", ()) for test in tests]
    assert left_to_run(tests, wanted, everything, "abc") == []


def test_the_state_of_files_is_that_of_their_content(tmp_path: Path) -> None:
    git = ["git", "-C", tmp_path, "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "file").write_text("one")
    subprocess.run([*git, "add", "file"], check=True)
    before = tree_state(tmp_path)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    assert tree_state(tmp_path) == before, "a commit changes no file"
    (tmp_path / "file").write_text("two")
    changed = tree_state(tmp_path)
    (tmp_path / "file").rename(tmp_path / "other")
    subprocess.run([*git, "add", "-A"], check=True)
    assert len({before, changed, tree_state(tmp_path)}) == 3
    assert tree_state(tmp_path / "nowhere") == "unknown"


def test_tests_of_this_build_are_found() -> None:
    found = read_catalog(TOP, BUILD)
    assert found.without_file == ()
    mine = found.sources["tests/run/test_assurance.py"]
    assert "test_tests_of_this_build_are_found" in mine.functions
    assert [test.title for test in mine.runs] == ["run/assurance"]
    ring = found.sources["tests/unit/libgid/test_ring.c"]
    assert [test.title for test in ring.runs] == ["unit/ring"] and "test_notes" in ring.functions
    long = found.sources["tests/displays/test_in_guests.py"]
    assert [test.title for test in long.usual] == ["displays/in_guests"]
    times = found.sources["tests/safety/test_times.py"]
    assert [test.title for test in times.usual] == ["safety/times"]
    limits = found.sources["tests/hostile/test_limits.py"]
    at_length = limits.runs_of("test_a_report_that_would_be_too_long_is_refused")
    assert "hostile/limits at length" in [test.title for test in at_length]
    for usual in ("", "test_the_log_is_bounded"):
        assert [test.title for test in limits.runs_of(usual)] == ["hostile/limits"]
