# SPDX-License-Identifier: MIT
"""The command line: its subcommands are the modules of commands/."""

import argparse
import contextlib
import os
import sys

from .commands import compare, follow, join, perfetto, report, simulate
from .commands.common import UserError
from .terminal import printable

_COMMANDS = (report, compare, join, follow, perfetto, simulate)


def main(arguments: list[str] | None = None, version: str = "") -> int:
    """Runs the command line; `version` is what --version says.

    Returns the exit status: 0, 1 where a condition failed, 2 for what the user can put right.
    """
    _have_streams()
    options = _parser(version).parse_args(arguments)
    try:
        return options.run(options)
    except UserError as error:
        print(f"gid-timeline: {printable(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        _forget_output()  # its reader had enough
        return 0
    except OSError as error:
        _forget_output()
        where = f"{printable(str(error.filename))}: " if error.filename is not None else ""
        print(f"gid-timeline: {where}{error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _have_streams() -> None:
    """Python has none for those that were closed when it started."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))


def _forget_output() -> None:
    """What could not be written is not tried again at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser(version: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gid-timeline",
        description="Says where every millisecond of a frame goes, from the timeline log of "
        "Weston 14, 15 or 16 (weston --log=FILE --logger-scopes=timeline).",
        epilog="gid-timeline(1) says what each figure does and does not contain.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"gid-timeline {version}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add(commands)
    return parser
