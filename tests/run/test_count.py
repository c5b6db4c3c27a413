# SPDX-License-Identifier: MIT
"""How `./run test` runs and counts: every case once, what failed in company again by itself."""

import os
import re
import signal
import subprocess
import sys
from argparse import Namespace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from lib.program import TOP, is_alive, wait_for
from testing import forked, processors
from testing.count import FORGIVEN, dearest, keep_log, only_alone, summary, took
from testing.needed import needed
from testing.one import Case, Outcome, Test, list_tests, tap_cases
from testing.pool import Pool
from testing.processors import Processors
from testing.results import read_results

TESTS = TOP / "tests"

PROJECT = """
project('sample')
tap = find_program('{tests}/pytest-tap')
test('cases', tap, args: files('test_cases.py'), suite: 's', protocol: 'tap')
test('broken', tap, args: files('test_broken.py'), suite: 's', protocol: 'tap')
test('plain', find_program('true'), suite: 's')
test('exit', find_program('false'), suite: 's')
test('absent', find_program('sh'), args: ['-c', 'exit 77'], suite: 's')
test('slow', find_program('sleep'), args: '60', suite: 's', timeout: 1)
not_built = find_program('{tests}/not-built')
test('elsewhere', not_built, args: ['gid_map', 'plug'], suite: 's', protocol: 'tap')
"""

CASES = """
import pytest

def test_good(): print('1..0 # not for meson')
def test_bad(): assert 1 == 2
@pytest.mark.parametrize('n', [1, 2])
def test_each(n): pass
def test_skipped(): pytest.skip('# of reasons')
@pytest.mark.xfail(strict=True)
def test_expected(): assert False
@pytest.fixture
def broken(): raise OSError
def test_error(broken): pass
"""


def make_test(folder: Path, script: str, **more: object) -> Test:
    """One whose command is a shell script, which finds `$folder`."""
    described = {
        "name": "sample",
        "suites": ("s",),
        "env": {"folder": str(folder)},
        "seconds": 30,
        "is_tap": False,
        "is_alone": False,
    } | more
    return Test(folder=folder, command=("sh", "-c", script), **described)  # type: ignore[arg-type]


def run(*tests: Test, cores: int = 2, free: float = 0) -> Pool:
    """`free`: the part of the processors that is free all the time."""
    pool = Pool(cores, lambda: free)
    pool.add(tests)
    pool.run(lambda: False)
    return pool


