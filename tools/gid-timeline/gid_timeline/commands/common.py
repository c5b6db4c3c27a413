# SPDX-License-Identifier: MIT
"""What several subcommands do: open a log, read it, write the outcome, say what went wrong."""

import argparse
import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from .. import sentences
from ..pipe import Pipe
from ..reader import Loaded, read_into
from ..terminal import Paint, Progress, printable
from ..trace import Trace


class UserError(Exception):
    """What the user can put right; the message says how."""


def load(*names: str) -> Loaded:
    """Reads whole logs, in one of which at least a timeline must be; "-" is standard input."""
    if names.count("-") > 1:
        raise UserError("standard input can be read only once: name `-` once")
    loaded = Loaded()
    for name in names:
        _read(name, loaded)
    if len(loaded.empty) == len(names):
        which = " and ".join(names)
        what = "it is empty"
        if loaded.lines:
            what = f"none of its {sentences.count(loaded.lines, 'line')} is of a timeline"
        raise UserError(
            f"{which}: {what}: write it with `weston --log=FILE --logger-scopes=timeline`"
        )
    return loaded


def _read(name: str, loaded: Loaded) -> None:
    trace = loaded.trace
    trace.begin_log(name)
    extent = trace.extent
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open_log(name))
        status = os.fstat(file.fileno())
        is_file = stat.S_ISREG(status.st_mode)
        progress = Progress(f"reading {printable(name)}", status.st_size if is_file else None)
        source = file if is_file else stack.enter_context(Pipe(file))
        reader = read_into(trace, source, progress)
        progress.end()
    loaded.lines += reader.lines
    loaded.other += reader.other
    loaded.broken += reader.broken
    if trace.extent == extent:
        loaded.empty.append(name)


def add_perfetto(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--perfetto",
        metavar="TRACE",
        help="with the events of a trace in Perfetto's own format, as Weston's own",
    )


def perfetto_events(name: str, start: int, end: int) -> list[dict]:
    """Those of a trace in Perfetto's own format that were between two times, ns."""
    try:
        from .. import perfetto_trace
    except ImportError as error:  # of what nothing else needs
        raise UserError(f"{name}: it needs protobuf (python3-protobuf): {error}") from error
    with open_log(name) as file:
        try:
            trace = perfetto_trace.read(file)
            events = trace.json_events(start, end)
        except perfetto_trace.PerfettoTraceError as error:
            raise UserError(f"{name}: {error}") from error
    if not events:
        raise UserError(
            f"{name}: none of its {sentences.count(trace.count, 'event')} is of that time: it is "
            "of another time, or of a machine with another clock"
        )
    return events


def title(names: list[str]) -> str:
    """What a page or report of these logs is called."""
    return ", ".join("standard input" if name == "-" else name for name in names)


def open_log(name: str) -> BinaryIO:
    if name == "-":
        return sys.stdin.buffer
    try:
        return open(name, "rb")
    except OSError as error:
        raise UserError(f"{name}: {error.strerror}") from error


def write(output: str | None, pieces: Iterable[str | bytes]) -> None:
    """Writes to the file `output`, or to standard output."""
    try:
        file = open(output, "wb") if output else sys.stdout.buffer
        try:
            for piece in pieces:
                file.write(piece.encode(errors="replace") if isinstance(piece, str) else piece)
            file.flush()
        finally:
            if output:
                file.close()
    except OSError as error:
        error.filename = output or "standard output"
        raise


def form_for(
    options: argparse.Namespace, suffixes: dict[str, str], otherwise: str | None = None
) -> str:
    """The form of the outcome: --format, else what the suffix of --output says, else text.

    A suffix that says nothing is a mistake, if there is no form `otherwise`.
    """
    chosen = options.format
    if options.output is None:
        return chosen or "text"
    suffix = Path(options.output).suffix
    meant = suffixes.get(suffix, otherwise if chosen is None else None)
    if chosen is None and meant is None:
        known = ", ".join(suffixes)
        raise UserError(f"{options.output}: its suffix must be one of {known}, or add --format")
    # What a form is called may begin with what is in it: frames-csv.
    if chosen is not None and meant is not None and chosen.split("-")[-1] != meant:
        raise UserError(
            f"--format {chosen} contradicts the suffix of {options.output}, which says {meant}: "
            "change one of them"
        )
    return chosen or meant


def csv_for(output: str | None, lines: Iterable[str]) -> Iterable[str]:
    """Lines of CSV: the labels in it are clients', which a terminal must not obey."""
    if paint_for(output).width is None:
        return lines
    return (printable(line.rstrip("\n")) + "\n" for line in lines)


def paint_for(output: str | None) -> Paint:
    return Paint(None if output else sys.stdout)


def add_output(
    command: argparse.ArgumentParser, formats: Sequence[str], suffixes: dict[str, str]
) -> None:
    known = ", ".join(suffixes)
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"write to FILE; its suffix ({known}) chooses the format",
    )
    command.add_argument(
        "--format", choices=formats, help="the format, if no suffix chooses it (default: text)"
    )


def add_refresh(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--refresh",
        metavar="[OUTPUT=]HZ",
        action="append",
        default=[],
        help="the refresh rate, if the log does not tell it",
    )


def refresh_rates(words: list[str]) -> dict[str, float]:
    """What --refresh was given: rates in Hz by output, "" for all others."""
    rates = {}
    for word in words:
        name, _, rate = word.rpartition("=")
        try:
            rates[name] = float(rate)
        except ValueError:
            rates[name] = 0.0
        if not 1 <= rates[name] <= 1000:
            raise UserError(f"--refresh {word}: give a rate from 1 to 1000 Hz, or OUTPUT=HZ")
    return rates


def check_outputs(rates: dict[str, float], *traces: Trace) -> None:
    """A rate for an output that is in none of the logs is a slip of the pen."""
    names = {output.name for trace in traces for output in trace.outputs}
    for name in rates:
        if name and name not in names:
            there = ", ".join(sorted(names)) or "none"
            raise UserError(f"--refresh {name}=…: there is no such output; there are: {there}")
