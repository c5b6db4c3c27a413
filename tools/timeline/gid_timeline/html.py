# SPDX-License-Identifier: MIT
"""The report as one HTML file that needs no network and no other file."""

import dataclasses
import functools
from pathlib import Path

import jinja2
import markupsafe
import orjson

from . import charts, join, lanes, sentences
from .overview import STAGES, courses
from .report import Report, RunReport

_RUNS_MAX = 12
_SURFACES_MAX = 40
_PAGE = Path(__file__).parent / "page"
_SCRIPTS = ("lanes.js", "report.js")


@functools.cache
def _environment() -> jinja2.Environment:
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
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            runs=shown,
            left_out=len(report.runs) - len(shown),
            courses=[charts.course(one) for one in found],
            lanes=[
                _json(lanes.of_run(report.trace, run.run, report.refreshes))
                if run.outputs
                else None
                for run in shown
            ],
            surfaces_max=_SURFACES_MAX,
            stages=STAGES,
            charts=charts,
            join=join,
            sentences=sentences,
            notes=sentences.notes(report),
            asdict=dataclasses.asdict,
            told=_Told(),
            style=markupsafe.Markup((_PAGE / "report.css").read_text()),
            script=markupsafe.Markup("".join((_PAGE / f).read_text() for f in _SCRIPTS)),
        )
    )


class _Told(set):
    """The figures that the page has explained: each once."""

    def add(self, key: str) -> bool:
        is_new = key not in self
        super().add(key)
        return is_new


def _frames(run: RunReport) -> int:
    return sum(output.frames for output in run.outputs)


def _json(value: object) -> markupsafe.Markup:
    # In a script element the text ends at "</script", whatever quotes are around it.
    text = orjson.dumps(value).decode()
    return markupsafe.Markup(text.replace("<", "\\u003c"))
