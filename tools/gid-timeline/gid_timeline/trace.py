# SPDX-License-Identifier: MIT
"""What a timeline log tells: runs of Weston, their outputs and surfaces, and tables of frames.

A frame of an output is one repaint: begin, posted, and the "finished" line that says when it was
shown. An update of a surface is one commit with damage that a repaint took over (flushed).
`docs/timeline.md` defines every figure by these.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from .gidpoints import GidPoints
from .table import NONE, Table
from .terminal import printable

# A log may be made by anyone: what grows with its content, not with its length, is bounded.
RUNS_MAX = 1000
OUTPUTS_MAX = 256
SURFACES_MAX = 20000
_UPDATES_A_FRAME_MAX = 4096
_UNKNOWN_NAMES_MAX = 100

MORE_SURFACES = "(more surfaces)"

# How a repaint ended.
SHOWN = 0  # a "finished" line with the time it was shown
UNSTAMPED = 1  # the next repaint began, or the log ended, before any "finished" line
FAILED = 2  # the repaint loop was left before it was shown


@dataclass(slots=True)
class Surface:
    """A surface of one run. Labels are the client's own words: never trust them."""

    index: int  # in Trace.surfaces and in the update table
    run: int
    label: str
    main: int | None = None  # the id of the main surface, for a subsurface
    parent: "Surface | None" = None  # that surface, where the log had declared it
    commits: int = 0
    superseded: int = 0  # commits that a later commit replaced before any repaint took them
    pending: int = NONE

    @property
    def name(self) -> str:
        """What people know it by: Weston calls every subsurface alike."""
        return f"{self.label} of {self.parent.label}" if self.parent else self.label

    def commit(self, time: int) -> None:
        self.commits += 1
        if self.pending >= 0:
            self.superseded += 1
        self.pending = time


class Output:
    """An output of one run, and its state while the log is read."""

    __slots__ = (
        *("index", "run", "name", "declared", "loops", "exits", "restarts"),
        *("_frames", "_updates", "_gpu", "_gpu_begin", "_request", "_base", "_after_start"),
        *("_frame_request", "_begin", "_posted", "_flushed"),
    )

    def __init__(self, index: int, run: int, name: str, tables: "Trace") -> None:
        self.index = index  # in Trace.outputs and in the tables
        self.run = run
        self.name = name
        self.declared = False
        self.loops = 0  # how often the repaint loop was entered and left
        self.exits = 0
        self.restarts = 0
        self._frames = tables.frames.append
        self._updates = tables.updates.append
        self._gpu = tables.gpu.append
        self._gpu_begin = NONE
        self._request = NONE
        self._base = NONE  # the refresh that the coming frame is paced from
        self._after_start = 0  # that refresh was only read at the start of a repaint loop
        self._frame_request = NONE
        self._begin = NONE
        self._posted = NONE
        self._flushed: list[tuple[Surface, int, int]] = []

    def request(self, time: int) -> None:
        if self._request < 0:
            self._request = time

    def begin(self, time: int) -> None:
        if self._begin >= 0:
            self._close(NONE, NONE, UNSTAMPED)
        self._begin = time
        self._frame_request = self._request
        self._request = NONE

    def flush(self, surface: Surface, time: int) -> None:
        if len(self._flushed) < _UPDATES_A_FRAME_MAX:
            self._flushed.append((surface, surface.pending, time))
        surface.pending = NONE

    def posted(self, time: int) -> None:
        if self._begin >= 0 and self._posted < 0:
            self._posted = time

    def finished(self, time: int, shown: int) -> None:
        if self._begin >= 0:
            self._close(time, shown, SHOWN)
            self._after_start = 0
        else:
            # No repaint before it: Weston only read the clock to start its repaint loop.
            self._after_start = 1
        self._base = shown

    def finished_unstamped(self, time: int) -> None:
        self.finished(time, NONE)

    def enter_loop(self, time: int) -> None:
        self.loops += 1

    def exit_loop(self, time: int) -> None:
        self.exits += 1
        if self._begin >= 0:
            self._close(NONE, NONE, FAILED)
        self._base = NONE
        self._request = NONE

    def restart(self, time: int) -> None:
        self.restarts += 1

    def gpu_begin(self, time: int, stamp: int) -> None:
        self._gpu_begin = stamp

    def gpu_end(self, time: int, stamp: int) -> None:
        if self._gpu_begin >= 0:
            self._gpu((self.index, self._gpu_begin, stamp, time))
        self._gpu_begin = NONE

    def end(self) -> None:
        """The run is over."""
        if self._begin >= 0:
            self._close(NONE, NONE, UNSTAMPED)

    def _close(self, finished: int, shown: int, how: int) -> None:
        begin, posted = self._begin, self._posted
        self._frames(
            (self.index, self._frame_request, begin, posted, finished, shown)
            + (self._base, self._after_start, how)
        )
        if self._flushed:
            for surface, commit, flush in self._flushed:
                self._updates((surface.index, self.index, commit, flush, begin, posted, shown))
            self._flushed.clear()
        self._begin = NONE
        self._posted = NONE


