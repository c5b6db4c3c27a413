# SPDX-License-Identifier: MIT
"""What a program says while it runs: a line for each step, and one that changes in place."""

import shutil
import sys
import threading
import time

import gid_console

_AGAIN = 1.0  # seconds after which a step that goes on says so
_LINES = 2.0  # seconds between lines where none can change in place


class Progress:
    """On stderr. Colours and changing lines on a terminal that can; NO_COLOR is respected.

    What was said by begin() or update() is under way until something else is said. It is said
    again and again, with the seconds that it takes, whatever its caller is busy with.
    """

    def __init__(self) -> None:
        self._terminal = gid_console.obeys(sys.stderr)
        self._colours = gid_console.has_colours(sys.stderr)
        self._open = False  # a line that changes in place is on the screen
        self._last = 0.0
        self._step, self._since = "", 0.0
        self._lock = threading.RLock()
        threading.Thread(target=self._repeat, daemon=True).start()

    def say(self, text: str) -> None:
        with self._lock:
            self._step = ""
            self._line(text)

    def begin(self, text: str) -> None:
        """A step that can take long."""
        with self._lock:
            if self._terminal:
                self.update(text)
            else:
                self.say(text)
                self._under_way(text)

    def done(self, text: str) -> None:
        self.say(f"{self._paint('✓', 32)} {text}")

    def fail(self, text: str) -> None:
        self.say(f"{self._paint('✗', 31)} {text}")

    def update(self, text: str) -> None:
        """In place; where that cannot be, a line every two seconds."""
        with self._lock:
            self._under_way(text)
            self._show(text)

    def _under_way(self, text: str) -> None:
        self._step, self._since = text, time.monotonic()

    def _repeat(self) -> None:
        while True:
            time.sleep(_AGAIN)
            with self._lock:
                seconds = time.monotonic() - self._since
                if self._step and seconds >= _AGAIN:
                    self._show(f"{self._step} ({seconds:.0f} s)")

    def _show(self, text: str) -> None:
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{text[:width]}", end="", file=sys.stderr, flush=True)
            self._open = True
        elif time.monotonic() - self._last >= _LINES:
            self._line(text)

    def _line(self, text: str) -> None:
        self._close()
        self._last = time.monotonic()
        print(text, file=sys.stderr, flush=True)

    def _close(self) -> None:
        if self._open:
            print("\r\x1b[K", end="", file=sys.stderr)
            self._open = False

    def _paint(self, text: str, colour: int) -> str:
        return f"\x1b[{colour}m{text}\x1b[m" if self._colours else text
