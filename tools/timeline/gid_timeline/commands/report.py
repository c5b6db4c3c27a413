# SPDX-License-Identifier: MIT
"""gid-timeline report: the figures of each output and surface."""

import argparse
from collections.abc import Iterable

from .. import html, json_csv, text
from ..report import build
from .common import add_refresh, check_outputs, form_for, load, paint_for, refresh_rates, write

_FORMATS = ("text", "html", "json", "csv", "frames-csv")
_SUFFIXES = {
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".csv": "csv",
}


def add(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("report", help="the figures of each output and surface")
    command.add_argument("log", metavar="LOG", help="the log, or - for standard input")
    command.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE; its suffix chooses the format"
    )
    command.add_argument(
        "--format", choices=_FORMATS, help="the format, if the suffix does not choose it"
    )
    command.add_argument("--title", metavar="TEXT", help="the title (default: the name of the log)")
    command.add_argument(
        "--table",
        choices=["processing"],
        help="only average, maximum and outliers of the repaint cost",
    )
    add_refresh(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    form = form_for(options, _SUFFIXES)
    rates = refresh_rates(options.refresh)
    trace, reader = load(options.log)
    check_outputs(rates, trace)
    name = "standard input" if options.log == "-" else options.log
    built = build(trace, reader, options.title or name, rates)
    paint = paint_for(options.output)
    pieces: Iterable[str | bytes]
    if options.table == "processing":
        pieces = [text.processing(built, paint)]
    elif form == "text":
        pieces = [text.render(built, paint)]
    elif form == "html":
        pieces = [html.render(built)]
    elif form == "json":
        pieces = [json_csv.to_json(built)]
    elif form == "csv":
        pieces = json_csv.figures_csv(built)
    else:
        pieces = json_csv.frames_csv(built)
    write(options.output, pieces)
    return 0
