# SPDX-License-Identifier: MIT
"""The report as data: JSON, and CSV of the figures or of each frame."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict

import orjson

from .gidpoints import POINTS
from .join import Joined, frames, header, travelled
from .overview import STAGES
from .refresh import Refresh
from .report import Measured, Report
from .stats import STATISTICS, Histogram, Summary
from .table import NONE
from .trace import FAILED, SHOWN, UNSTAMPED

_HOW = {SHOWN: "shown", UNSTAMPED: "unstamped", FAILED: "failed"}
_COUNTS = ("n", "outliers")
_NOT_PLAIN = re.compile(r"[^\x20-\x7e\n]")


def to_json(report: Report) -> bytes:
    document = {
        "source": report.source,
        "lines": report.lines,
        "other_lines": report.other,
        "broken_lines": report.broken,
        "unknown_points": report.trace.unknown_names,
        "logs_without_timeline": report.empty,
        "runs": [
            {
                "run": run.run.index + 1,
                "log": run.run.source,
                "first_ns": run.run.first,
                "last_ns": run.run.last,
                "input_events": run.run.input_events,
                "outputs": [
                    {
                        "name": output.output.name,
                        "frames": output.frames,
                        "shown": output.shown,
                        "failed": output.failed,
                        "unstamped": output.unstamped,
                        "loops": output.output.loops,
                        "restarts": output.output.restarts,
                        "refresh": refresh_data(output.refresh),
                        "mean_update_ns": {
                            stage: round(output.anatomy.mean(stage), 3) for stage in STAGES
                        },
                        "figures": _figures(output.figures),
                    }
                    for output in run.outputs
                ],
                "surfaces": [
                    {
                        "label": surface.surface.label,
                        "commits": surface.surface.commits,
                        "superseded": surface.surface.superseded,
                        "figures": _figures(surface.figures),
                    }
                    for surface in run.surfaces
                ],
            }
            for run in report.runs
        ],
        "streams": [stream_data(joined) for joined in report.streams],
    }
    return json_text(document)


def json_text(document: object) -> bytes:
    """For files, and for terminals: what these would obey, or turn around, is written as escapes.

    JSON's own escapes leave out control characters above 127, and marks of direction.
    """
    raw = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if raw.isascii() and b"\x7f" not in raw:
        return raw
    return _NOT_PLAIN.sub(_escaped, raw.decode()).encode()


def _escaped(match: re.Match) -> str:
    char = match[0]
    return char if char.isprintable() else json.dumps(char)[1:-1]


def summary_data(summary: Summary) -> dict[str, float | int]:
    """Whole nanoseconds, but for mean and sd, which are rounded to picoseconds."""
    values = asdict(summary)
    return {
        name if name in _COUNTS else f"{name}_ns": round(value, 3) for name, value in values.items()
    }


def histogram_data(histogram: Histogram) -> dict:
    return {"edges_ns": histogram.edges, "counts": histogram.counts}


def refresh_data(refresh: Refresh) -> dict:
    judged = refresh.judges
    return {
        "interval_ns": refresh.interval,
        "known_from": "user" if refresh.given else "log",
        "steady": refresh.steady,
        "judged_frames": refresh.frames if judged else None,
        "late_frames": refresh.late if judged else None,
        "missed_refreshes": refresh.missed if judged else None,
        "causes": refresh.causes if judged else None,
    }


def stream_data(joined: Joined) -> dict:
    """A stream's way from its owner to one consumer."""
    route, offset, whole = joined.route, joined.offset, travelled(joined)
    clocks = None
    if offset is not None:
        value = int(offset.values[0])
        clocks = {"same": offset.same, "offset_ns": value, "error_ns": offset.error}
    return {
        "stream": route.stream,
        "owner": route.owner,
        "consumer": None if route.consumer == NONE else route.consumer,
        "domains": joined.domains,
        "frames": len(route.sequence),
        "counts": {point: joined.count(point) for point in POINTS},
        "clocks": clocks,
        "stages": {
            f"{start}_to_{end}": summary_data(summary)
            for (start, end), summary in joined.stages.items()
        },
        "whole_way": {
            "frames": whole.frames,
            "stages": {
                f"{start}_to_{end}": summary_data(summary)
                for (start, end), summary in (whole.way | whole.whole).items()
            },
        },
        "histograms": {
            f"{start}_to_{end}": histogram_data(histogram)
            for (start, end), histogram in joined.histograms.items()
        },
    }


def frames_of_streams_csv(streams: list[Joined]) -> Iterator[str]:
    """One line for each frame, from capture to light; times in ns of its owner's clock."""
    yield csv_line(header())
    for joined in streams:
        for row in frames(joined):
            yield csv_line(row)


def figures_csv(report: Report) -> Iterator[str]:
    """One line for each figure of each output and surface."""
    names = [name if name in _COUNTS else f"{name}_ns" for name in STATISTICS]
    yield csv_line(["run", "kind", "name", "figure", *names])
    for run in report.runs:
        number = run.run.index + 1
        parts = [("output", part.output.name, part.figures) for part in run.outputs]
        parts += [("surface", part.surface.label, part.figures) for part in run.surfaces]
        for kind, name, figures in parts:
            for measured in figures.values():
                values = summary_data(measured.summary)
                cells = [values[name] for name in names]
                yield csv_line([number, kind, name, measured.figure.key, *cells])


def frames_csv(report: Report) -> Iterator[str]:
    """One line for each repaint: its times in ns of CLOCK_MONOTONIC, empty where unknown."""
    stamps = ["request", "begin", "posted", "finished", "shown"]
    yield csv_line(["run", "output", *[f"{name}_ns" for name in stamps], "how"])
    outputs = report.trace.outputs
    for chunk in report.trace.frames.chunks():
        columns = [chunk[name].tolist() for name in ("output", *stamps, "how")]
        for index, *times, how in zip(*columns, strict=True):
            output = outputs[index]
            cells = ["" if time == NONE else time for time in times]
            yield csv_line([output.run + 1, output.name, *cells, _HOW[how]])


def _figures(figures: dict[str, Measured]) -> dict:
    return {
        key: {
            **summary_data(measured.summary),
            "histogram": histogram_data(measured.histogram),
        }
        for key, measured in figures.items()
    }


def csv_line(cells: list) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
