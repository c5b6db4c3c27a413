# SPDX-License-Identifier: MIT
"""Three displays (5.9.2), the cost of a repaint (5.9.3), and missed refreshes (5.9.4)."""

from typing import Any

from gid_evaluate.plan import Goal, Shared
from gid_evaluate.result import Figure

from lab.evaluate.context import Context, Plan

DISPLAYS = "./run bench displays"
REFRESH_HZ = 60  # of each of its outputs


INSTRUCTIONS = "instructions of a repaint, gid, ratio to wl_shm"
TIME = "time of a repaint, gid, ratio to wl_shm"


def repaint(context: Context) -> dict[str, Any]:
    quick = ("--repaints=100", "--repetitions=1", "--seconds=4")
    full = ("--repaints=600", "--repetitions=2", "--seconds=10")
    return context.benchmark("repaint", *(full if context.is_full else quick))


def _repaint(context: Context) -> list[Figure]:
    found = repaint(context)
    source = "./run bench repaint"
    figures = []
    for row in found["rows"]:
        if row["what"] == "instructions":
            name = f"{row['who']}, instructions a repaint"
            value, spread = row["instructions"], (row["instructions"],) * 2
            figures.append(Figure(name, value, "", row["repaints"], spread, source))
        else:
            name = f"{row['who']}, repaint begun to posted"
            average, most = row["mean_ms"], row["max_ms"]
            figures.append(Figure(name, average, "ms", row["repaints"], (0, most), source))
    n = min(row["repaints"] for row in found["rows"])
    for name, key in ((INSTRUCTIONS, "instructions"), (TIME, "p50_ms")):
        ratio = found["ratios"][f"repaint_{key}_gid_vs_wl_shm"]
        figures.append(Figure(name, ratio, "", n, (ratio, ratio), source))
    return figures


def _three(context: Context) -> dict[str, Any]:
    seconds = 600 if context.is_full else 20
    return context.benchmark("displays", f"--seconds={seconds}", minutes=15)


def _pixels(context: Context) -> list[Figure]:
    found = _three(context)
    figures, rows = [], found["rows"]
    for row in rows:
        name, n = f"{row['who']}, {row['what']}", row["compared"]
        for key, what in KINDS.items():
            figures.append(Figure(f"{name}: {what}", row[key], "", n, (0, row[key]), DISPLAYS))
    n, wrong = sum(row["compared"] for row in rows), found["ratios"]["wrong_pictures"]
    figures.append(Figure(WRONG.figure, wrong, "", n, (0, wrong), DISPLAYS))
    shares = [row["compared_share"] for row in rows]
    spread = (min(shares), max(shares))
    figures.append(Figure(COMPARED.figure, min(shares), "share", n, spread, DISPLAYS))
    context.notes.append(
        "Without a screen: what the outputs show is read as streams, whole. What a slow reader has "
        "missed is not called right."
    )
    return figures


def _missed(context: Context) -> list[Figure]:
    figures = []
    found = _three(context)
    for row in found["rows"]:
        n, who = row["refreshes"], row["who"]
        one = row["missed"]
        figures.append(Figure(f"{who}: missed", one, "refreshes", n, (0, one), DISPLAYS))
        gap = row["longest_gap_ms"]
        figures.append(Figure(f"{who}: longest gap", gap, "ms", n, (0, gap), DISPLAYS))
        typical, late = row["compose_p50_us"], row["compose_p99_us"]
        name = f"{who}: composing and checking a picture"
        figures.append(Figure(name, typical, "µs", n, (0, late), DISPLAYS))
    rows = found["rows"]
    n = min(row["refreshes"] for row in rows)
    worst = max(row["missed"] / row["refreshes"] for row in rows)
    figures.append(Figure(MISSES.figure, worst, "", n, (0, worst), DISPLAYS))
    gap = max(row["longest_gap_ms"] for row in rows) * REFRESH_HZ / 1000
    figures.append(Figure(GAP.figure, gap, "refreshes", n, (0, gap), DISPLAYS))
    context.notes.append("Without a screen: the refreshes are gid-cluster's own, at fixed times.")
    return figures


