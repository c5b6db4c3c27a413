# SPDX-License-Identifier: MIT
"""The geometry of the HTML report's charts, for the template to draw as SVG."""

import math
from dataclasses import dataclass

import numpy as np

from .overview import BUCKETS, Course
from .report import Measured
from .stats import Histogram as Counted
from .stats import Summary

HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT = 480, 96
COURSE_WIDTH, COURSE_HEIGHT = 1200, 120


@dataclass(slots=True)
class Bar:
    x: float
    width: float
    linear: float  # heights of the two scales of counts
    log: float
    title: str
    beyond: bool  # it holds all that lies above the chart


@dataclass(slots=True)
class Mark:
    x: float
    label: str
    anchor: str


@dataclass(slots=True)
class Histogram:
    bars: list[Bar]
    marks: list[Mark]
    ticks: list[Mark]


def histogram(summary: Summary, counted: Counted) -> Histogram:
    edges, counts = counted.edges, counted.counts
    low, high = edges[0], edges[-1]
    most = max(counts)
    width = HISTOGRAM_WIDTH / len(counts)
    bars = []
    for i, count in enumerate(counts):
        if count:
            beyond = i == len(counts) - 1 and summary.max >= edges[-1]
            above = "and above" if beyond else f"to {edges[i + 1] / 1e6:.3f}"
            bars.append(
                Bar(
                    x=i * width,
                    width=max(width - 1, 0.5),
                    linear=max(count / most * HISTOGRAM_HEIGHT, 1.5),
                    log=math.log1p(count) / math.log1p(most) * HISTOGRAM_HEIGHT,
                    title=f"{edges[i] / 1e6:.3f} {above} ms: {count}",
                    beyond=beyond,
                )
            )

    def place(value: float) -> float:
        return (value - low) / (high - low) * HISTOGRAM_WIDTH

    marks: list[Mark] = []
    for name, value in (("p50", summary.p50), ("p99", summary.p99)):
        x = place(value)
        if marks and x - marks[-1].x < 30:
            marks[-1].label += f", {name}"
        elif value < high:
            marks.append(Mark(x, name, "end" if x > HISTOGRAM_WIDTH * 0.92 else "start"))
    return Histogram(bars, marks, [Mark(place(t), _ms(t), "middle") for t in _ticks(low, high)])


def spark(measured: Measured, width: float = 96, height: float = 20) -> str:
    """A histogram small enough for a table: the path of its outline."""
    counts = measured.histogram.counts
    most = max(counts)
    step = width / len(counts)
    path = f"M0 {height}"
    for i, count in enumerate(counts):
        level = height - math.sqrt(count / most) * height
        path += f"L{i * step:.1f} {level:.1f}L{(i + 1) * step:.1f} {level:.1f}"
    return path + f"L{width} {height}Z"


@dataclass(slots=True)
class CourseChart:
    latency: str  # a path: a dash for each part of the time that has a value
    repaint: list[tuple[float, float, float]]  # x, y, height
    late: list[tuple[float, int]]  # x, how many
    bar: float
    levels: list[tuple[float, str]]  # y and label of the scale
    ticks: list[Mark]
    seconds: float


def course(chart: Course) -> CourseChart | None:
    """An output over time; None where there is nothing to draw."""
    both = np.concatenate([chart.latency, chart.repaint])
    both = both[np.isfinite(both)]
    if len(both) == 0:
        return None
    # A single pause of seconds would flatten all the rest: the scale ends above most of it.
    top = max(float(np.quantile(both, 0.98)) * 1.25, 1e6)
    bar = COURSE_WIDTH / BUCKETS

    def level(value: float) -> float:
        return COURSE_HEIGHT * (1 - min(value / top, 1))

    dashes = [
        f"M{i * bar:.1f} {level(value):.1f}h{bar:.1f}"
        for i, value in enumerate(chart.latency.tolist())
        if not math.isnan(value)
    ]
    seconds = (chart.end - chart.start) / 1e9
    return CourseChart(
        latency="".join(dashes),
        repaint=[
            (i * bar, level(value), COURSE_HEIGHT - level(value))
            for i, value in enumerate(chart.repaint.tolist())
            if not math.isnan(value)
        ],
        late=[(i * bar, count) for i, count in enumerate(chart.late.tolist()) if count],
        bar=bar,
        levels=[(level(value), _ms(value)) for value in _ticks(0, top, 4)],
        ticks=[
            Mark(time / seconds * COURSE_WIDTH, f"{time:g}", "middle")
            for time in _ticks(0, seconds, 8)
        ],
        seconds=seconds,
    )


def _ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between low and high, which differ."""
    span = (high - low) / about
    step = 10 ** math.floor(math.log10(span))
    step *= next(factor for factor in (1, 2, 5, 10) if factor * step >= span)
    first = math.ceil(low / step)
    return [i * step for i in range(first, math.floor(high / step) + 1)]


def _ms(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:.6g}"
