# SPDX-License-Identifier: MIT
"""The command gid-evaluate: run, and compare."""

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gid_console

from . import compare, output
from .outcome import CannotRun
from .plan import Plan
from .result import MISSED, NOT_RUN, BadResult, Chapter, Evaluation, figure_text, read
from .results import Results, now
from .run import AT_A_TIME, judge_anew, run_all
from .site import Site
from .systems import BadCommand, Native

RESULTS = "results"  # in DIR: what benchmarks gave, for chapters that are measured another time
COLOURS = {"met": "32", "measured": "0", "missed": "31", "not run": "33"}


def main(
    arguments: Sequence[str] | None = None,
    *,
    site: Site,
    version: str = "",
    describe: Callable[[], dict[str, Any]],
) -> int:
    """`describe`: the machine."""
    program = site.program

    def command() -> int:
        options = _parser(site, version).parse_args(arguments)
        if options.command == "compare":
            return _compare(options)
        try:
            return _run(options, site, describe(), version)
        except KeyboardInterrupt:
            if output.has_part(options.out):
                gid_console.tell(
                    f"\n{program}: interrupted; go on by the same command with --continue"
                )
            raise

    trouble = (BadCommand, BadResult, CannotRun)
    return gid_console.run(program, command, trouble=trouble, failure=2)


def _parser(site: Site, version: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=site.program,
        description="Measures a virtualised cockpit, chapter by chapter, and says which goals are "
        f"met: evaluation.html, evaluation.json and evaluation.csv. {site.about}",
    )
    parser.add_argument("-V", "--version", action="version", version=f"{site.program} {version}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    _add_run_options(parser, site)
    run = commands.add_parser("run", help="measures (also without this word)")
    _add_run_options(run, site)
    two = commands.add_parser(
        "compare", help="two evaluation.json: status 1 if something became worse"
    )
    two.add_argument("first", type=Path, metavar="BEFORE")
    two.add_argument("second", type=Path, metavar="AFTER")
    return parser


def _add_run_options(parser: argparse.ArgumentParser, site: Site) -> None:
    ids = " ".join(plan.id for plan in site.plans())
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help="short measurements (the default)")
    length.add_argument("--full", action="store_true", help="measurements to rely on")
    parser.add_argument(
        "--chapters",
        metavar="ID[,ID…]",
        help=f"only these of: {ids}",
        type=lambda text: [part.strip() for part in text.split(",")],
    )
    pieces = parser.add_mutually_exclusive_group()
    pieces.add_argument(
        "--continue",
        action="store_true",
        dest="goes_on",
        help="only the chapters that DIR does not have yet, or that were not run",
    )
    pieces.add_argument(
        "--again",
        action="store_true",
        help="these chapters once more; DIR keeps the others that it has",
    )
    parser.add_argument(
        "--plan", action="store_true", help="only tell how long each chapter takes, about"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("evaluation"), metavar="DIR", help="default: evaluation"
    )
    parser.add_argument(
        "--native",
        metavar="COMMAND",
        help="how to run a command on the native system, e.g. “ssh board”",
    )
    parser.add_argument(
        "--guest",
        metavar="COMMAND",
        help="how to run one in its guest; none: no guest (default: boot one)",
    )


# --- measuring ------------------------------------------------------------------------------------


def _run(options: argparse.Namespace, site: Site, machine: dict[str, Any], version: str) -> int:
    everything = plans = site.plans()
    if options.chapters:
        known = [plan.id for plan in plans]
        unknown = [one for one in options.chapters if one not in known]
        if unknown:
            print(
                f"{site.program}: no such chapter: {', '.join(unknown)}; there are: "
                f"{' '.join(known)}. {site.about}".rstrip(),
                file=sys.stderr,
            )
            return 2
        plans = [plan for plan in plans if plan.id in options.chapters]
    evaluation = _begun(options, site, machine)
    if not options.again:
        plans = [plan for plan in plans if not evaluation.has(plan.id)]
    if options.plan:
        _print_plan(plans, options.full)
        return 0
    output.prepare(options.out)
    native = Native(options.native)
    if not native.is_here:
        native.answer()
    results = Results(options.out / RESULTS, version, is_anew=options.again)
    results.prepare(goes_on=options.goes_on or options.again)
    with site.measuring(options, plans, native, results) as context:
        _set_guest(evaluation, context.how)
        progress = _Progress(plans, options.full)
        run_all(plans, context, evaluation, progress, partial(output.keep, options.out))
    order = [plan.id for plan in everything]
    evaluation.chapters.sort(key=lambda chapter: order.index(chapter.id))
    paths = output.write(options.out, evaluation)  # before anything that may fail
    for chapter in evaluation.chapters:
        print(_line(chapter))
    for path in paths:
        print(path)
    print(evaluation.headline)
    return evaluation.status


