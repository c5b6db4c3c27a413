# SPDX-License-Identifier: MIT
"""How others choose the time of a repaint, each as its rule for Weston's repaint window.

Written from what these compositors do, not from their code; all are rounded up to whole ms and
kept from 1 ms to the refresh interval less 1 ms, as Weston does it.
"""

import math
from collections import deque

from .scheduler import MS, Frame

FALLBACK_MS = 7
VBLANK = 500_000  # the time between the last line of a picture and the first of the next, at 60 Hz


def window(nanoseconds: float, refresh: int) -> int:
    return max(1, min(math.ceil(nanoseconds / MS), refresh // MS - 1))


class Fixed:
    """Weston as it is."""

    def __init__(self, milliseconds: int = FALLBACK_MS) -> None:
        self.name = f"fixed {milliseconds} ms"
        self._window = milliseconds

    def next(self, frame: Frame | None) -> int:
        return self._window


class Mutter:
    """The longest update of the last second, or what is left of longer ones before; and 1.5 ms."""

    name = "Mutter's rule"

    def __init__(self) -> None:
        self._window = FALLBACK_MS
        self._short = 0
        self._long = 0
        self._promoted = 0

    def next(self, frame: Frame | None) -> int:
        if frame is None:
            return self._window
        self._short = max(self._short, min(frame.need, 2 * frame.refresh))
        if frame.shown - self._promoted >= 1000 * MS:
            if self._long > self._short:
                self._long -= (self._long - self._short) // 2
            else:
                self._long = self._short
            self._short = 0
            self._promoted = frame.shown
        longest = max(self._long, self._short)
        self._window = window(longest + VBLANK + 1 * MS, frame.refresh)
        return self._window


class KWin:
    """Mean and three standard deviations of the last 100 render times, and margins that learn."""

    name = "KWin's rule"

    def __init__(self) -> None:
        self._window = FALLBACK_MS
        self._times: deque[int] = deque(maxlen=100)
        self._more = 0

    def next(self, frame: Frame | None) -> int:
        if frame is None:
            return self._window
        self._times.append(frame.done - frame.begin)
        mean = sum(self._times) / len(self._times)
        squares = sum((time - mean) ** 2 for time in self._times)
        deviation = math.sqrt(squares / max(len(self._times) - 1, 1))
        slack = frame.due - VBLANK - frame.done
        if slack < 0:
            self._more -= slack
        else:
            self._more -= slack // 10
        self._more = max(0, min(self._more, 3 * MS))
        margin = VBLANK + 1.5 * MS + self._more
        self._window = window(mean + 3 * deviation + margin + 1 * MS, frame.refresh)
        return self._window


class Wlroots:
    """The proposal for wlroots: an estimate, fast up and slowly down, and a constant margin."""

    name = "wlroots proposal"

    def __init__(self) -> None:
        self._window = FALLBACK_MS
        self._estimate = 0.0

    def next(self, frame: Frame | None) -> int:
        if frame is None:
            return self._window
        cost = frame.done - frame.begin
        new = 0.9 if cost > self._estimate else 0.1
        self._estimate = new * cost + (1 - new) * self._estimate
        margin = max(1.5 * MS, frame.refresh / 20)
        self._window = window(self._estimate + margin, frame.refresh)
        return self._window
