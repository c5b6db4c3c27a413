# SPDX-License-Identifier: MIT
"""gid-timeline simulate: pacing policies against workloads, in virtual time."""

import argparse

import gid_console

from ..simulate import outcomes, recorded, workloads
from ..simulate.gidway import PacingLibraryError
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

_FORMATS = {
    "text": outcomes.text,
    "markdown": outcomes.markdown,
    "json": outcomes.to_json,
    "csv": outcomes.csv_lines,
}
_SUFFIXES = {".txt": "text", ".md": "markdown", ".json": "json", ".csv": "csv"}


def add(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "simulate",
        help="pacing policies in virtual time",
        description="Compares how compositors choose the time of a repaint, on the same workloads, "
        "by a simulated output with a refresh and misses.",
    )
    command.add_argument(
        "log",
        metavar="LOG",
        nargs="?",
        help="repaint costs and commits of a real run (default: invented workloads)",
    )
    command.add_argument(
        "--workload",
        choices=list(workloads.WORKLOADS),
        action="append",
        help="only this workload; may be given several times",
    )
    command.add_argument(
        "--log-output",
        metavar="NAME",
        help="the output of the log (default: the one with most frames)",
    )
    add_refresh(command)
    command.add_argument(
        "--frames",
        type=gid_console.whole_number(1, 10_000_000),
        metavar="N",
        help=f"repaints of invented workloads (default: {workloads.FRAMES})",
    )
    command.add_argument(
        "--seed",
        type=gid_console.whole_number(0, 2**63 - 1),
        default=1,
        metavar="N",
        help="seed of the random numbers (default: %(default)s)",
    )
    command.add_argument(
        "--miss-rate",
        type=gid_console.decimal_number(0.00001, 0.1),
        default=0.001,
        metavar="SHARE",
        help="share of frames that may miss their refresh (default: %(default)s)",
    )
    add_output(command, list(_FORMATS), _SUFFIXES)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    form = form_for(options, _SUFFIXES, "text")
    if not options.log and (options.log_output or options.refresh):
        raise UserError("--log-output and --refresh describe a log: name the log, too")
    if options.log and (options.workload or options.frames is not None):
        raise UserError("a log is a workload of its own: leave out --workload and --frames")
    try:
        table = outcomes.run(_workloads(options), options.miss_rate)
    except (recorded.RecordError, PacingLibraryError) as error:
        raise UserError(str(error)) from error
    write(options.output, _FORMATS[form](table, paint_for(options.output)))
    return 0


def _workloads(options: argparse.Namespace) -> list[workloads.Workload]:
    if options.log:
        rates = refresh_rates(options.refresh)
        trace = load(options.log).trace
        check_outputs(rates, trace)
        return [recorded.workload(trace, options.log_output, rates)]
    names = options.workload or list(workloads.WORKLOADS)
    return [workloads.make(name, options.seed, _frames(options)) for name in names]


def _frames(options: argparse.Namespace) -> int:
    return workloads.FRAMES if options.frames is None else options.frames
