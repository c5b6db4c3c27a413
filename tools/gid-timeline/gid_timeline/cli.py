# SPDX-License-Identifier: MIT
"""The command line: its subcommands are the modules of commands/."""

import argparse

import gid_console

from .commands import compare, follow, incident, join, perfetto, report, simulate
from .commands.common import UserError

_COMMANDS = (report, compare, join, follow, perfetto, incident, simulate)


def main(arguments: list[str] | None = None, version: str = "") -> int:
    """Runs the command line; `version` is what --version says.

    Returns the exit status: 0, 1 where a condition failed, 2 for what the user can put right.
    """
    return gid_console.run(
        "gid-timeline", lambda: _run(arguments, version), trouble=(UserError,), failure=2
    )


def _run(arguments: list[str] | None, version: str) -> int:
    options = gid_console.parse(_parser(version), arguments)
    return options.run(options)


def _parser(version: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gid-timeline",
        description="Says where every millisecond of a frame goes, from the timeline log of "
        "Weston 14, 15 or 16 (weston --log=FILE --logger-scopes=timeline).",
        epilog="gid-timeline(1) says what each figure does and does not contain.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"gid-timeline {version}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser
