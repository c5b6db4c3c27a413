# SPDX-License-Identifier: MIT
"""gid-timeline compare: two logs, and an exit status for CI."""

import argparse
import sys

import gid_console

from .. import sentences
from ..compare import SURE, Compared, Comparison, Pair, compare
from ..condition import ConditionError, parse
from ..json_csv import json_text, summary_data
from ..terminal import Paint
from ..text import table
from .common import (
    UserError,
    add_output,
    add_refresh,
    check_outputs,
    form_for,
    load,
    paint_for,
    refresh_rates,
    write,
)

_SUFFIXES = {".txt": "text", ".json": "json"}


def add(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("compare", help="two logs, with an exit status for CI")
    command.add_argument("before", metavar="BEFORE", help="the log to compare with")
    command.add_argument("after", metavar="AFTER", help="the log that may be worse")
    command.add_argument(
        "--fail-if",
        metavar="CONDITION",
        action="append",
        default=[],
        help="exit with 1 if it holds: 'repaint_p99 > 1.05' (ratio), 'late_share > 0.1%%' (value)",
    )
    command.add_argument(
        "--significant",
        action="store_true",
        help="fail by a ratio only if its whole confidence interval is beyond the bound",
    )
    command.add_argument(
        "--confidence",
        type=gid_console.decimal_number(0.5, 0.99999),
        default=0.95,
        metavar="SHARE",
        help="the confidence of the intervals (default: %(default)s)",
    )
    command.add_argument(
        "--seed",
        type=gid_console.whole_number(0, 2**63 - 1),
        default=1,
        metavar="N",
        help="seed of the random numbers (default: %(default)s)",
    )
    add_output(command, ["text", "json"], _SUFFIXES)
    add_refresh(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    form = form_for(options, _SUFFIXES, "text")
    try:
        conditions = [parse(text) for text in options.fail_if]
        rates = refresh_rates(options.refresh)
        before, after = (load(name).trace for name in (options.before, options.after))
        check_outputs(rates, before, after)
        compared = compare(before, after, rates, options.confidence, options.seed)
        _check_pairs(compared, options)
        failures = [
            failure
            for condition in conditions
            for failure in condition.failures(compared, options.significant)
        ]
    except ConditionError as error:
        raise UserError(f"--fail-if {error}") from error
    paint = paint_for(options.output)
    if form == "json":
        write(options.output, [_json(compared, failures)])
    else:
        write(options.output, [_text(compared, options, paint)])
    for failure in failures:
        print(f"gid-timeline: failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _check_pairs(compared: Comparison, options: argparse.Namespace) -> None:
    if not compared.pairs:
        sides = (options.before, compared.only_before), (options.after, compared.only_after)
        there = "; ".join(f"{log} has repaints of {_names(names)}" for log, names in sides)
        raise UserError(f"the logs have no output in common: {there}")


def _names(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _text(compared: Comparison, options: argparse.Namespace, paint: Paint) -> str:
    lines = [paint.bold(f"before: {options.before}   after: {options.after}")]
    for pair in compared.pairs:
        lines += ["", *_pair(pair, options.confidence, paint)]
    for names, which in ((compared.only_before, "before"), (compared.only_after, "after")):
        if names:
            lines.append(paint.dim(f"only {which}: {_names(names)}"))
    return "\n".join(lines) + "\n"


def _pair(pair: Pair, confidence: float, paint: Paint) -> list[str]:
    sure = f"{100 * confidence:g} %"
    header = ["ms", "p50 before", "after", "ratio", sure, "p99 before", "after", "ratio", sure]
    rows = [[*header, ""]]
    for one in pair.figures.values():
        cells = [cell for statistic in ("p50", "p99") for cell in _cells(one, statistic)]
        rows.append([one.figure.title, *cells, _verdict(one, paint)])
    before, after = pair.late_before, pair.late_after
    lines = [paint.bold(pair.name), *table(rows, paint, left=1)]
    if before.frames and after.frames:
        late = f"{before.late} of {before.frames} before, {after.late} of {after.frames} after"
        lines.append(f"  late frames: {late}")
    return lines


def _cells(one: Compared, statistic: str) -> list[str]:
    interval = one.intervals.get(statistic)
    bounds = f"{interval[0]:.3f}–{interval[1]:.3f}" if interval else "–"
    values = [sentences.ms(getattr(side, statistic)) for side in (one.before, one.after)]
    return [*values, f"{one.ratio(statistic):.3f}", bounds]


def _verdict(one: Compared, paint: Paint) -> str:
    interval = one.intervals.get("p50")
    if interval is None:
        return "too few"
    if interval[0] > 1:
        return paint.red("more")
    if interval[1] < 1:
        return paint.green("less")
    return "no difference shown"


def _json(compared: Comparison, failures: list[str]) -> bytes:
    document = {
        "outputs": [
            {
                "name": pair.name,
                "late_before": pair.late_before.late,
                "late_after": pair.late_after.late,
                "judged_before": pair.late_before.frames,
                "judged_after": pair.late_after.frames,
                "figures": {
                    key: {
                        "before": summary_data(one.before),
                        "after": summary_data(one.after),
                        "ratio": {statistic: one.ratio(statistic) for statistic in SURE},
                        "ratio_interval": one.intervals,
                    }
                    for key, one in pair.figures.items()
                },
            }
            for pair in compared.pairs
        ],
        "only_before": compared.only_before,
        "only_after": compared.only_after,
        "failures": failures,
    }
    return json_text(document)