def test_who_is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of pytest, but those that find modules elsewhere; and only where all is prepared."""
    words = (str(TESTS / "pytest-tap"), "test_cases.py")
    assert not forked.can_start(words, os.environ)
    monkeypatch.setattr(forked, "_is_prepared", True)
    assert forked.can_start(words, os.environ)
    assert forked.can_start(words, os.environ | {"LD_LIBRARY_PATH": "/build/libgid"})
    assert not forked.can_start(words, os.environ | {"LD_PRELOAD": "/build/malloc.so"})
    assert not forked.can_start(words, os.environ | {"PYTHONPATH": "/build/python"})
    assert not forked.can_start(("setarch", *words), os.environ)


def test_every_outcome_of_meson_is_known(tmp_path: Path) -> None:
    (tmp_path / "meson.build").write_text(PROJECT.format(tests=TESTS))
    (tmp_path / "test_cases.py").write_text(CASES)
    (tmp_path / "test_broken.py").write_text("import nosuchmodule\n")
    build = tmp_path / "build"
    subprocess.run(["meson", "setup", build, tmp_path], check=True, capture_output=True)
    pool = run(*list_tests(build))
    lines, is_well = summary(pool.outcomes, pool.first)
    assert not is_well
    assert lines[-1] == "4 passed, 5 failed, 4 skipped"
    untested = {
        "# of reasons": "s/cases",
        "expected failure": "s/cases",
        "it ended with 77": "s/absent",
        "the build lacks gid-map, plug": "s/elsewhere",
    }
    assert lines[:4] == [f"not tested ({why}): {test}" for why, test in untested.items()]
    assert len([line for line in lines if line.startswith("FAILED ")]) == 5
    assert "  assert 1 == 2" in lines
    ended = r"FAILED build: s/slow ended after \d+ s, its limit"
    assert any(re.fullmatch(ended, line) for line in lines), lines


PROGRAMS = """
project('sample', 'c')
lent = shared_library('lent', 'main.c')
used = executable('used', 'main.c')
other = executable('other', 'main.c')
test('one', find_program('true'), args: used, depends: lent, suite: 's')
test('two', other, suite: 't')
"""


def test_only_what_the_tests_of_a_suite_need_is_built(tmp_path: Path) -> None:
    (tmp_path / "meson.build").write_text(PROGRAMS)
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    build = tmp_path / "build"
    subprocess.run(["meson", "setup", build, tmp_path], check=True, capture_output=True)
    assert needed(build, {"s"}) == ["liblent.so", "used"]
    assert needed(build, {"s", "t"}) == ["liblent.so", "other", "used"]
    assert needed(build, {"u"}) == []


def test_what_could_not_be_built_is_a_failure() -> None:
    lines, is_well = summary([], problems=["build-asan: no tests were run"])
    assert (lines, is_well) == (
        ["FAILED build-asan: no tests were run", "0 passed, 1 failed"],
        False,
    )


def test_nothing_at_all_is_not_a_success() -> None:
    assert summary([]) == (["0 passed, 0 failed"], False)


def test_what_failed_in_company_and_passes_by_itself_has_passed(tmp_path: Path) -> None:
    late = make_test(tmp_path, 'test -e "$folder/second" || { : >"$folder/second"; exit 1; }')
    pool = run(late)
    lines, is_well = summary(pool.outcomes, pool.first)
    assert is_well
    assert lines == [
        f"passed by itself, failed in company: {tmp_path.name}: s/sample (exit status 1)",
        "1 passed, 0 failed",
    ]


@pytest.mark.parametrize("late", [FORGIVEN, FORGIVEN + 1])
def test_only_so_many_may_pass_by_themselves_alone(tmp_path: Path, late: int) -> None:
    """Races are found in company: a lock-free library that hides them is not tested."""
    folders = [tmp_path / str(number) for number in range(late)]
    for folder in folders:
        folder.mkdir()
    script = 'test -e "$folder/second" || { : >"$folder/second"; exit 1; }'
    pool = run(*(make_test(folder, script, name=folder.name) for folder in folders))
    lines, is_well = summary(pool.outcomes, pool.first)
    assert is_well == (late <= FORGIVEN)
    assert any("pass only by themselves" in line for line in lines) == (not is_well)
    assert lines[-1] == f"{late} passed, {0 if is_well else 1} failed"


def test_what_passed_alone_is_kept(tmp_path: Path) -> None:
    script = 'test -e "$folder/second" || { : >"$folder/second"; exit 1; }'
    pool, log = run(make_test(tmp_path, script)), tmp_path / "passed-alone.log"
    for version in ("1", "2"):
        keep_log(log, version, only_alone(pool.outcomes, pool.first))
        keep_log(log, version, [])
    first, second = log.read_text().splitlines()
    assert " 1 " in first and " 2 " in second and "s/sample (exit status 1)" in second


def test_what_measured_beside_another_has_a_second_chance(tmp_path: Path) -> None:
    script = 'test -e "$folder/second" || { : >"$folder/second"; exit 1; }'
    late = make_test(tmp_path, script, is_alone=True, suites=("s", "calm"))
    fine = make_test(tmp_path, "", name="fine")
    pool = run(late, fine)
    assert summary(pool.outcomes, pool.first)[0][-1] == "2 passed, 0 failed"
    assert {outcome.test.name for outcome in pool.outcomes} == {"sample", "fine"}


def test_what_fails_twice_has_failed(tmp_path: Path) -> None:
    pool = run(make_test(tmp_path, 'echo x >>"$folder/runs"; exit 1'))
    lines, is_well = summary(pool.outcomes, pool.first)
    assert (lines[-1], is_well) == ("0 passed, 1 failed", False)
    assert len((tmp_path / "runs").read_text()) == 4
    assert not any(line.startswith("passed by itself") for line in lines)


@pytest.mark.parametrize(
    ("script", "more"),
    [
        ("kill -SEGV $$", {}),
        ("echo 'ERROR: AddressSanitizer: heap-use-after-free' >&2; exit 1", {}),
        ("echo 'gidd of open died: -11' >&2; exit 1", {}),
        ("exit 1", {"sanitizer": "TSan"}),
        ("exit 1", {"is_alone": True}),
    ],
)
def test_these_have_no_second_chance(tmp_path: Path, script: str, more: dict[str, object]) -> None:
    pool = run(make_test(tmp_path, f'echo x >>"$folder/runs"; {script}', **more))
    assert summary(pool.outcomes, pool.first)[0][-1] == "0 passed, 1 failed"
    assert len((tmp_path / "runs").read_text()) == 2


def test_each_has_folders_of_its_own_and_leaves_nothing(tmp_path: Path) -> None:
    script = """
        echo "$TMPDIR" >>"$folder/places"
        test "$(stat -c %a "$XDG_RUNTIME_DIR")" = 700 && test "$XDG_RUNTIME_DIR" != "$TMPDIR"
        setsid sleep 1000 >/dev/null 2>&1 & echo $! >>"$folder/left"
    """
    pool = run(*(make_test(tmp_path, script, name=name) for name in "abc"))
    assert summary(pool.outcomes)[0][-1] == "3 passed, 0 failed"
    places = set((tmp_path / "places").read_text().splitlines())
    assert len(places) == 3
    assert not any(Path(place).exists() for place in places)
    for pid in (tmp_path / "left").read_text().split():
        wait_for(lambda pid=pid: not is_alive(int(pid)), f"process {pid} to end")


@pytest.mark.parametrize(("free", "places"), [(0.1, 6), (0.5, 16)])
def test_those_that_measure_run_alone_and_others_as_processors_are_free(
    tmp_path: Path, free: float, places: int
) -> None:
    """A guest takes two places, and there is one a core at most; of calm ones, one more."""
    script = """
        : >"$folder/$$.$kind"; now=$(ls "$folder" | grep -c "[.]$kind")
        echo $now >>"$folder/counts-$kind"; ls "$folder" | grep -c "[.]" >>"$folder/all-$kind"
        test $now -lt $together || : >"$folder/together-$kind"
        until test -e "$folder/together-$kind"; do sleep 0.1; done
        sleep 1; rm "$folder/$$.$kind"
    """

    def some(kind: str, number: int, together: int, **more: object) -> list[Test]:
        """None ends before so many run at once, or more than that can be seen."""
        env = {"folder": str(tmp_path), "kind": kind, "together": str(together)}
        return [
            make_test(tmp_path, script, name=f"{kind} {n}", env=env, **more) for n in range(number)
        ]

    domains = some("guest", 6, 2, suites=("s", "guest"))
    alone = some("alone", 3, 1, is_alone=True)
    calm = some("calm", 4, 3, is_alone=True, suites=("s", "calm"))
    pool = run(*alone, *calm, *some("waits", 30, places - 4), *domains, free=free)
    assert summary(pool.outcomes)[0][-1] == "43 passed, 0 failed"

    def counts(name: str) -> list[int]:
        return [int(line) for line in (tmp_path / name).read_text().split()]

    assert max(counts("counts-guest")) == 2
    most = max(counts("counts-waits"))
    assert most <= places and (most > 6) == (free > 0.2)
    assert counts("all-alone") == [1, 1, 1]
    assert max(counts("all-calm")) == 3


def test_a_place_more_is_for_many_short_tests(tmp_path: Path) -> None:
    """One after another, until somebody looks again whether much is free: once is enough here."""
    looks = iter([0.0, 0.5])
    pool = Pool(1, lambda: next(looks, None))
    wait = 'until test "$(ls "$folder" | grep -c ended)" = 9; do sleep 0.1; done'
    pool.add(make_test(tmp_path, wait, name=f"waits {n}", seconds=5) for n in range(2))
    short = ': >"$folder/ended-$$"'
    pool.add(make_test(tmp_path, short, name=f"short {n}", seconds=1) for n in range(9))
    pool.run(lambda: False)
    assert summary(pool.outcomes)[0][-1] == "11 passed, 0 failed" and not pool.first


def test_what_gives_way_and_what_waits_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 10 100 1000 100 5 5 0 0 0\ncpu0 1 2 3\n")
    looker = Processors(stat)
    assert looker.free() is None  # so soon
    monkeypatch.setattr(processors, "_SECONDS", 0)
    stat.write_text("cpu  140 20 110 1020 110 5 5 10 0 0\ncpu0 1 2 3\n")
    assert looker.free() == 0.4
    assert looker.stolen() == 0.1
    stat.write_text("not what a kernel says\n")
    assert looker.free() == 0


def test_a_case_is_counted_once_however_many_sanitizers_it_ran_with(tmp_path: Path) -> None:
    def outcome(sanitizer: str, *cases: Case) -> Outcome:
        return Outcome(make_test(tmp_path, "", sanitizer=sanitizer), 1, list(cases))

    plain = outcome("", Case("one", "passed"), Case("two", "passed"), Case("three", "skipped", "x"))
    asan = outcome("ASan", Case("one", "passed"), Case("two", "failed"), Case("three", "passed"))
    fuzz = outcome("libFuzzer", Case("only here", "passed"))
    lines, is_well = summary([plain, asan, fuzz])
    assert not is_well
    assert lines == [
        f"FAILED {tmp_path.name}: s/sample two",
        "among them, each counted once: 3 with ASan, 1 with libFuzzer",
        "3 passed, 1 failed",
    ]


def test_the_time_of_processors_is_told_with_that_of_whatever_a_test_starts(tmp_path: Path) -> None:
    work = "sh -c 'i=0; while test $i -lt 300000; do i=$((i + 1)); done'"
    pool = run(make_test(tmp_path, work, name="busy"), make_test(tmp_path, "sleep 1", name="lazy"))
    used = {outcome.test.name: outcome.cpu_seconds for outcome in pool.outcomes}
    assert used["busy"] > 2 * used["lazy"]
    head, *lines = dearest(pool.outcomes, 1)
    assert head.startswith("CPU seconds of all tests: ")
    assert len(lines) == 1 and lines[0].endswith(f"{tmp_path.name} s/busy")


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    pool = Pool()
    pool.add([make_test(tmp_path, "true")])
    left_out = [make_test(tmp_path, "", name=name) for name in ("one", "other")]
    pool.leave_out(left_out, "no kernel")
    pool.run(lambda: False)
    lines, is_well = summary(pool.outcomes)
    assert is_well and lines[-1] == "1 passed, 0 failed, 2 skipped"
    titles = ", ".join(test.title for test in left_out)
    assert f"not tested (no kernel): {titles}" in lines


def test_all_tests_tell_how_long_they_may_take() -> None:
    others = "; other machines took 2.5% of the processors."
    assert took(1432.4, 0.025, is_all=False) == f"In 1432 s{others}"
    bound = " of the 900 that .ci/run may take with what it makes first"
    assert took(1432.4, 0.025, is_all=True) == f"In 1432 s{bound}{others}"


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        ("1..2\nok 1 - a\nok 2 - b # SKIP why\n", ["passed", "skipped"]),
        ("ok 1 - a\nnot ok 2 - b\n1..2\n", ["passed", "failed"]),
        ("not ok 1 - a # TODO later\n1..1\n", ["skipped"]),
        ("ok 1 - a # TODO now it does\n1..1\n", ["failed"]),
        ("1..1\nok 1 - 1:42.3#7 is a gid\n", ["passed"]),
        ("1..0 # SKIP nothing here\n", ["skipped"]),
        ("ok 1 - a\n1..2\n", ["passed", "failed"]),  # one is missing
        ("ok 1 - a\n", ["passed", "failed"]),  # no plan
        ("1..1\nok 1 - a\nok 2 - b\n", ["passed", "passed", "failed"]),
        ("1..1\nok 1 - a\nBail out! no\n", ["passed", "failed", "failed"]),
        ("", ["failed"]),
    ],
)
def test_tap_is_read_as_meson_does(text: str, outcomes: list[str]) -> None:
    assert [case.outcome for case in tap_cases(text)] == outcomes


def test_tests_are_named_by_suite_or_one_by_one(tmp_path: Path) -> None:
    test = make_test(tmp_path, "", name="ring", suites=("unit", "ring"))
    for wanted in ([], ["unit"], ["ring"], ["unit/ring"], ["gst", "unit"]):
        assert test.is_wanted(wanted)
    for wanted in (["gst"], ["unit/ring_threads"], ["rin"]):
        assert not test.is_wanted(wanted)


def test_what_judges_times_and_what_is_roots_runs_only_by_name(tmp_path: Path) -> None:
    slow = make_test(tmp_path, "", name="rates", suites=("safety", "long"))
    for wanted in (["long"], ["safety/rates"], ["unit", "long/rates"]):
        assert slow.is_wanted(wanted)
    for wanted in ([], ["safety"], ["safety/rate", "root"]):
        assert not slow.is_wanted(wanted)
    roots = make_test(tmp_path, "", name="units", suites=("root",))
    assert roots.is_wanted(["root"]) and not roots.is_wanted([])


def test_the_name_of_a_case_is_whole(tmp_path: Path) -> None:
    """Also where its parameter is a path: who looks for it knows the whole name."""
    file = tmp_path / "test_paths.py"
    file.write_text(
        "import pytest\n@pytest.mark.parametrize('n', ['a/b'])\ndef test_path(n): pass\n"
    )
    said = subprocess.run([TESTS / "pytest-tap", file], capture_output=True, text=True).stdout
    assert said == "ok 1 - test_paths.py::test_path[a/b]\n1..1\n"


def load_command() -> ModuleType:
    loader = SourceFileLoader("test_command", str(TOP / "scripts/test"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    command = module_from_spec(spec)
    loader.exec_module(command)
    return command


def test_an_emulated_machine_boots_none_and_has_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GIDWAY_ARCH", raising=False)
    suites = (("unit",), ("vm", "guest"), ("vm", "own-kernel"))
    tests = [make_test(tmp_path, "true", suites=each) for each in suites]
    options = Namespace(wanted=["unit", "vm"], deep=False, quick=False)
    choose = load_command().choose
    assert choose(tests, options, False) == tests
    assert choose(tests, options, True) == tests[:1]
    here = tests[0].limit
    monkeypatch.setenv("GIDWAY_ARCH", "arm64")
    assert tests[0].limit == 3 * here


def test_quick_says_when_nothing_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = [make_test(tmp_path, "true", suites=each) for each in (("unit",), ("vm", "guest"))]
    command = load_command()

    def run(*wanted: str) -> None:
        options = Namespace(wanted=list(wanted), deep=False, quick=True)
        command.refuse_none(command.choose(tests, options, False), options)

    run("unit", "vm")
    with pytest.raises(SystemExit) as ended:
        run("vm")
    assert ended.value.code == 2
    assert "--quick leaves out all of vm" in capsys.readouterr().err


def test_a_run_that_is_ended_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended(Pool):
        def run(self, feed: object) -> None:
            self.outcomes.append(Outcome(make_test(tmp_path, "true"), 1.0, [Case("x", "passed")]))
            sys.exit(143)  # as main() does when it is told to end

    command = load_command()
    monkeypatch.setattr(command, "Pool", Ended)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["test", "fuzz"])
    monkeypatch.setenv("GIDWAY_BUILD", str(tmp_path))
    with pytest.raises(SystemExit):
        command.main()
    assert [result.title for result in read_results(tmp_path)] == ["s/sample"]
