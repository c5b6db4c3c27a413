# SPDX-License-Identifier: MIT
"""gid-timeline report: the figures of each output and surface."""

import argparse
import sys
from collections.abc import Iterable

from .. import html, json_csv, text
from ..report import Report, build
from .common import (
    UserError,
    add_output,
    add_refresh,
    check_outputs,
    csv_for,
    form_for,
    load,
    paint_for,
    refresh_rates,
    title,
    write,
)

_FORMATS = ("text", "html", "json", "csv", "frames-csv")
SUFFIXES = {
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".csv": "csv",
}


def add(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "report",
        help="the figures of each output and surface, and of gidway's streams",
        description="The figures of each output, surface and stream. An .html file has all of them "
        "and each frame, in one page. Several logs, as of all domains, become one report.",
    )
    command.add_argument(
        "logs", metavar="LOG", nargs="+", help="a log of any domain, or - for standard input"
    )
    add_output(command, _FORMATS, SUFFIXES)
    command.add_argument(
        "--title", metavar="TEXT", help="the title (default: the names of the logs)"
    )
    command.add_argument(
        "--table",
        choices=["processing"],
        help="only average, maximum and outliers of the repaint cost",
    )
    add_refresh(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    form = form_for(options, SUFFIXES)
    rates = refresh_rates(options.refresh)
    if options.table and form != "text":
        raise UserError(
            f"--table {options.table} is text: leave out --format {form}, or the suffix"
        )
    check_page(form, options.output)
    loaded = load(*options.logs)
    check_outputs(rates, loaded.trace)
    built = build(loaded, options.title or title(options.logs), rates)
    write(options.output, _pieces(built, form, options))
    return 0


def check_page(form: str, output: str | None) -> None:
    """A page with other people's labels in it does a terminal no good."""
    if form == "html" and output is None and sys.stdout.isatty():
        raise UserError("a page is not for a terminal: name a file with -o FILE.html")


def _pieces(built: Report, form: str, options: argparse.Namespace) -> Iterable[str | bytes]:
    paint = paint_for(options.output)
    if options.table == "processing":
        return [text.processing(built, paint)]
    if form == "text":
        return [text.render(built, paint)]
    if form == "html":
        return [html.render(built)]
    if form == "json":
        return [json_csv.to_json(built)]
    lines = json_csv.figures_csv if form == "csv" else json_csv.frames_csv
    return csv_for(options.output, lines(built))
