# SPDX-License-Identifier: MIT
"""Puts the figures of a trace together: what all forms of a report (text, HTML, JSON, CSV) show."""

from dataclasses import dataclass, field

from .figures import FIGURES, Figure, grouped
from .join import Joined, join
from .overview import Anatomy, anatomies
from .reader import Loaded
from .refresh import Refresh, measure
from .stats import Histogram, Summary, describe
from .trace import FAILED, SHOWN, UNSTAMPED, Output, Run, Surface, Trace


@dataclass(slots=True)
class Measured:
    """A figure of one output or surface."""

    figure: Figure
    summary: Summary
    histogram: Histogram


@dataclass(slots=True)
class OutputReport:
    output: Output
    refresh: Refresh
    anatomy: Anatomy
    shown: int = 0  # frames by how they ended
    unstamped: int = 0
    failed: int = 0
    figures: dict[str, Measured] = field(default_factory=dict)

    @property
    def frames(self) -> int:
        return self.shown + self.unstamped + self.failed


@dataclass(slots=True)
class SurfaceReport:
    surface: Surface
    figures: dict[str, Measured] = field(default_factory=dict)


@dataclass(slots=True)
class RunReport:
    run: Run
    outputs: list[OutputReport]
    surfaces: list[SurfaceReport]  # the busiest first

    @property
    def seconds(self) -> float:
        return max(self.run.last - self.run.first, 0) / 1e9


@dataclass(slots=True)
class Report:
    source: str
    empty: list[str]  # logs without a line of a timeline
    trace: Trace
    lines: int
    other: int
    broken: int
    runs: list[RunReport]  # those with anything in them
    refreshes: list[Refresh]  # by the index of the output
    streams: list[Joined]  # of gidway, if the log has its points


def build(loaded: Loaded, source: str, rates: dict[str, float]) -> Report:
    """The report of all logs. `rates`: refresh rates in Hz by output, "" for all others."""
    trace = loaded.trace
    refreshes = measure(trace, rates)
    outputs = [
        OutputReport(*parts)
        for parts in zip(trace.outputs, refreshes, anatomies(trace), strict=True)
    ]
    surfaces = [SurfaceReport(surface) for surface in trace.surfaces]
    _count_frames(trace, outputs)
    for figure in FIGURES:
        for index, samples in grouped(figure, trace, "output"):
            outputs[index].figures[figure.key] = Measured(figure, *describe(samples))
        if figure.table == "updates":
            for index, samples in grouped(figure, trace, "surface"):
                surfaces[index].figures[figure.key] = Measured(figure, *describe(samples))
    runs = []
    for run in trace.runs:
        mine = [output for output in outputs if output.output.run == run.index]
        parts = [surface for surface in surfaces if surface.surface.run == run.index]
        parts = [surface for surface in parts if surface.surface.commits or surface.figures]
        parts.sort(key=lambda part: (-part.surface.commits, part.surface.index))
        if mine or parts:
            runs.append(RunReport(run, mine, parts))
    return Report(
        source,
        loaded.empty,
        trace,
        loaded.lines,
        loaded.other,
        loaded.broken,
        runs,
        refreshes,
        join(trace.gid)[0],
    )


def _count_frames(trace: Trace, outputs: list[OutputReport]) -> None:
    for chunk in trace.frames.chunks():
        for report in outputs:
            how = chunk["how"][chunk["output"] == report.output.index]
            report.shown += int((how == SHOWN).sum())
            report.unstamped += int((how == UNSTAMPED).sum())
            report.failed += int((how == FAILED).sum())
