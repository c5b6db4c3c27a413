# SPDX-License-Identifier: MIT
"""How numbers and sentences are put for people, in text and in HTML alike."""

from .overview import STAGES
from .refresh import CAUSES, Refresh
from .report import OutputReport, Report

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


def notes(report: Report) -> list[str]:
    """What the reader of the report must know about the log."""
    found = []
    trace = report.trace
    if report.other:
        found.append(f"{count(report.other, 'line')} of the log are not of the timeline.")
    if report.broken:
        found.append(f"{count(report.broken, 'line')} of the timeline are cut off or damaged.")
    if trace.unknown_names:
        names = ", ".join(f"{name!r}" for name in sorted(trace.unknown_names))
        found.append(f"Points with unknown names were left out: {names}.")
    if trace.folded:
        found.append(
            "The log has more runs, outputs or surfaces than are told apart: "
            "the last ones of each are put together."
        )
    if len(trace.runs) > 1:
        found.append(
            f"The log has {len(trace.runs)} runs of Weston, one after the other; "
            "each is reported for itself."
        )
    return found
