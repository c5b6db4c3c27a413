# SPDX-License-Identifier: MIT
"""How gidway's programs in Python begin and end, whatever their output is: a pipe, a full disk."""

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import argparse  # which takes long: begin() comes first

FAILURE = 1
INTERRUPTED = 130
FIGURES_MOST = 40  # of a number, which takes long to read if it has thousands


def begin() -> None:
    """Before a program imports what it is made of: until run() an interrupt ends it silently."""
    _use_utf8()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _use_utf8() -> None:
    """Files, their names and what other programs say are UTF-8, whatever the locale has: where
    Python would read them otherwise, it starts anew."""
    if sys.getfilesystemencoding() != "utf-8" and "utf8" not in sys._xoptions and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def run(
    program: str,
    main: Callable[[], int],
    *,
    trouble: tuple[type[Exception], ...] = (),
    failure: int = FAILURE,
) -> int:
    """Runs a program's main and returns its exit status, which `failure` is after an error.

    `trouble`: exceptions with a message for people; errors of the system are always told. An output
    whose reader had enough is no error, one that could not be written is.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    have_streams()
    status = 0
    try:
        status = main()
    except SystemExit as end:  # of argparse
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else failure
    except KeyboardInterrupt:
        status = INTERRUPTED
    except trouble as error:
        tell(f"{program}: {error}")
        status = failure
    except OSError as error:
        if output_error() is None:
            where = f"{error.filename}: " if error.filename is not None else ""
            tell(f"{program}: {where}{error.strerror or error}")
            status = failure
    return close_output(program, status, failure)


def parse(
    parser: "argparse.ArgumentParser", arguments: Sequence[str] | None
) -> "argparse.Namespace":
    """As parse_args(), for programs with commands, each of which sets `run`. That takes the word
    behind an option that it does not know for the command, and tells of that one. Of a command that
    is missing it tells no more than that."""
    words = sys.argv[1:] if arguments is None else arguments
    name = words[0].partition("=")[0] if words else ""
    known = parser._option_string_actions
    if name.startswith("--") and not any(option.startswith(name) for option in known):
        parser.error(f"unrecognized arguments: {name}")
    options = parser.parse_args(arguments)
    if not hasattr(options, "run"):
        commands = next(a.choices for a in parser._actions if isinstance(a.choices, dict))
        parser.error(f"which command? There are {', '.join(commands)}")
    return options


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """What an option takes: a number in figures alone."""
    return lambda word: int(_checked(word, word, least, most))


def decimal_number(least: float, most: float) -> Callable[[str], float]:
    """The same with a point in it, or none: no sign, no exponent, no infinity."""
    return lambda word: float(_checked(word, word.replace(".", "", 1), least, most))


def _checked(word: str, figures: str, least: float, most: float) -> str:
    from argparse import ArgumentTypeError

    if figures.isascii() and figures.isdigit() and len(figures) <= FIGURES_MOST:
        number = int(word) if word == figures else float(word)
        if least <= number <= most:
            return word
    span = f"from {_plain(least)} to {_plain(most)}"
    raise ArgumentTypeError(f"must be a number {span}, not {word!r}")


def _plain(number: float) -> str:
    return f"{number:f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)


def close_output(program: str, status: int, failure: int = FAILURE) -> int:
    """Writes what is left; the exit status is `failure` if that cannot be."""
    error = output_error()
    if error is None:
        return status
    forget_output()
    if isinstance(error, BrokenPipeError):
        return status
    tell(f"{program}: standard output: {error.strerror or error}")
    return failure


def have_streams() -> None:
    """Python has none for those that were closed when it started."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return
    if sys.stdout.write_through and sys.stdout is sys.__stdout__:
        # PYTHONUNBUFFERED: each write can fail, and argparse forgives those of --help.
        sys.stdout = open(sys.stdout.fileno(), "w", encoding=sys.stdout.encoding, closefd=False)
    # Names of files may be any bytes, and the terminal may have few characters.
    sys.stdout.reconfigure(errors="backslashreplace")


def output_error() -> OSError | None:
    """Why what was printed cannot be written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return error
    return None


def forget_output() -> None:
    """What could not be written is not tried again, nor what comes after it."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def obeys(stream: TextIO | None) -> bool:
    """Whether it is a terminal that obeys control sequences, as those of TERM=dumb do not."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(stream: TextIO | None) -> bool:
    """Whether what is written there has colours: on such a terminal, unless NO_COLOR is set."""
    return obeys(stream) and not os.environ.get("NO_COLOR")


def say(text: str) -> None:
    """Whoever read it may have ended: what was begun is done all the same."""
    try:
        print(text, flush=True)
    except OSError:
        forget_output()


def printable(text: str) -> str:
    """As a terminal can have it: no controls, no marks that turn a line, no bytes that are no text.

    What a guest, a log or a file says is somebody else's, and may be anything.
    """
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def tell(text: str) -> None:
    """On standard error, of which nobody is told if it cannot be written."""
    with contextlib.suppress(OSError):
        print(printable(text), file=sys.stderr, flush=True)
