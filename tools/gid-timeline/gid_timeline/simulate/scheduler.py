# SPDX-License-Identifier: MIT
"""One output of Weston 14 in virtual time: its repaint loop, its timer, and its display.

What is modelled: the repaint is scheduled one window before the next refresh; the timer counts
whole milliseconds, rounded down, at least one; it is late by what the workload says; a repaint
takes what the workload says; what is done less than the display's deadline before a refresh is
shown at the next one, and Weston repaints no more until then; with nothing to repaint the loop
ends, and the next commit starts it anew, to be in time for the next refresh it can still make.
"""

from dataclasses import dataclass, field
from typing import Protocol

MS = 1_000_000
NONE = -(1 << 63)  # GID_PACING_NONE


@dataclass(slots=True)
class Frame:
    """What a policy is told of a frame that was shown. Times in ns."""

    refresh: int
    due: int
    window_ms: int
    begin: int
    done: int
    shown: int
    arrival: int
    content_class: int

    @property
    def need(self) -> int:
        """From the start of the window until all was done: lateness and cost."""
        return self.done - self.due + self.window_ms * MS


class Policy(Protocol):
    name: str

    def next(self, frame: Frame | None) -> int:
        """The window in ms for the next repaint; None: the loop starts after a pause."""


@dataclass(slots=True)
class Repaint:
    """What one repaint will meet with."""

    cost: int
    lateness: int
    content_class: int = 1


@dataclass(slots=True)
class Workload:
    """Repaints in their order, and when clients commit.

    `commits`: the times of a producer with a clock of its own. `think`: how long a client that
    draws upon the frame callback takes from the end of a repaint to its next commit, in order.
    """

    name: str
    refresh: int
    repaints: list[Repaint]
    commits: list[int] = field(default_factory=list)
    think: list[int] = field(default_factory=list)
    deadline: int = 600_000  # before a refresh, for what that refresh shall show
    recorded: int | None = None  # the repaints of the log that it is of
    free_running: bool = False  # shows a frame a refresh after its repaint, with no grid


@dataclass(slots=True)
class Outcome:
    """What came of a workload under a policy."""

    latencies: list[int] = field(default_factory=list)  # commit → shown
    frames: int = 0
    late: int = 0
    superseded: int = 0
    window_sum: int = 0


class Display:
    """When a repaint that is done is shown, and by which refresh Weston counts."""

    def __init__(self, workload: Workload) -> None:
        self._refresh = workload.refresh
        self._deadline = workload.deadline
        self._free_running = workload.free_running

    def shown(self, begin: int, done: int) -> int:
        if self._free_running:
            return max(done, begin + 16 * MS)
        return -(-(done + self._deadline) // self._refresh) * self._refresh

    def last(self, time: int) -> int:
        """The refresh that Weston counts from when its loop starts."""
        return time if self._free_running else time // self._refresh * self._refresh


def simulate(workload: Workload, policy: Policy) -> Outcome:
    outcome = Outcome()
    clients = _Clients(workload)
    display = Display(workload)
    refresh = workload.refresh
    now = clients.first()
    running = False
    base = 0
    frame = None
    for repaint in workload.repaints:
        window = policy.next(frame)
        if not running:
            base = display.last(now)
        scheduled = base + refresh - window * MS
        while scheduled < now and not running:
            scheduled += refresh
        due = scheduled + window * MS
        fires = now + max((scheduled - now) // MS, 1) * MS
        begin = fires + repaint.lateness
        taken = clients.take(begin)
        if not taken:
            # Nothing to repaint: the loop ends, and begins anew with the next commit.
            if (now := clients.first_after(begin)) is None:
                break
            running, frame = False, None
            window = policy.next(None)
            base = display.last(now)
            scheduled = base + refresh - window * MS
            while scheduled < now:
                scheduled += refresh
            due = scheduled + window * MS
            begin = now + max((scheduled - now) // MS, 1) * MS + repaint.lateness
            taken = clients.take(begin)
        done = begin + repaint.cost
        shown = display.shown(begin, done)
        clients.repainted(done)
        outcome.frames += 1
        outcome.late += shown - due > refresh // 2
        outcome.superseded += len(taken) - 1
        outcome.window_sum += window
        outcome.latencies.append(shown - taken[-1])
        arrival = taken[-1] if workload.commits else NONE
        frame = Frame(refresh, due, window, begin, done, shown, arrival, repaint.content_class)
        now = shown + NOTICE
        base = shown
        running = True
    return outcome


# From a refresh until Weston has heard of it.
NOTICE = 30_000


class _Clients:
    """The commits that wait for a repaint."""

    def __init__(self, workload: Workload) -> None:
        self._think = iter(workload.think)
        self._commits = list(reversed(workload.commits))
        self._callback = NONE
        if workload.think:
            self._commits.append(0)

    def first(self) -> int:
        return self._commits[-1]

    def first_after(self, time: int) -> int | None:
        return self._commits[-1] if self._commits else None

    def take(self, time: int) -> list[int]:
        """What was committed up to `time`: the newest last."""
        taken = []
        while self._commits and self._commits[-1] <= time:
            taken.append(self._commits.pop())
        return taken

    def repainted(self, time: int) -> None:
        think = next(self._think, None)
        if think is not None:
            self._commits.append(time + think)
