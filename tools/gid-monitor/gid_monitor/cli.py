# SPDX-License-Identifier: MIT
"""The command line: make what watches over a drawing, and try it."""

import argparse
import json
from pathlib import Path

import gid_console

from . import make, trial
from .errors import DesignError
from .renderers import NAMES, REFERENCE

FRAMES = 10_000


def main(arguments: list[str] | None = None, version: str = "") -> int:
    """Returns the exit status: 0, 1 where something was not seen or alarmed falsely, 2 for what
    the user can put right.
    """
    return gid_console.run(
        "gid-monitor", lambda: _run(arguments, version), trouble=(DesignError,), failure=2
    )


def _run(arguments: list[str] | None, version: str) -> int:
    options = gid_console.parse(_parser(version), arguments)
    return options.run(options)


def _parser(version: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gid-monitor",
        description="Makes from a drawing of telltales what gid-cluster watches over them by, and "
        "shows that this sees each picture that is not as drawn.",
        epilog="gid-monitor(1) says how a drawing names its roles and lamps.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"gid-monitor {version}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_make(commands)
    _add_test(commands)
    return parser


def _add_make(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    limits = make.Limits()
    command = commands.add_parser(
        "make", help="roles, pictures and hashes from a drawing", description="Writes a folder."
    )
    command.add_argument(
        "design",
        type=Path,
        metavar="FILE",
        help="an SVG, or a table of PNGs, whose name ends with .ini",
    )
    command.add_argument("-o", "--out", type=Path, required=True, metavar="DIR")
    command.add_argument(
        "--at",
        type=_place,
        default=(limits.x, limits.y),
        metavar="X,Y",
        help="where the drawing's corner is on the output (default: 0,0)",
    )
    command.add_argument("--domain", metavar="NAME", help="who draws (default: our own domain)")
    command.add_argument("--output", metavar="NAME", help="where (default: the first output)")
    _add_number(
        command,
        "--deadline-ms",
        limits.deadline_ms,
        1,
        60000,
        "the longest time between two frames",
    )
    _add_number(
        command, "--good-frames", limits.good_frames, 1, 1000, "how many good ones end a failure"
    )
    _add_number(
        command,
        "--tolerance",
        limits.tolerance,
        0,
        255,
        f"how far a colour of a renderer may be from that of {REFERENCE}",
    )
    command.add_argument(
        "--renderers",
        type=_renderers,
        default=list(NAMES),
        metavar="NAME,…",
        help=f"whose pictures may be shown (default: {','.join(NAMES)})",
    )
    command.set_defaults(run=_make)


def _add_test(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "test",
        help="pictures that are not as drawn, before gid-cluster's own code",
        description="Tries what make has written.",
    )
    command.add_argument("folder", type=Path, metavar="DIR")
    _add_number(
        command, "--frames", FRAMES, 1, 10**9, "that are as drawn, and as many that are not"
    )
    _add_number(command, "--seed", 0, 0, 2**63 - 1, "another one chooses other changes")
    command.add_argument("--json", type=Path, metavar="FILE", help="write it there, too")
    command.set_defaults(run=_test)


def _add_number(
    command: argparse.ArgumentParser, name: str, default: int, least: int, most: int, what: str
) -> None:
    command.add_argument(
        name,
        type=gid_console.whole_number(least, most),
        default=default,
        metavar="N",
        help=f"{what} (default: {default})",
    )


def _place(word: str) -> tuple[int, int]:
    parts = word.split(",")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
        raise argparse.ArgumentTypeError(f"{word!r} is not X,Y in pixels")
    return int(parts[0]), int(parts[1])


def _renderers(word: str) -> list[str]:
    names = [REFERENCE, *(name for name in word.split(",") if name != REFERENCE)]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not one of {', '.join(NAMES)}")
    return list(dict.fromkeys(names))


def _make(options: argparse.Namespace) -> int:
    x, y = options.at
    limits = make.Limits(
        x,
        y,
        options.domain,
        options.output,
        options.deadline_ms,
        options.good_frames,
        options.tolerance,
    )
    print(*make.write(options.design, options.out, options.renderers, limits), sep="\n")
    return 0


def _test(options: argparse.Namespace) -> int:
    outcome = trial.run(options.folder, options.frames, options.seed)
    print(*outcome.table(), sep="\n")
    if options.json is not None:
        options.json.write_text(json.dumps(outcome.as_json(), indent=2) + "\n", encoding="utf-8")
    return 0 if outcome.is_good else 1
