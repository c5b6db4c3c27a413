# SPDX-License-Identifier: MIT
"""gid-timeline follow: live figures in the terminal."""

import argparse
import sys

import gid_console

from ..follow import SPAN, Follower, follow
from ..terminal import Paint, cut
from .common import UserError, add_refresh, refresh_rates


def add(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "follow",
        help="live figures, of the last ten seconds",
        description="Follows a log that is being written: a file, or standard input as in "
        "`weston-debug timeline | gid-timeline follow -`.",
    )
    command.add_argument("log", metavar="LOG", help="the log, or - for standard input")
    command.add_argument(
        "--interval",
        type=gid_console.decimal_number(0.05, 3600),
        default=1.0,
        metavar="S",
        help="seconds between two updates (default: %(default)s)",
    )
    add_refresh(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    paint = Paint(sys.stdout)
    screen = _Screen(paint)
    try:
        follow(
            options.log,
            refresh_rates(options.refresh),
            options.interval,
            screen.show if gid_console.obeys(sys.stdout) else _show_line,
        )
    except OSError as error:
        if gid_console.output_error() is not None:
            raise  # not the log's: who reads the output had enough, or the disk is full
        raise UserError(f"{options.log}: {error.strerror}") from error
    return 0


def _show_line(follower: Follower) -> None:
    print(follower.line(), flush=True)


class _Screen:
    """Draws over what it drew before: so no line may be wider than the terminal, nor may there be
    more lines than it has."""

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._height = 0
        self._size: tuple[int, int] | None = None

    def show(self, follower: Follower) -> None:
        width, height = self._paint.width, self._paint.height
        title = f"the last {SPAN // 1_000_000_000} seconds, in ms; Ctrl-C ends"
        lines = [self._paint.bold(title), *follower.lines(self._paint)]
        if len(lines) >= height:
            left_out = f"  (too low for {len(lines) - height + 2} more lines)"
            lines = [*lines[: max(height - 2, 0)], self._paint.dim(left_out)]
        if self._size not in (None, (width, height)):
            up = "\x1b[H\x1b[2J"  # what was there has been wrapped anew
        else:
            up = f"\x1b[{self._height}A" if self._height else ""
        drawn = (f"\r\x1b[K{cut(line, width)}\n" for line in lines)
        sys.stdout.write(up + "".join(drawn) + "\x1b[J")
        sys.stdout.flush()
        self._height, self._size = len(lines), (width, height)
