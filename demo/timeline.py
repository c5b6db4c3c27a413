# SPDX-License-Identifier: MIT
"""What happened when: kept while the demo runs, for the report's timeline."""

import time
from dataclasses import dataclass, field

_WINDOW = 0.5  # seconds over which the display's frames are counted


@dataclass
class Recorder:
    """Times are CLOCK_MONOTONIC in ns, as in gid-cluster's status; in the result seconds."""

    begin: int = field(default_factory=time.monotonic_ns)
    events: list[dict] = field(default_factory=list)
    _frames: list[tuple[int, int]] = field(default_factory=list)

    def event(self, what: str) -> int:
        """Something happens now. Returns when that is."""
        now = time.monotonic_ns()
        self.events.append({"at": self._seconds(now), "what": what})
        return now

    def sample(self, status: dict) -> None:
        """gid-cluster's status as it is now."""
        self._frames.append((time.monotonic_ns(), status["frames"]))

    def result(self, status: dict) -> dict:
        """The timeline, with the last status, which knows the roles' transitions."""
        return {
            "end": self.events[-1]["at"],
            "events": self.events,
            "roles": {role["name"]: self._role(role) for role in status["roles"]},
            "cluster_fps": self._rates(),
        }

    def frames_between(self, begin: int, end: int) -> tuple[int, float]:
        """The display's, as far as samples tell: how many, and how many a second."""
        inside = [(at, count) for at, count in self._frames if begin <= at <= end]
        if len(inside) < 2:
            return 0, 0.0
        (first, before), (last, after) = inside[0], inside[-1]
        return after - before, (after - before) / (last - first) * 1e9

    def _seconds(self, ns: int) -> float:
        return round((ns - self.begin) / 1e9, 4)

    def _role(self, role: dict) -> list[dict]:
        return [
            {
                "at": self._seconds(one["decided_ns"]),
                "from": one["from"],
                "to": one["to"],
                "reason": one["reason"],
                "shown_after_ms": round((one["shown_ns"] - one["decided_ns"]) / 1e6, 2)
                if one["shown_ns"]
                else None,
            }
            for one in role["transitions"]
        ]

    def _rates(self) -> list[tuple[float, float]]:
        rates, begin = [], 0
        for index, (at, count) in enumerate(self._frames):
            then, before = self._frames[begin]
            if at - then >= _WINDOW * 1e9:
                rates.append((self._seconds(at), round((count - before) / (at - then) * 1e9, 2)))
                begin = index
        return rates
