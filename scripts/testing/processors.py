# SPDX-License-Identifier: MIT
"""How much of the processors was free lately, and how much other machines took away."""

import time
from pathlib import Path

_STAT = Path("/proc/stat")
_SECONDS = 1.0  # of a look: shorter ones see only what happens to wait just now

# Of the numbers in /proc/stat's first line.
_NICE, _IDLE, _IOWAIT, _STEAL = 1, 3, 4, 7


class Processors:
    def __init__(self, stat: Path = _STAT) -> None:
        self._stat = stat
        self.look_anew()
        self._first = self._times

    def look_anew(self) -> None:
        """What was seen so far no longer counts."""
        self._begin, self._times = time.monotonic(), self._read()

    def free(self) -> float | None:
        """The part, from 0 to 1, that was free since the last look; None: that is not long ago.

        What gives way to others (nice) does not use any. Nor do processors that are waited for.
        """
        if time.monotonic() - self._begin < _SECONDS:
            return None
        before = self._times
        self.look_anew()
        spent = [now - then for now, then in zip(self._times, before, strict=True)]
        free = spent[_NICE] + spent[_IDLE] + spent[_IOWAIT]
        return free / sum(spent) if sum(spent) > 0 else 0.0

    def stolen(self) -> float:
        """The part, from 0 to 1, that the host gave to others since the beginning, as it says."""
        spent = [now - then for now, then in zip(self._read(), self._first, strict=True)]
        return spent[_STEAL] / sum(spent) if sum(spent) > 0 else 0.0

    def _read(self) -> list[int]:
        """Of user, nice, system, idle, iowait, irq, softirq and steal; guests are in user."""
        try:
            return [int(word) for word in self._stat.read_text().splitlines()[0].split()[1:9]]
        except (OSError, ValueError, IndexError):
            return [0] * 8  # somebody hides it: nothing is free then
