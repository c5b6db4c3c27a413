# SPDX-License-Identifier: MIT
"""What `./run test` says in the end. Every case is counted once, in however many folders it ran."""

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path

from testing.one import Outcome

_WORST_FIRST = ("failed", "passed", "skipped")

# Tests that pass by themselves and failed in company: late once, or a race that only company shows.
# So many are forgiven.
FORGIVEN = 2

# A quarter of an hour: who changes something waits for no more, on two processors and without KVM.
CI_SECONDS = 900

# Of what failed: lines of pytest's, which say why.
_SHOWN_LINES = 30


def summary(
    outcomes: Sequence[Outcome], first: Sequence[Outcome] = (), problems: Sequence[str] = ()
) -> tuple[list[str], bool]:
    """The lines to print, and whether all is well.

    `first`: the failed runs of those tests that ran a second time, by themselves: more than
    FORGIVEN that pass then are one failure. `problems`: what kept tests from running at all; each
    counts as one that failed. A case that ran in several folders counts as what it was at its worst
    there.
    """
    cases: dict[tuple[str, str, int], str] = {}
    why: dict[tuple[str, str, int], str] = {}
    sanitized: dict[str, set[tuple[str, str, int]]] = {}
    failures: list[str] = [f"FAILED {problem}" for problem in problems]
    for outcome in outcomes:
        seen: dict[str, int] = {}
        for case in outcome.cases:
            seen[case.name] = seen.get(case.name, 0) + 1
            key = (outcome.test.title, case.name, seen[case.name])
            cases[key] = min(cases.get(key, "skipped"), case.outcome, key=_WORST_FIRST.index)
            why.setdefault(key, case.why)
            if outcome.test.sanitizer and case.outcome != "skipped":
                sanitized.setdefault(outcome.test.sanitizer, set()).add(key)
            if case.outcome == "failed":
                failures.append(
                    f"FAILED {outcome.test.folder.name}: {outcome.test.title} {case.name}"
                )
    lines = _untested({key: why[key] for key in cases if cases[key] == "skipped"})
    lines += _why(outcomes)
    forgiven = only_alone(outcomes, first)
    for outcome in forgiven:
        lines.append(f"passed by itself, failed in company: {_failed_cases(outcome)}")
        lines += [f"  {line.strip()}" for line in _why([outcome])[:3]]
    lines += failures
    too_many = len(forgiven) > FORGIVEN
    if too_many:
        lines.append(
            f"FAILED {len(forgiven)} tests pass only by themselves: at most {FORGIVEN} may"
        )
    if sanitized:
        parts = [f"{len(keys)} with {name}" for name, keys in sorted(sanitized.items())]
        lines.append(f"among them, each counted once: {', '.join(parts)}")
    count = {kind: list(cases.values()).count(kind) for kind in _WORST_FIRST}
    count["failed"] += len(problems) + too_many
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    lines.append(f"{count['passed']} passed, {count['failed']} failed{skipped}")
    return lines, bool(count["passed"]) and not count["failed"]


def only_alone(outcomes: Sequence[Outcome], first: Sequence[Outcome]) -> list[Outcome]:
    """The failed first runs of tests that then passed by themselves."""
    failed_twice = {id(outcome.test) for outcome in outcomes if outcome.has_failed}
    return [outcome for outcome in first if id(outcome.test) not in failed_twice]


def keep_log(path: Path, version: str, forgiven: Sequence[Outcome]) -> None:
    """A line for each, behind those of earlier runs: what is late once here and once there shows
    only over many runs."""
    if forgiven:
        day = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        with path.open("a", encoding="utf-8") as log:
            for outcome in forgiven:
                why = " | ".join(line.strip() for line in _why([outcome])[:3])
                print(f"{day} {version} {_failed_cases(outcome)}: {why}", file=log)


def _failed_cases(outcome: Outcome) -> str:
    names = [case.name for case in outcome.cases if case.outcome == "failed"]
    return f"{outcome.test.folder.name}: {outcome.test.title} ({', '.join(names)})"


def took(seconds: float, stolen: float, is_all: bool) -> str:
    """`stolen`: the part of the processors that other machines took."""
    bound = f" of the {CI_SECONDS} that .ci/run may take with what it makes first" if is_all else ""
    return f"In {seconds:.0f} s{bound}; other machines took {stolen:.1%} of the processors."


def dearest(outcomes: Sequence[Outcome], count: int = 10) -> list[str]:
    """The tests that used most of the processors, and what all of them used: a table."""
    most = sorted(outcomes, key=lambda outcome: -outcome.cpu_seconds)[:count]
    every = sum(outcome.cpu_seconds for outcome in outcomes)
    return [
        f"CPU seconds of all tests: {every:.0f}; most:",
        *(
            f"{outcome.cpu_seconds:8.1f} s of CPU in {outcome.seconds:6.1f} s  "
            f"{outcome.test.folder.name} {outcome.test.title}"
            for outcome in most
        ),
    ]


def _untested(skipped: Mapping[tuple[str, str, int], str]) -> list[str]:
    """Which tests did not run, or not all of their cases, by the reason for it."""
    tests: dict[str, list[str]] = {}
    for (title, _, _), why in skipped.items():
        tests.setdefault(why or "it does not say why", []).append(title)
    return [
        f"not tested ({why}): {', '.join(dict.fromkeys(titles))}"
        for why, titles in sorted(tests.items())
    ]


def _why(outcomes: Sequence[Outcome]) -> list[str]:
    said = [
        f"  {line[1:].strip()[:300]}"
        for outcome in outcomes
        if outcome.has_failed
        for line in outcome.log.splitlines()
        if line.startswith("E  ")
    ]
    return list(dict.fromkeys(said))[:_SHOWN_LINES]
