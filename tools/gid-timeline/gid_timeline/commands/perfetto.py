# SPDX-License-Identifier: MIT
"""gid-timeline perfetto: a trace to be opened in the Perfetto UI."""

import argparse
import itertools
import sys

from .. import perfetto
from ..join import join
from ..refresh import measure
from .common import (
    UserError,
    add_perfetto,
    add_refresh,
    check_outputs,
    load,
    perfetto_events,
    refresh_rates,
    write,
)

_BESIDE = 1_000_000_000  # ns before and after the log: what began before it, or ends after it


def add(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "perfetto",
        help="a trace for the Perfetto UI",
        description="Writes a trace in JSON, to be opened in the Perfetto UI or chrome://tracing.",
    )
    command.add_argument("log", metavar="LOG", help="the log, or - for standard input")
    command.add_argument("-o", "--output", metavar="FILE", help="write to FILE (usually .json)")
    add_perfetto(command)
    add_refresh(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.output is None and sys.stdout.isatty():
        raise UserError("a trace is not for a terminal: name a file with -o FILE")
    rates = refresh_rates(options.refresh)
    trace = load(options.log).trace
    check_outputs(rates, trace)
    refreshes = measure(trace, rates)
    more = perfetto.stream_events(join(trace.gid)[0])
    if options.perfetto:
        first, last = trace.span
        events = perfetto_events(options.perfetto, first - _BESIDE, last + _BESIDE)
        more = itertools.chain(more, events)
    write(options.output, perfetto.render(trace, refreshes, more))
    return 0
