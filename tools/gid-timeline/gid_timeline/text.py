# SPDX-License-Identifier: MIT
"""The report as text for a terminal, and the table of what repaints cost."""

from . import sentences
from .join import Joined, clock_words, sentence
from .report import OutputReport, Report, RunReport, SurfaceReport
from .stats import Summary
from .terminal import Paint, printable, shorten, width_of

_SURFACES = 20
_LABEL = 44  # what a terminal has room for before it does without columns
_LABEL_LEAST = 8


def render(report: Report, paint: Paint) -> str:
    lines = [paint.bold(f"{printable(report.source)}: {sentences.count(report.lines, 'line')}")]
    if not report.runs and not report.streams:
        lines.append(
            "No repaint and no commit is in it. "
            "Was it written with `weston --log=FILE --logger-scopes=timeline`?"
        )
    for run in report.runs:
        heading = sentences.run_words(run, report)
        lines += ["", *([paint.bold(heading)] if heading else []), *_run(run, paint)]
    for joined in report.streams:
        lines += ["", *stream(joined, paint)]
    if found := sentences.notes(report):
        lines += ["", *(paint.dim(note) for note in found)]
    return "\n".join(lines) + "\n"


def processing(report: Report, paint: Paint) -> str:
    """Average, maximum and outliers of the repaint cost, as evaluations of cockpits give them."""
    rows = [["run", "output", "repaints", "average ms", "maximum ms", "outliers", "above ms"]]
    for run in report.runs:
        for output in run.outputs:
            repaint = output.figures.get("repaint")
            if repaint:
                summary = repaint.summary
                rows.append(
                    [
                        str(run.run.index + 1),
                        output.output.name,
                        str(summary.n),
                        sentences.ms(summary.mean),
                        sentences.ms(summary.max),
                        f"{summary.outliers} ({sentences.share(summary.outliers, summary.n)})",
                        sentences.ms(summary.fence),
                    ]
                )
    return (
        paint.bold("Processing time of a repaint (core_repaint_begin to core_repaint_posted)")
        + "\n"
        + "\n".join(table(rows, paint, left=2))
        + "\n"
        + paint.dim("Outliers are above Q3 + 3 (Q3 - Q1). It is CPU time, without GPU and display.")
        + "\n"
    )


def stream(joined: Joined, paint: Paint) -> list[str]:
    """The lines of a stream's way to one consumer."""
    heading = paint.bold(f"stream {joined.route.stream}, {joined.domains}")
    lines = [f"{heading}: {sentence(joined)}"]
    lines.append("  " + clock_words(joined))
    rows = [["ms", *sentences.STATISTICS.values()]]
    for stage, summary in joined.stages.items():
        uncertain = " ±" if joined.is_uncertain(stage) else ""
        rows.append([" → ".join(stage) + uncertain, *cells(summary)])
    return lines + (table(rows, paint, left=1) if len(rows) > 1 else [])


def _run(run: RunReport, paint: Paint) -> list[str]:
    lines = []
    for output in run.outputs:
        lines += [*_output(output, run.seconds, paint), ""]
    if run.surfaces:
        lines += _surfaces(run.surfaces, paint)
    return lines


def _output(report: OutputReport, seconds: float, paint: Paint) -> list[str]:
    name = paint.bold(report.output.name)
    frames = f"{sentences.count(report.frames, 'frame')} in {seconds:.3f} s"
    lines = [f"{name}: {frames}; {sentences.refresh_words(report.refresh)}"]
    late = sentences.late_words(report.refresh)
    lines.append("  " + (paint.red(late) if report.refresh.late else late))
    lines += ["    " + cause for cause in sentences.cause_words(report.refresh)]
    if report.failed or report.unstamped:
        lines.append("  " + sentences.lost_words(report))
    if report.anatomy.updates:
        lines.append("  " + sentences.anatomy_words(report))
    rows = [["ms", *sentences.STATISTICS.values()]]
    rows += [
        [measured.figure.title, *cells(measured.summary)] for measured in report.figures.values()
    ]
    return lines + table(rows, paint, left=1)


def _surfaces(surfaces: list[SurfaceReport], paint: Paint) -> list[str]:
    shown = [surface for surface in surfaces if surface.figures][:_SURFACES]
    header = ["surface, commit → shown, ms", "commits", "superseded"]
    rows = [[*header, *list(sentences.STATISTICS.values())[1:]]]
    for report in shown:
        surface = report.surface
        label = printable(surface.name)
        measured = report.figures.get("commit_to_shown")
        row = cells(measured.summary)[1:] if measured else ["-"] * (len(sentences.STATISTICS) - 1)
        rows.append([label, str(surface.commits), str(surface.superseded), *row])
    lines = table(rows, paint, left=1)
    if len(surfaces) > len(shown):
        more = sentences.count(len(surfaces) - len(shown), "more surface")
        lines.append(paint.dim(f"  {more} with few commits"))
    return lines


def cells(summary: Summary) -> list[str]:
    """A summary's row, in ms."""
    middle = [sentences.ms(getattr(summary, name)) for name in list(sentences.STATISTICS)[1:-1]]
    return [str(summary.n), *middle, str(summary.outliers)]


# What a terminal that is too narrow for all of them does without, in this order.
_DISPENSABLE = ("sd", "p99.9", "outliers", "p90", "mean", "n", "superseded", "commits")


def _widths(rows: list[list[str]]) -> list[int]:
    return [max(width_of(row[i]) for row in rows) for i in range(len(rows[0]))]


def _fit(
    rows: list[list[str]], width: int, label: int, names: list[str], dispensable: tuple[str, ...]
) -> tuple[list[list[str]], list[str]]:
    """The rows without as many columns as it takes, and these columns' names.

    What is still too wide is cut in the column `label`.
    """
    out: list[str] = []
    names = list(names)
    for name in (*dispensable, None):
        widths = _widths(rows)
        least = min(widths[label], _LABEL)
        others = sum(widths) - widths[label] + 2 * len(widths)
        if others + least <= width or name is None:
            break
        if name in names:
            at = names.index(name)
            rows = [row[:at] + row[at + 1 :] for row in rows]
            out.append(names.pop(at))
    room = max(width - others, _LABEL_LEAST)
    return [[*row[:label], shorten(row[label], room), *row[label + 1 :]] for row in rows], out


def table(
    rows: list[list[str]],
    paint: Paint,
    left: int,
    names: list[str] | None = None,
    dispensable: tuple[str, ...] = _DISPENSABLE,
) -> list[str]:
    """The lines of a table whose first row is its header; `left` columns are text.

    Where the terminal is too narrow it leaves `dispensable` columns out and says so, and cuts the
    last column of text. `names`: those of the columns, if the header does not tell them apart.
    """
    out: list[str] = []
    if paint.width is not None:
        rows, out = _fit(rows, paint.width, left - 1, names or rows[0], dispensable)
    widths = _widths(rows)
    lines = []
    for number, row in enumerate(rows):
        cells = []
        for i, cell in enumerate(row):
            pad = " " * (widths[i] - width_of(cell))
            cells.append(cell + pad if i < left else pad + cell)
        line = "  " + "  ".join(cells).rstrip()
        lines.append(paint.dim(line) if number == 0 else line)
    if out:
        lines.append(paint.dim(f"  (too narrow for {', '.join(out)})"))
    return lines
