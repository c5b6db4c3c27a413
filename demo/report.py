# SPDX-License-Identifier: MIT
"""The report of a demo: report.json for programs, report.html (one file) for people."""

import base64
import json
import math
import subprocess
from dataclasses import dataclass
from pathlib import Path

import jinja2

from demo import lanes
from lab.domains.program import LabError

_MS = 1_000_000


def _timeline(command: str, logs: list[Path], *options: str) -> str:
    """What gid-timeline says of the logs."""
    words = ["gid-timeline", command, *map(str, logs), *options]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        raise LabError(f"the timeline cannot be read: {result.stderr.strip()}")
    return result.stdout


@dataclass(frozen=True)
class Way:
    """How long the frames of a stream took that went all the way to one domain; in µs."""

    stages: dict[str, dict]
    histograms: dict[str, dict]

    def latency(self, stage: str) -> dict | None:
        """Of such as `capture_to_shown`; None where nobody wrote both points of a frame."""
        found = self.stages.get(stage)
        if found is None:
            return None
        keys = ("p50", "p99", "max")
        return {"count": found["n"]} | {key: found[f"{key}_ns"] / 1000 for key in keys}

    def histogram(self, stage: str) -> list[list[float]]:
        """Pairs: the upper bound, and how many were below it."""
        found = self.histograms[stage]
        pairs = zip(found["edges_ns"][1:], found["counts"], strict=True)
        return [[edge / 1000, count] for edge, count in pairs if count]


def read_ways(logs: list[Path]) -> dict[tuple[str, str], Way]:
    """Of all streams, by their names and the domains they went between, as in `open → cluster`."""
    ways = {}
    for stream in json.loads(_timeline("join", logs, "--format", "json"))["streams"]:
        ways[stream["stream"], stream["domains"]] = Way(
            stream["whole_way"]["stages"], stream["histograms"]
        )
    return ways


def read_displays(log: Path) -> dict:
    """Counts and cost of the repaints of each output, from Weston's timeline: begin → posted."""
    displays = {}
    for run in json.loads(_timeline("report", [log], "--format", "json"))["runs"]:
        for output in run["outputs"]:
            cost = output["figures"].get("repaint")
            if cost:
                interval = output["refresh"]["interval_ns"]
                displays[output["name"]] = {
                    "repaints": cost["n"],
                    "rate": 1e9 / interval if interval else None,
                    "repaint_ms": {
                        key: cost[f"{key}_ns"] / _MS for key in ("mean", "p50", "p99", "max")
                    },
                }
    return displays


@dataclass(frozen=True)
class Bar:
    """Of a histogram, in the units of the drawing (0..100 across, 0..100 up)."""

    x: float
    width: float
    height: float
    title: str


@dataclass(frozen=True)
class Histogram:
    bars: list[Bar]
    ticks: list[tuple[float, str]]


def histogram(buckets: list[list[int]], columns: int = 48) -> Histogram:
    """Draws [upper bound in µs, count] pairs over a logarithmic axis."""
    if not buckets:
        return Histogram([], [])
    low = math.log10(max(1, buckets[0][0] * 0.9))
    high = max(math.log10(buckets[-1][0] * 1.05), low + 0.5)
    counts = [0] * columns
    for bound, count in buckets:
        column = int((math.log10(max(1, bound)) - low) / (high - low) * columns)
        counts[min(columns - 1, max(0, column))] += count
    step, most = 100 / columns, max(counts)
    bars = []
    for index, count in enumerate(counts):
        if count:
            edges = [10 ** (low + (high - low) * (index + i) / columns) for i in (0, 1)]
            frames = "1 frame" if count == 1 else f"{count} frames"
            title = f"{duration(edges[0])} to {duration(edges[1])}: {frames}"
            bars.append(Bar(index * step, step, 100 * count / most, title))
    return Histogram(bars, _ticks(low, high))


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    ticks = []
    for exponent in range(math.floor(low), math.ceil(high) + 1):
        for digit in (1, 2, 5):
            place = (exponent + math.log10(digit) - low) / (high - low) * 100
            if 0 <= place <= 100:
                ticks.append((place, duration(digit * 10**exponent)))
    return ticks


def duration(us: float) -> str:
    """A time in the unit that suits it."""
    for limit, unit, digits in ((1e3, "µs", 0), (1e6, "ms", 1)):
        if us < limit:
            value = us / (limit / 1e3)
            return f"{value:.{digits if value < 10 else 0}f} {unit}"
    return f"{us / 1e6:.1f} s"


def size(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


# Of copies: what gid-gstreamer(7) tells at length, and `forwarded`, by gidway's Weston module.
_REASONS = {
    "startup": "decoded before the memory was agreed on",
    "padded-width": "its decoder works in wider rows",
    "decoder-memory": "its decoder works in memory of its own",
    "upstream-memory": "made in other memory",
    "split-memory": "it came in several pieces",
    "unsealed-memory": "its memory could still be truncated",
    "other-machine": "made in memory that another machine cannot see",
    "plain-layout": "its receiver needs a plain layout",
    "canvas-slots": "its receiver kept all of the canvas",
    "forwarded": "a plain wl_shm client's, forwarded by Weston's module",
}


def reasons(found: dict[str, int]) -> str:
    """Why frames were copied, in words."""
    return "; ".join(f"{count} × {_REASONS.get(why, why)}" for why, count in found.items())


def write_timeline(folder: Path, logs: list[Path]) -> None:
    """timeline.html: each repaint, and the way of each frame, of all programs of both domains."""
    _timeline("report", logs, "--title", "gidway demo", "-o", str(folder / "timeline.html"))


def write(folder: Path, report: dict, pictures: dict[str, Path]) -> None:
    """report.json and report.html, with the pictures inside, into `folder`."""
    text = json.dumps(report, indent=2, ensure_ascii=False)
    (folder / "report.json").write_text(text + "\n")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).resolve().parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        duration=duration, size=size, histogram=histogram, steps=lanes.steps, reasons=reasons
    )
    encoded = {
        name: base64.b64encode(path.read_bytes()).decode()
        for name, path in pictures.items()
        if name != "displays"  # which has the others in it
    }
    page = environment.get_template("report.html.j2").render(
        report=report, pictures=encoded, timeline=lanes.draw(report["timeline"])
    )
    (folder / "report.html").write_text(page)