def _begun(options: argparse.Namespace, site: Site, machine: dict[str, Any]) -> Evaluation:
    """A new one, or the one to go on with. It has to be of the same machine and length."""
    mode = "full" if options.full else "quick"
    if not (options.goes_on or options.again):
        return Evaluation(machine, mode, "", now(), [])
    begun = output.kept(options.out)
    if begun.mode != mode:
        raise BadResult(f"{options.out} has a {begun.mode} evaluation: go on with --{begun.mode}")
    if begun.machine != machine:
        raise BadResult(f"{options.out} was measured on another machine, or with other versions")
    known = {plan.id: plan for plan in site.plans()}
    begun.chapters = [one for one in begun.chapters if one.id in known]
    for chapter in begun.chapters:
        judge_anew(chapter, known[chapter.id].goals_of(options.full, begun.guest))
    begun.continued.append(now())
    return begun


def _set_guest(evaluation: Evaluation, how: str) -> None:
    if evaluation.chapters and evaluation.guest != how:
        raise BadResult(f"it was begun with guest {evaluation.guest}, this one is {how}")
    evaluation.guest = how


def _print_plan(plans: Sequence[Plan], is_full: bool) -> None:
    minutes, first = _minutes(plans, is_full), {}
    for plan in plans:
        others = sorted({first[run] for run in plan.shares if run in first})
        after = f" (with {', '.join(others)})" if others else ""
        print(f"{minutes[plan.id]:6.1f} min  {plan.id:9} {plan.title}{after}")
        first = dict.fromkeys(plan.shares, plan.id) | first
    print(f"{_sum(plans, minutes):6.1f} min")


def _minutes(plans: Sequence[Plan], is_full: bool) -> dict[str, float]:
    """Of each; runs that several share count for the first of them."""
    minutes, counted = {}, set()
    for plan in plans:
        runs = set(plan.shares) - counted
        counted |= runs
        minutes[plan.id] = plan.minutes[is_full] + sum(run.minutes[is_full] for run in runs)
    return minutes


def _sum(plans: Sequence[Plan], minutes: dict[str, float]) -> float:
    """Chapters that need no quiet run side by side."""
    calm = [minutes[plan.id] for plan in plans if not plan.needs_quiet]
    together = max(sum(calm) / AT_A_TIME, max(calm, default=0.0))
    return together + sum(minutes[plan.id] for plan in plans if plan.needs_quiet)


class _Progress:
    """Which chapter runs and about how long the rest takes, on stderr."""

    def __init__(self, plans: Sequence[Plan], is_full: bool) -> None:
        self._minutes = _minutes(plans, is_full)
        self._left = dict(self._minutes)
        self._whole = _sum(plans, self._minutes)
        self._begin = time.monotonic()

    def __call__(self, plan: Plan) -> None:
        """Those of chapters that run side by side are not all done yet: about is enough."""
        ahead = sum(self._left.values()) / max(sum(self._minutes.values()), 1e-9)
        self._left.pop(plan.id, None)
        number = len(self._minutes) - len(self._left)
        planned, passed = self._whole * (1 - ahead), (time.monotonic() - self._begin) / 60
        # A minute of the plan counts as known: what runs first says little of the machine's pace.
        left = self._whole * ahead * (passed + 1) / (planned + 1)
        text = f"{number}/{len(self._minutes)} {plan.id} {plan.title}, {left:.0f} min left"
        begin, end = ("\r\x1b[K", "") if gid_console.obeys(sys.stderr) else ("", "\n")
        with contextlib.suppress(OSError):  # nobody reads it any more, but the result is wanted
            print(begin + text, end=end, file=sys.stderr, flush=True)


def _line(chapter: Chapter) -> str:
    verdict = f"{chapter.verdict:8}"
    if gid_console.has_colours(sys.stdout):
        verdict = f"\x1b[{COLOURS[chapter.verdict]}m{verdict}\x1b[0m"
    reason = (
        f": {chapter.reason}" if chapter.reason and chapter.verdict in (MISSED, NOT_RUN) else ""
    )
    again = f" (tried again: {len(chapter.again)})" if chapter.again else ""
    return f"{verdict} {chapter.id:9} {chapter.title}{reason}{again}"


# --- comparing ------------------------------------------------------------------------------------


def _compare(options: argparse.Namespace) -> int:
    first, second = read(options.first), read(options.second)
    _warn_if_unlike(first, second)
    changes = list(compare.changes(first, second))
    lost = compare.lost_verdicts(first, second)
    if not changes and not lost:
        raise BadResult(f"{options.first} and {options.second} have no figure in common")
    worse = [change for change in changes if change.is_worse]
    for change in worse:
        print(
            f"worse   {change.chapter:9} {change.name}: {figure_text(change.first)} → "
            f"{figure_text(change.second)} {change.unit} ({change.ratio:.2f} times)"
        )
    for line in lost:
        print(f"no longer met   {line}")
    if not worse and not lost:
        print("Nothing became worse.")
    gone = compare.count(first) - len(changes)
    if gone > 0:
        print(
            f"gid-evaluate: figures of {options.first} that are not in {options.second}: {gone}",
            file=sys.stderr,
        )
    return 1 if worse or lost else 0


def _warn_if_unlike(first: Evaluation, second: Evaluation) -> None:
    if first.mode != second.mode or first.guest != second.guest:
        print(
            f"gid-evaluate: unlike runs: {first.mode} with guest {first.guest}, and {second.mode} "
            f"with guest {second.guest}",
            file=sys.stderr,
        )
    if first.machine != second.machine:
        print("gid-evaluate: the two were measured on different machines", file=sys.stderr)
