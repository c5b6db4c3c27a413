# SPDX-License-Identifier: MIT
"""Progress messages of a program: a line for each step, and one that is updated in place."""

import shutil
import sys
import threading
import time

import gid_console

_AGAIN = 1.0  # seconds after which a running step is reported again
_LINES = 2.0  # seconds between lines if none can be updated in place


class Progress:
    """Messages on stderr. Colours and updated lines only on a capable terminal; respects NO_COLOR.

    The text of begin() or update() is the current step until the next message. A thread repeats it
    with the seconds that it has taken, so that a busy caller does not look stuck.
    """

    def __init__(self) -> None:
        self._terminal = gid_console.obeys(sys.stderr)
        self._colours = gid_console.has_colours(sys.stderr)
        self._open = False  # the last line on the screen is one that is updated
        self._last = 0.0
        self._step, self._since = "", 0.0
        self._lock = threading.RLock()
        threading.Thread(target=self._repeat, daemon=True).start()

    def say(self, text: str) -> None:
        with self._lock:
            self._step = ""
            self._line(text)

    def begin(self, text: str) -> None:
        """Reports a step that can take long."""
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
        """Updates the line in place; without a terminal, prints a line every two seconds."""
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