def _pacing(context: Context) -> list[Figure]:
    timing = () if context.is_full else ("--rounds=1", "--seconds=1")
    found = context.benchmark("pacing", *PACED, *timing, minutes=20)
    figures = []
    for row in found["rows"]:
        who, n = f"{row['case'].partition('@')[0]}, pacing {row['who']}", row["frames"]
        spread = (row["p50_least_ms"], row["p50_most_ms"])
        figures.append(Figure(f"{who}: commit to light", row["p50_ms"], "ms", n, spread, PACING))
        if row["capture_p50_ms"] is not None:
            value = row["capture_p50_ms"]
            name = f"{who}: capture to light"
            figures.append(Figure(name, value, "ms", n, (value, value), PACING))
    for goal, key in SOONER.items():
        ratio = found["ratios"][key]
        figures.append(Figure(goal.figure, ratio, "", 1, (ratio, ratio), PACING))
    context.notes.append(
        "Weston 14 without a screen shows a frame that comes after a pause a whole refresh later "
        "at the soonest; `./run bench pacing --display vkms` has a display with a refresh."
    )
    return figures


PACING = "./run bench pacing film@60 30@60"
PACED = ("film@60", "30@60")
# A film's frames exist in advance, so its latency counts from its commit. Of a camera only the
# latency of light counts: a commit that is moved helps nobody.
FILM = Goal("a film, commit to light: with pacing, ratio to without", 0.6)
LIVE = Goal("a camera of 30 a second, capture to light: with pacing, ratio to without", 0.6)
SOONER = {
    FILM: "commit_to_shown_p50_film@60",
    LIVE: "capture_to_light_p50_on_vs_off_30@60",
}
KINDS = {
    "wrong": "wrong pictures",
    "back": "pictures out of order",
    "wrong_pixels": "wrong pixels beside the dials",
}
WRONG = Goal("pictures that are wrong, out of order or refused", 0)
COMPARED = Goal("pictures that were compared, of all that were shown, worst display", 0.99, True)
# The worst display of the evaluation of 2017, which found it too much: 2 of 45,000.
MISSES = Goal("refreshes missed, worst display", 2 / 45000)
GAP = Goal("longest gap between two pictures, worst display", 1.5)

THREE, REPAINT = Shared("displays", (0.4, 11)), Shared("repaint", (0.8, 4))

PLANS = [
    Plan(
        "5.9.2",
        "Three displays at once",
        "One gid-cluster with two outputs of 1920x720 and one of 800x480, each with a warning "
        "light of the other domain and moving dials. Each picture that an output shows is compared "
        "whole: the dials with those that were drawn, by number and checksum, and all else with "
        "the light as it is drawn without a display.",
        _pixels,
        goals=(WRONG, COMPARED),
        minutes=(0.0, 0.0),
        shares=(THREE,),
    ),
    Plan(
        "5.9.4",
        "Refreshes without a new picture",
        "The same three displays, on which something moves at each refresh: refreshes without a "
        "picture, and those with the dials of the one before.",
        _missed,
        goals=(MISSES, GAP),
        minutes=(0.0, 0.0),
        shares=(THREE,),
    ),
    Plan(
        "pacing",
        "Sooner to light by pacing",
        "A film and a live source in Weston, with its own repaint window and with the module's, in "
        "turn: how much sooner they are light. Only the window differs.",
        _pacing,
        goals=tuple(SOONER),
        minutes=(0.2, 6),
    ),
    Plan(
        "5.9.3",
        "Repaint of the compositor",
        "The same film full screen in Weston, once in gid memory and once in wl_shm: from the "
        "beginning of a repaint to when it is posted, its median, and its instructions counted by "
        "callgrind.",
        _repaint,
        goals=(Goal(INSTRUCTIONS, 1.01), Goal(TIME, 1.01)),
        minutes=(0.0, 0.0),
        shares=(REPAINT,),
    ),
]
