# SPDX-License-Identifier: MIT
"""How numbers and sentences are put for people, in text and in HTML alike."""

from pathlib import Path

from .join import Joined, Stages, Travelled
from .overview import STAGES
from .refresh import CAUSES, Refresh
from .report import OutputReport, Report, RunReport
from .terminal import printable

STATISTICS = {
    "n": "n",
    "mean": "mean",
    "sd": "sd",
    "p50": "p50",
    "p90": "p90",
    "p99": "p99",
    "p999": "p99.9",
    "max": "max",
    "outliers": "outliers",
}


def ms(nanoseconds: float) -> str:
    """Milliseconds with three digits after the point."""
    return f"{nanoseconds / 1e6:.3f}"


def share(part: int, whole: int) -> str:
    """A percentage that does not show 0 for what is more than nothing."""
    if whole == 0 or part == 0:
        return "0 %"
    percent = 100 * part / whole
    return f"{percent:.1f} %" if percent >= 0.1 else f"{percent:.2g} %"


def count(number: int, word: str) -> str:
    """The number and its noun: "1 frame", "2 frames", "3 refreshes"."""
    plural = word + ("es" if word.endswith(("s", "sh", "x")) else "s")
    return f"{number:,} {word if number == 1 else plural}".replace(",", "\u202f")


def verb(number: int, one: str, many: str) -> str:
    """That of so many: "1 is", "2 are"."""
    return one if number == 1 else many


def run_words(run: RunReport, report: Report) -> str:
    """Which of several runs of Weston it is, and of which of several logs."""
    if len(report.runs) == 1:
        return ""
    sources = {one.run.source for one in report.runs}
    where = f" of {printable(Path(run.run.source).name)}" if len(sources) > 1 else ""
    return f"Run {run.run.index + 1}{where}, {run.seconds:.3f} s"


def lost_words(output: OutputReport) -> str:
    """Repaints that nobody saw, or nobody knows when."""
    parts = []
    if output.failed:
        parts.append(f"{count(output.failed, 'repaint')} failed")
    if output.unstamped:
        has = verb(output.unstamped, "has", "have")
        parts.append(f"{count(output.unstamped, 'repaint')} {has} no shown time")
    return "; ".join(parts) + "." if parts else ""


def refresh_words(refresh: Refresh) -> str:
    """What the refresh interval is and where it is known from."""
    if refresh.interval is None:
        return "refresh unknown: too few frames follow one another"
    rate = f"{1e9 / refresh.interval:.2f} Hz ({ms(refresh.interval)} ms)"
    if refresh.given:
        return f"refresh {rate}, as given"
    if refresh.steady:
        return f"refresh {rate}, as the log shows it"
    return f"frames come about every {ms(refresh.interval)} ms, but keep to no steady refresh"


def late_words(refresh: Refresh) -> str:
    """How many frames were late, in a sentence."""
    if not refresh.judges:
        return "Late frames cannot be told without a steady refresh; --refresh gives one."
    if refresh.late == 0:
        return f"No frame was late, of {count(refresh.frames, 'frame')}."
    late = f"{count(refresh.late, 'frame')} of {refresh.frames} late"
    part, missed = share(refresh.late, refresh.frames), count(refresh.missed, "refresh")
    return f"{late} ({part}): {missed} missed."


def cause_words(refresh: Refresh) -> list[str]:
    """Why frames were late, the most frequent cause first."""
    causes = sorted(refresh.causes.items(), key=lambda item: -item[1])
    return [f"{number} × {CAUSES[cause]}" for cause, number in causes if number]


def anatomy_words(output: OutputReport) -> str:
    """Where the time of an average frame goes."""
    anatomy = output.anatomy
    if not anatomy.updates:
        return ""
    total = sum(anatomy.sums.values()) / anatomy.updates
    parts = [f"{ms(anatomy.mean(stage))} {title}" for stage, (_, _, title) in STAGES.items()]
    return f"Of {ms(total)} ms from commit to shown: {', '.join(parts)}."


def stage_tables(joined: Joined, found: Travelled) -> list[tuple[str, Stages]]:
    """The stages in two parts, where they are not of the same frames, each with its title."""
    same = found.way | found.whole
    rest = {
        stage: summary
        for stage, summary in joined.stages.items()
        if stage not in same or same[stage].n != summary.n
    }
    if all(same[stage].n == summary.n for stage, summary in joined.stages.items() if stage in same):
        return [("", same | rest)]
    frames = count(found.frames, "frame")
    return [
        (f"Of the {frames} that went all of this way, as in the bar", same),
        ("Of all frames that have both points", rest),
    ]


def notes(report: Report) -> list[str]:
    """What the reader of the report must know about the log."""
    found = []
    trace = report.trace
    if report.other:
        lines, are = count(report.other, "line"), verb(report.other, "is", "are")
        found.append(f"{lines} of the log {are} other text, such as Weston's messages; as usual.")
    if report.broken:
        lines, are = count(report.broken, "line"), verb(report.broken, "is", "are")
        found.append(f"{lines} of the timeline {are} cut off or damaged, and left out.")
    for name in report.empty:
        found.append(f"{printable(name)} has no line of a timeline.")
    if trace.unknown_names:
        names = ", ".join(f"{name!r}" for name in sorted(trace.unknown_names))
        found.append(f"Points with unknown names were left out: {names}.")
    if trace.folded:
        found.append(
            "The log has more runs, outputs or surfaces than are told apart: "
            "the last ones of each are put together."
        )
    if len(report.runs) > 1:
        found.append(f"{len(report.runs)} runs of Weston are in it; each is reported for itself.")
    return found
