# SPDX-License-Identifier: MIT
"""What came of each requirement, failure and assumption: its tests with their results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from testing.one import Case
from testing.results import Result

from assuring.catalog import Catalog, Source
from assuring.kit import Assumption, Failure, Kit, Requirement, Rule, Step

# From the worst on. Only the last one is none of a gap.
VERDICTS = ("failed", "not run", "skipped", "passed")

# What shows a requirement as a test does: a command of which the report has the findings.
COVERAGE = "run coverage"
COMMANDS = (COVERAGE,)


@dataclass(frozen=True)
class TestResult:
    """`why`: of what is not passed, or which cases of it were skipped. `only_alone`: it failed
    beside other tests, and then passed by itself.
    """

    __test__ = False
    name: str
    verdict: str
    why: str = ""
    cases: int = 0
    only_alone: bool = False

    @property
    def is_red(self) -> bool:
        return self.verdict != "passed"


@dataclass(frozen=True)
class Row:
    """A requirement, a failure, an assumption, a rule or a step with the results of its tests."""

    item: Requirement | Failure | Assumption | Rule | Step
    tests: tuple[TestResult, ...]
    timed: tuple[TestResult, ...] = ()
    gaps: tuple[str, ...] = ()

    @property
    def is_red(self) -> bool:
        return bool(self.gaps) or any(test.is_red for test in (*self.tests, *self.timed))


class Judge:
    """Knows all results; says what a name of a test gave, in this state of the files."""

    def __init__(
        self,
        catalog: Catalog,
        results: Iterable[Result],
        tree: str,
        commands: Mapping[str, TestResult],
    ) -> None:
        self._catalog = catalog
        self._tree = tree
        self._commands = commands
        self._by_title: dict[str, list[Result]] = {}
        for result in results:
            self._by_title.setdefault(result.title, []).append(result)

    def of(self, name: str) -> TestResult:
        if name in COMMANDS:
            nothing = TestResult(name, "not run", "it did not run with just these files")
            return self._commands.get(name, nothing)
        path, _, function = name.partition("::")
        source = self._catalog.sources[path]
        if not source.runs:
            return TestResult(name, "not run", "this build does not have it")
        cases: list[Case] = []
        at_first: list[Case] = []
        for test in source.runs:  # root has cases of its own, and long ones are more
            results = self._by_title.get(test.title, [])
            current = [result for result in results if result.tree == self._tree]
            if not current and test in source.usual:
                why = "it ran with other files" if results else "it did not run"
                return TestResult(name, "not run", why)
            cases += [case for result in current for case in result.cases]
            at_first += [case for result in current for case in result.at_first]
        found = _verdict(name, _cases_of(source, function, cases))
        return replace(found, only_alone=bool(_cases_of(source, function, at_first)))


def _cases_of(source: Source, function: str, cases: Sequence[Case]) -> list[Case]:
    """Of a function of Python its own, and what failed of the file as a whole."""
    if not function or not source.is_python:
        return list(cases)
    mine = []
    for case in cases:
        _, is_case, called = case.name.partition("::")
        if not is_case and case.outcome != "passed":
            mine.append(case)
        elif called == function or called.startswith((f"{function}[", f"{function} (")):
            mine.append(case)
    return mine


def _verdict(name: str, cases: Sequence[Case]) -> TestResult:
    by = {
        outcome: [case for case in cases if case.outcome == outcome]
        for outcome in ("failed", "passed", "skipped")
    }
    if by["failed"]:
        return TestResult(name, "failed", by["failed"][0].name, len(cases))
    reasons = "; ".join(dict.fromkeys(case.why for case in by["skipped"] if case.why))
    if by["passed"]:
        skipped = f"{len(by['skipped'])} skipped: {reasons}" if by["skipped"] else ""
        return TestResult(name, "passed", skipped, len(cases))
    if by["skipped"]:
        return TestResult(name, "skipped", reasons, len(cases))
    return TestResult(name, "not run", "no case of it is among the results")


@dataclass(frozen=True)
class Verdicts:
    kit: Kit
    requirements: tuple[Row, ...]
    failures: tuple[Row, ...]
    assumptions: tuple[Row, ...]
    rules: tuple[Row, ...]
    way: tuple[Row, ...]
    not_analysed: tuple[tuple[str, str], ...]
    uncovered: tuple[str, ...]
    without_file: tuple[str, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        of_kit = (*self.requirements, *self.failures, *self.assumptions)
        return (*of_kit, *self.rules, *self.way)

    @property
    def only_alone(self) -> list[str]:
        """The names of tests that failed beside others, and passed by themselves."""
        tests = [test for row in self.rows for test in (*row.tests, *row.timed)]
        return sorted({test.name for test in tests if test.only_alone})

    @cached_property
    def red(self) -> dict[str, int]:
        """How many of each kind; together they are what assurance.json says."""
        return {
            "requirements": sum(row.is_red for row in self.requirements),
            "failures": sum(row.is_red for row in self.failures),
            "assumptions": sum(row.is_red for row in self.assumptions),
            "rules": sum(row.is_red for row in self.rules),
            "steps of a light's way": sum(row.is_red for row in self.way),
            "not analysed": len(self.not_analysed),
            "tests without a requirement": len(self.uncovered) + len(self.without_file),
        }


def of_commands(coverage: dict | None) -> dict[str, TestResult]:
    """By what they wrote of just these files; None: they did not."""
    if coverage is None:
        return {}
    missing = [line for source in coverage["sources"] for line in source["missing"]]
    without = coverage["without_reason"]
    why = f"{without} of {len(missing)} without a reason" if without else ""
    return {COVERAGE: TestResult(COVERAGE, "failed" if without else "passed", why, len(missing))}


def judge(
    kit: Kit,
    catalog: Catalog,
    results: Iterable[Result],
    tree: str,
    commands: Mapping[str, TestResult] | None = None,
) -> Verdicts:
    """All names of the kit must be known to the catalogue: name_errors() says so."""
    judge = Judge(catalog, results, tree, commands or {})

    def looked_at(names: Sequence[str]) -> tuple[TestResult, ...]:
        return tuple(judge.of(name) for name in names)

    requirements = [
        Row(item, looked_at(item.tests), gaps=() if item.tests else ("no test shows it",))
        for item in kit.requirements
    ]
    failures = []
    for item in kit.failures:
        gaps = [] if item.injected else ["no test makes this fault"]
        gaps += [] if item.timed else ["the time to react is not measured"]
        failures.append(Row(item, looked_at(item.injected), looked_at(item.timed), tuple(gaps)))
    assumptions = []
    for item in kit.assumptions:
        gaps = [] if item.checked else ["no command of ours looks for it on the machine"]
        gaps += [] if item.tests else ["no test shows that it would be found"]
        assumptions.append(Row(item, looked_at(item.tests), gaps=tuple(gaps)))
    rules = []
    for item in kit.rules:
        gaps = () if item.checked or item.deviation else ("nothing checks it",)
        tests = [name for name in item.checked if name.startswith("tests/")]
        rules.append(Row(item, looked_at(tests), gaps=gaps))
    of_requirements = [name for item in kit.requirements for name in item.tests]
    return Verdicts(
        kit,
        tuple(requirements),
        tuple(failures),
        tuple(assumptions),
        tuple(rules),
        tuple(Row(step, looked_at(step.tests)) for step in kit.way),
        tuple(kit.not_analysed()),
        tuple(catalog.uncovered(of_requirements)),
        tuple(test.title for test in catalog.without_file),
    )


def name_errors(kit: Kit, catalog: Catalog) -> list[str]:
    """A line for each test that is named and is not there, or command that shows nothing."""
    errors = [
        f"assurance/{place}: {name}: {problem}"
        for name, place in kit.named_tests()
        if (problem := catalog.problem(name))
    ]
    return errors + [
        f"assurance/{item.place}: {name}: only these commands show a requirement: "
        + ", ".join(COMMANDS)
        for item in kit.requirements
        for name in item.tests
        if name.startswith("run ") and name not in COMMANDS
    ]
