# SPDX-License-Identifier: MIT
"""Puts the figures of a trace together: what all forms of a report (text, HTML, JSON, CSV) show."""

from dataclasses import dataclass, field

from .figures import FIGURES, Figure, grouped
from .reader import Reader
from .refresh import Refresh, measure
from .stats import Summary, histogram, summarize
from .trace import FAILED, SHOWN, UNSTAMPED, Output, Run, Surface, Trace


@dataclass(slots=True)
class Measured:
    """A figure of one output or surface."""

    figure: Figure
    summary: Summary
    edges: list[int]  # of the histogram, in ns
    counts: list[int]


@dataclass(slots=True)
class OutputReport:
    output: Output
    refresh: Refresh
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
    trace: Trace
    lines: int
    other: int
    broken: int
    runs: list[RunReport]  # those with anything in them


def build(trace: Trace, reader: Reader, source: str, rates: dict[str, float]) -> Report:
    """The report of a whole log. `rates`: refresh rates in Hz by output, "" for all others."""
    outputs = [
        OutputReport(output, refresh)
        for output, refresh in zip(trace.outputs, measure(trace, rates), strict=True)
    ]
    surfaces = [SurfaceReport(surface) for surface in trace.surfaces]
    _count_frames(trace, outputs)
    for figure in FIGURES:
        for index, samples in grouped(figure, trace, "output"):
            outputs[index].figures[figure.key] = _measured(figure, samples)
        if figure.table == "updates":
            for index, samples in grouped(figure, trace, "surface"):
                surfaces[index].figures[figure.key] = _measured(figure, samples)
    runs = []
    for run in trace.runs:
        mine = [output for output in outputs if output.output.run == run.index]
        parts = [surface for surface in surfaces if surface.surface.run == run.index]
        parts = [surface for surface in parts if surface.surface.commits or surface.figures]
        parts.sort(key=lambda part: (-part.surface.commits, part.surface.index))
        if mine or parts:
            runs.append(RunReport(run, mine, parts))
    return Report(source, trace, reader.lines, reader.other, reader.broken, runs)


def _measured(figure: Figure, samples) -> Measured:
    summary = summarize(samples)
    return Measured(figure, summary, *histogram(samples))


def _count_frames(trace: Trace, outputs: list[OutputReport]) -> None:
    for chunk in trace.frames.chunks():
        for report in outputs:
            how = chunk["how"][chunk["output"] == report.output.index]
            report.shown += int((how == SHOWN).sum())
            report.unstamped += int((how == UNSTAMPED).sum())
            report.failed += int((how == FAILED).sum())