@dataclass(slots=True)
class Run:
    """One start of Weston, or one subscription to its timeline: ids count from 1 in each."""

    index: int
    outputs: dict[int, Output] = field(default_factory=dict)  # by the log's id
    surfaces: dict[int, Surface] = field(default_factory=dict)
    seats: dict[int, str] = field(default_factory=dict)
    first: int = NONE  # the first and the last T, in ns
    last: int = NONE
    input_events: int = 0
    source: str = ""  # the log that it is in
    domain: int = NONE  # whose clock its times are of, if a point of Weston's module said so


class Trace:
    """All that was read. `frames`, `updates` and `gpu` hold times in ns of CLOCK_MONOTONIC."""

    def __init__(self, gid: GidPoints | None = None) -> None:
        """`gid`: where gidway's points go, if several logs are to be joined."""
        self.frames = Table(
            *("output", "request", "begin", "posted", "finished", "shown"),
            *("base", "after_start", "how"),
        )
        self.updates = Table("surface", "output", "commit", "flush", "begin", "posted", "shown")
        self.gpu = Table("output", "begin", "end", "logged")
        self.gid = gid or GidPoints()
        self.outputs: list[Output] = []
        self.surfaces: list[Surface] = []
        self.runs: list[Run] = [Run(0)]
        self.unknown_names: dict[str, int] = {}
        self.folded = False  # there was more than the limits above: the rest is put together

    @property
    def run(self) -> Run:
        return self.runs[-1]

    @property
    def extent(self) -> tuple[int, ...]:
        """It is another after each line of a timeline that was read, of whichever kind."""
        run = self.run
        declared = len(run.outputs), len(run.surfaces), len(run.seats)
        return len(self.runs), run.last, *declared, len(self.gid.points)

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last time of all that was read; (NONE, NONE): there is none."""
        times = [time for run in self.runs for time in (run.first, run.last) if time >= 0]
        for chunk in self.gid.points.chunks():
            times += int(chunk["time"].min()), int(chunk["time"].max())
        return min(times, default=NONE), max(times, default=NONE)

    def begin_log(self, source: str) -> None:
        """What is read now is of another log: its ids and its runs are its own."""
        run = self.run
        if run.first >= 0 or run.outputs or run.surfaces or run.seats:
            self.new_run()
        self.run.source = source

    def settle(self) -> None:
        for table in (self.frames, self.updates, self.gpu, self.gid.points):
            table.settle()

    def end_run(self) -> None:
        for output in self.run.outputs.values():
            output.end()

    def new_run(self) -> None:
        self.end_run()
        if len(self.runs) < RUNS_MAX:
            self.runs.append(Run(len(self.runs), source=self.run.source))
        else:
            self.folded = True
            self.run.outputs.clear()
            self.run.surfaces.clear()

    def starts_new_run(self, kind: str, number: int) -> bool:
        """Whether a declaration shows that Weston was started again: ids count from 1 then.

        Surfaces are declared again in one run as well, when their title changes; outputs are not.
        """
        run = self.run
        if kind == "surface":
            return number in run.outputs or number in run.seats
        output = run.outputs.get(number)
        seat_is_other = kind == "seat" and output is not None
        return number in run.surfaces or seat_is_other or (output is not None and output.declared)

    def declare(self, kind: str, number: int, label: str | None, main: int | None) -> None:
        if kind == "output":
            output = self.output(number)
            output.declared = True
            # A client can have put this line into the log, behind a line break of its title.
            output.name = printable(label) if label else output.name
        elif kind == "surface":
            surface = self.surface(number)
            if surface.label != MORE_SURFACES:
                surface.label = label or surface.label
                surface.main = main
                parent = None if main is None else self.run.surfaces.get(main)
                surface.parent = None if parent is surface else parent
        elif len(self.run.seats) < OUTPUTS_MAX:
            self.run.seats[number] = label or f"seat {number}"

    def output(self, number: int) -> Output:
        """The output with this id in the present run, also if the log did not declare it."""
        output = self.run.outputs.get(number)
        if output is None:
            if len(self.outputs) < OUTPUTS_MAX:
                output = Output(len(self.outputs), self.run.index, f"output {number}", self)
                self.outputs.append(output)
                self.run.outputs[number] = output
            else:
                output = self.outputs[-1]
                self.folded = True
        return output

    def surface(self, number: int) -> Surface:
        """The surface with this id in the present run, also if the log did not declare it."""
        surface = self.run.surfaces.get(number)
        if surface is None:
            if len(self.surfaces) < SURFACES_MAX:
                surface = Surface(len(self.surfaces), self.run.index, f"surface {number}")
                self.surfaces.append(surface)
                self.run.surfaces[number] = surface
            else:
                surface = self.surfaces[-1]
                surface.label, surface.parent = MORE_SURFACES, None
                self.folded = True
        return surface

    def input_event(self, time: int, stamp: int) -> None:
        self.run.input_events += 1

    def action(self, point: "Point") -> Callable[..., None] | None:
        """What a point does, as a function of its T and, where it has one, of its second stamp.

        None: the point's name is not known.
        """
        if point.name == "core_commit_damage":
            return self.surface(point.surface).commit
        if point.name == "event ts":
            return self.input_event
        method = _OUTPUT_METHODS.get(point.name)
        if method is None:
            names = self.unknown_names
            if point.name in names or len(names) < _UNKNOWN_NAMES_MAX:
                names[point.name] = names.get(point.name, 0) + 1
            return None
        output = self.output(point.output)
        if point.name == "core_flush_damage":
            return partial(output.flush, self.surface(point.surface))
        if point.name == "core_repaint_finished" and not point.stamp:
            return output.finished_unstamped
        return getattr(output, method)


@dataclass(slots=True, frozen=True)
class Point:
    """What a point is about; the parts that its name calls for are there."""

    name: str
    output: int
    surface: int
    stamp: str | None  # the key of its second time, if it has one

    @classmethod
    def of(cls, line: dict) -> "Point | None":
        """The point of a decoded line, or None if something is missing or wrong."""
        name = line.get("N")
        if not isinstance(name, str):
            return None
        name = well_formed(name)
        output, surface = _id(line.get("wo")), _id(line.get("ws"))
        needs_output = name in _OUTPUT_METHODS
        needs_surface = name in ("core_commit_damage", "core_flush_damage")
        if (needs_output and output < 0) or (needs_surface and surface < 0):
            return None
        stamp = _STAMPS.get(name)
        if name == "core_repaint_finished" and stamp not in line:
            stamp = "vblank" if "vblank" in line else None  # as Weston 1 called it
        return cls(name, output, surface, stamp)


_STAMPS = {
    "core_repaint_finished": "vblank_monotonic",
    "renderer_gpu_begin": "gpu",
    "renderer_gpu_end": "gpu",
    "event ts": "event ts",
}
_OUTPUT_METHODS = {
    "core_repaint_req": "request",
    "core_repaint_enter_loop": "enter_loop",
    "core_repaint_begin": "begin",
    "core_flush_damage": "flush",
    "core_repaint_posted": "posted",
    "core_repaint_finished": "finished",
    "core_repaint_restart": "restart",
    "core_repaint_exit_loop": "exit_loop",
    "renderer_gpu_begin": "gpu_begin",
    "renderer_gpu_end": "gpu_end",
}


def well_formed(text: str) -> str:
    """Without halves of characters, which JSON can have by escapes, and no file can."""
    return text.encode(errors="replace").decode()


def _id(value: object) -> int:
    """An id of the log, a number of 32 bits; or NONE."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 32:
        return NONE
    return value
