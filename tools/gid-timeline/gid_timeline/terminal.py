# SPDX-License-Identifier: MIT
"""Colours and widths in a terminal, and progress of what takes long."""

import re
import shutil
import sys
import time
import unicodedata
from typing import TextIO

import gid_console

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_COLOURS = re.compile(rf"({_COLOUR.pattern})")


class Paint:
    """What the stream can show: colours, where it is a terminal and NO_COLOR is not set.

    `width` and `height` are those of the terminal now, None where the stream is none.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._terminal = stream is not None and stream.isatty()
        self.on = gid_console.has_colours(stream)

    @property
    def width(self) -> int | None:
        return shutil.get_terminal_size().columns if self._terminal else None

    @property
    def height(self) -> int | None:
        return shutil.get_terminal_size().lines if self._terminal else None

    def bold(self, text: str) -> str:
        return self._with("1", text)

    def dim(self, text: str) -> str:
        return self._with("2", text)

    def red(self, text: str) -> str:
        return self._with("31", text)

    def green(self, text: str) -> str:
        return self._with("32", text)

    def _with(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[m" if self.on else text


def width_of(text: str) -> int:
    """Columns that `text` takes in a terminal, colours left out."""
    text = _COLOUR.sub("", text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def shorten(text: str, width: int) -> str:
    """As much of the text as has room: its beginning and its end, which tell labels apart."""
    if width_of(text) <= width:
        return text
    head, tail = _part(text, (width - 1) // 2), _part(text[::-1], width // 2)
    return f"{head}…{tail[::-1]}"


def cut(line: str, width: int) -> str:
    """As much of a line's beginning as has room, with all of its colours."""
    pieces, room = [], width
    for piece in _COLOURS.split(line):
        if not _COLOUR.fullmatch(piece):
            piece = _part(piece, room)
            room -= width_of(piece)
        pieces.append(piece)
    return "".join(pieces)


def _part(text: str, width: int) -> str:
    """The beginning of the text that is not wider."""
    end = 0
    while end < len(text) and width_of(text[: end + 1]) <= width:
        end += 1
    return text[:end]


def printable(label: str) -> str:
    """A label is the client's: it must not move the cursor or colour the terminal."""
    return "".join(char if char.isprintable() else "�" for char in label)


class Progress:
    """A line on standard error, from the first second on, where that is a terminal."""

    def __init__(self, what: str, total: int | None) -> None:
        self._what = what
        self._total = total
        self._start = time.monotonic()
        self._next = self._start + 1
        self._shown = False

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if now < self._next or not gid_console.obeys(sys.stderr):
            return
        self._next = now + 0.2
        rate = done / (now - self._start) / 1e6
        part = f"{100 * done / self._total:3.0f} % of " if self._total else ""
        size = (self._total or done) / 1e6
        sys.stderr.write(f"\r\x1b[K{self._what}: {part}{size:.0f} MB, {rate:.0f} MB/s")
        sys.stderr.flush()
        self._shown = True

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
