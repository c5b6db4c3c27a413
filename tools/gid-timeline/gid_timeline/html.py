# SPDX-License-Identifier: MIT
"""The report as one HTML file that needs no network and no other file."""

import dataclasses
import functools
from pathlib import Path
from typing import TYPE_CHECKING

import markupsafe
import orjson

from . import charts, join, lanes, sentences
from .overview import STAGES, courses
from .report import Report, RunReport

if TYPE_CHECKING:
    import jinja2  # a fifth of a start, and most are of no page

_RUNS_MAX = 12
_SURFACES_MAX = 40
_LATENCIES = (("capture", "shown"), ("submit", "shown"), ("capture", "submit"))
_PAGE = Path(__file__).parent / "page"
_SCRIPTS = ("lanes.js", "report.js")


@functools.cache
def environment() -> "jinja2.Environment":
    """The templates of all pages."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PAGE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def render(report: Report) -> str:
    shown = sorted(report.runs, key=_frames)[-_RUNS_MAX:]
    shown.sort(key=lambda run: run.run.index)
    found = courses(report.trace, report.refreshes)
    together, alone = _views(report, shown)
    streams = list(enumerate(report.streams, 1))
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            runs=shown,
            left_out=len(report.runs) - len(shown),
            courses=[charts.course(one) for one in found],
            between=[one for one in streams if one[1].is_between_domains],
            inside=[one for one in streams if not one[1].is_between_domains],
            together=together,
            alone=alone,
            surfaces_max=_SURFACES_MAX,
            stages=STAGES,
            latencies=_LATENCIES,
            charts=charts,
            join=join,
            sentences=sentences,
            notes=sentences.notes(report),
            asdict=dataclasses.asdict,
            told=_Told(),
            style=source("report.css"),
            script=source(*_SCRIPTS),
        )
    )


def _views(
    report: Report, runs: list[RunReport]
) -> tuple[list[markupsafe.Markup], dict[int, markupsafe.Markup]]:
    """What lane views draw: those with streams, and of each other run by its index."""
    together, alone = [], {}
    for view in lanes.views(runs, report.streams):
        data = embedded(lanes.data(report.trace, view, report.refreshes))
        if view.streams:
            together.append(data)
        else:
            alone[view.runs[0].index] = data
    return together, alone


def source(*names: str) -> markupsafe.Markup:
    """Scripts or styles of a page, one after the other."""
    return markupsafe.Markup("".join((_PAGE / name).read_text() for name in names))


class _Told(set):
    """The figures that the page has explained: each once."""

    def add(self, key: str) -> bool:
        is_new = key not in self
        super().add(key)
        return is_new


def _frames(run: RunReport) -> int:
    return sum(output.frames for output in run.outputs)


def embedded(value: object) -> markupsafe.Markup:
    """JSON for a script element of a page."""
    # In a script element the text ends at "</script", whatever quotes are around it.
    text = orjson.dumps(value).decode()
    return markupsafe.Markup(text.replace("<", "\\u003c"))
