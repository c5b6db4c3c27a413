# SPDX-License-Identifier: MIT
"""What the demo says while it runs: a line for each step, and one that changes in place."""

import os
import shutil
import sys
import time


class Progress:
    """On stderr. Colours and changing lines on a terminal only; NO_COLOR is respected."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._colours = self._terminal and "NO_COLOR" not in os.environ
        self._open = False  # a line that changes in place is on the screen
        self._last = 0.0

    def say(self, text: str) -> None:
        self._close()
        print(text, file=sys.stderr, flush=True)

    def done(self, text: str) -> None:
        self.say(f"{self._paint('✓', 32)} {text}")

    def fail(self, text: str) -> None:
        self.say(f"{self._paint('✗', 31)} {text}")

    def update(self, text: str) -> None:
        """In place; where that cannot be, a line every two seconds."""
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{text[:width]}", end="", file=sys.stderr, flush=True)
            self._open = True
        elif time.monotonic() - self._last >= 2:
            self._last = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def _close(self) -> None:
        if self._open:
            print("\r\x1b[K", end="", file=sys.stderr)
            self._open = False

    def _paint(self, text: str, colour: int) -> str:
        return f"\x1b[{colour}m{text}\x1b[m" if self._colours else text
