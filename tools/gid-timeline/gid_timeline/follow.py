# SPDX-License-Identifier: MIT
"""A timeline as it is written: the figures of the last seconds, again and again."""

import os
import select
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from . import sentences
from .reader import CHUNK_BYTES, Reader
from .refresh import Refresh, estimate, late_frames
from .samples import Samples
from .stats import describe
from .table import Table
from .terminal import Paint, printable
from .text import table
from .trace import Trace

SPAN = 10_000_000_000  # ns that the figures look back
_SURFACES = 8
_HEADER = ["", "fps", "late", "repaint p50", "p99", "max", "commit → shown p50", "p99", "max"]
_COLUMNS = ["", "fps", "late", "repaint p50", "repaint p99", "repaint max"]
_COLUMNS += ["commit → shown p50", "commit → shown p99", "commit → shown max"]
# What a narrow terminal does without, in this order.
_DISPENSABLE = ("repaint max", "commit → shown max", "repaint p99", "commit → shown p99")
_DISPENSABLE += ("late", "repaint p50", "fps")
_POLL = 0.05  # s between looks at a file that may have grown


def pieces(name: str, interval: float) -> Iterator[bytes]:
    """What is written to a file or pipe, as it comes; b"" at least each `interval` seconds.

    Ends with a pipe. A file that is cut short (as a log that is started anew) is read from its
    beginning again.
    """
    descriptor = 0 if name == "-" else os.open(name, os.O_RDONLY)
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    due = time.monotonic() + interval
    place = 0
    while True:
        if is_file:
            data = os.read(descriptor, CHUNK_BYTES)
            place += len(data)
            if not data:
                if os.fstat(descriptor).st_size < place:
                    place = os.lseek(descriptor, 0, os.SEEK_SET)
                time.sleep(min(_POLL, interval))
        else:
            wait = max(due - time.monotonic(), 0)
            ready, _, _ = select.select([descriptor], [], [], wait)
            data = os.read(descriptor, CHUNK_BYTES) if ready else b""
            if ready and not data:
                return
        if data:
            yield data
        if time.monotonic() >= due:
            due = time.monotonic() + interval
            yield b""


@dataclass(slots=True)
class _Recent:
    """The rows of one table that are not older than SPAN, by their time in one column."""

    table: Table
    column: str
    rows: deque = field(default_factory=deque)

    def take(self, now: int) -> None:
        place = self.table.columns.index(self.column)
        self.rows.extend(self.table.take_rows())
        # Those that are later than now are of a run before the clock began anew.
        while self.rows and not now - SPAN <= self.rows[0][place] <= now:
            self.rows.popleft()

    def chunk(self) -> dict[str, np.ndarray]:
        array = np.array(self.rows, dtype=np.int64).reshape(-1, len(self.table.columns))
        return dict(zip(self.table.columns, array.T, strict=True))


class Follower:
    """Reads a log piece by piece, and shows the last seconds of it."""

    def __init__(self, rates: dict[str, float]) -> None:
        self.trace = Trace()
        self._reader = Reader(self.trace)
        self._rates = rates
        self._frames = _Recent(self.trace.frames, "begin")
        self._updates = _Recent(self.trace.updates, "begin")

    def feed(self, data: bytes) -> None:
        self._reader.feed(data)
        now = self.trace.run.last
        self._frames.take(now)
        self._updates.take(now)
        self.trace.gpu.take_rows()
        self.trace.gid.points.take_rows()

    def lines(self, paint: Paint) -> list[str]:
        """The outputs and the busiest surfaces of the present run."""
        frames, updates = self._frames.chunk(), self._updates.chunk()
        rows = [_HEADER]
        for output in self.trace.run.outputs.values():
            mine = frames["output"] == output.index
            part = {name: column[mine] for name, column in frames.items()}
            taken = updates["output"] == output.index
            late = self._late(output.index, part)
            repaints = (part["posted"] - part["begin"])[part["posted"] >= 0]
            rows.append(
                [output.name, _rate(part["begin"]), late]
                + _cells(repaints)
                + _cells(_latencies(updates, taken))
            )
        rows += self._surfaces(updates)
        if not self.trace.run.outputs:
            return ["  no output yet"]
        return table(rows, paint, 1, _COLUMNS, _DISPENSABLE)

    def line(self) -> str:
        """All outputs in one line, for a log of its own."""
        parts = []
        frames, updates = self._frames.chunk(), self._updates.chunk()
        for output in self.trace.run.outputs.values():
            mine = frames["output"] == output.index
            repaints = (frames["posted"] - frames["begin"])[mine & (frames["posted"] >= 0)]
            latencies = _latencies(updates, updates["output"] == output.index)
            parts.append(
                f"{output.name}: {_rate(frames['begin'][mine])} fps, "
                f"repaint p50 {_cells(repaints)[0]} ms, "
                f"commit → shown p50 {_cells(latencies)[0]} ms"
            )
        return "; ".join(parts) or "no output yet"

    def _late(self, index: int, frames: dict[str, np.ndarray]) -> str:
        output = self.trace.outputs[index]
        refresh = Refresh()
        rate = self._rates.get(output.name, self._rates.get(""))
        if rate is not None:
            refresh.interval, refresh.given = round(1e9 / rate), True
        else:
            whole = (frames["base"] >= 0) & (frames["shown"] >= 0) & (frames["after_start"] == 0)
            estimate(refresh, Samples.of((frames["shown"] - frames["base"])[whole]))
        refreshes = {index: refresh}
        late = sum(int((late > 0).sum()) for _, _, late in late_frames(frames, refreshes))
        return str(late) if refresh.judges else "–"

    def _surfaces(self, updates: dict[str, np.ndarray]) -> list[list[str]]:
        counts = np.bincount(updates["surface"]) if len(updates["surface"]) else np.empty(0, int)
        rows = []
        for index in np.argsort(-counts, kind="stable")[:_SURFACES].tolist():
            surface = self.trace.surfaces[index]
            if counts[index] and surface.run == self.trace.run.index:
                mine = updates["surface"] == index
                label = printable(surface.name)
                latencies = _cells(_latencies(updates, mine))
                rows.append([f"  {label}", _rate(updates["begin"][mine]), *[""] * 4, *latencies])
        return rows


def follow(
    name: str, rates: dict[str, float], interval: float, show: Callable[[Follower], None]
) -> None:
    """Follows until the pipe ends, or for good; shows each `interval` seconds and at the end."""
    follower = Follower(rates)
    for data in pieces(name, interval):
        if data:
            follower.feed(data)
        else:
            show(follower)
    show(follower)


def _rate(times: np.ndarray) -> str:
    """How many a second, over the time that they span."""
    if len(times) < 2 or times[-1] <= times[0]:
        return "–"
    return f"{(len(times) - 1) * 1e9 / float(times[-1] - times[0]):.1f}"


def _latencies(updates: dict[str, np.ndarray], rows: np.ndarray) -> np.ndarray:
    rows = rows & (updates["commit"] >= 0) & (updates["shown"] >= 0)
    return (updates["shown"] - updates["commit"])[rows]


def _cells(durations: np.ndarray) -> list[str]:
    if len(durations) == 0:
        return ["–"] * 3
    summary, _ = describe(Samples.of(durations))
    return [sentences.ms(value) for value in (summary.p50, summary.p99, summary.max)]
