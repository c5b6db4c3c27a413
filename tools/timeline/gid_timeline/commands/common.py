# SPDX-License-Identifier: MIT
"""What several subcommands do: open a log, read it, write the outcome, say what went wrong."""

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from .. import sentences
from ..gidpoints import GidPoints
from ..reader import Reader, read_into
from ..terminal import Paint, Progress
from ..trace import Trace


class UserError(Exception):
    """What the user can put right; the message says how."""


def load(name: str, gid: GidPoints | None = None) -> tuple[Trace, Reader]:
    """Reads a whole log, in which a timeline must be; "-" is standard input.

    `gid`: where to put gidway's points, if it is one log of several that are judged together.
    """
    trace = Trace(gid)
    with open_log(name) as file:
        total = os.fstat(file.fileno()).st_size if name != "-" else None
        progress = Progress(f"reading {name}", total)
        reader = read_into(trace, file, progress)
        progress.end()
    if gid is None and trace.is_empty:
        raise UserError(
            f"{name}: none of its {sentences.count(reader.lines, 'line')} is of a timeline: write "
            "it with `weston --log=FILE --logger-scopes=timeline`"
            if reader.lines
            else f"{name}: it is empty: write it with `weston --log=FILE --logger-scopes=timeline`"
        )
    return trace, reader


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


def form_for(options: argparse.Namespace, suffixes: dict[str, str]) -> str:
    """The form of the outcome: --format, else what the suffix of --output says, else text."""
    if options.format or options.output is None:
        return options.format or "text"
    suffix = Path(options.output).suffix
    if suffix not in suffixes:
        known = ", ".join(suffixes)
        raise UserError(f"{options.output}: its suffix must be one of {known}, or add --format")
    return suffixes[suffix]


def paint_for(output: str | None) -> Paint:
    return Paint(None if output else sys.stdout)


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
