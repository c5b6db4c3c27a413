# SPDX-License-Identifier: MIT
"""The command line: its subcommands are the modules of commands/."""

import argparse
import os
import sys

from .commands import compare, follow, join, perfetto, report, simulate
from .commands.common import UserError

_COMMANDS = (report, compare, join, follow, perfetto, simulate)


def main(arguments: list[str] | None = None, version: str = "") -> int:
    """Runs the command line; `version` is what --version says.

    Returns the exit status: 0, 1 where a condition failed, 2 for what the user can put right.
    """
    options = _parser(version).parse_args(arguments)
    try:
        return options.run(options)
    except UserError as error:
        print(f"gid-timeline: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output had enough. Nothing is left to be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


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
