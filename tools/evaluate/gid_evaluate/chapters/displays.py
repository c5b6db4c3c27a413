# SPDX-License-Identifier: MIT
"""Three displays (5.9.2), what a repaint costs (5.9.3), and refreshes that are missed (5.9.4)."""

from typing import Any

from ..plan import Context, Goal, Plan
from ..result import Figure

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
    figures = []
    for row in found["rows"]:
        name, wrong = f"{row['who']}, {row['what']}: wrong pixels", row["wrong_pixels"]
        figures.append(Figure(name, wrong, "", row["looks"], (0, wrong), DISPLAYS))
    looks = sum(row["looks"] for row in found["rows"])
    wrong = sum(row["wrong_pixels"] + row.get("refused_frames", 0) for row in found["rows"])
    figures.append(
        Figure("wrong pixels, and pictures refused", wrong, "", looks, (0, wrong), DISPLAYS)
    )
    context.notes.append("Without a screen: what the outputs show is copied and compared.")
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
    context.notes.append("Without a screen: the refreshes are those of gid-cluster's own clock.")
    return figures


# What the evaluation of 2017 had of its worst display, and found too much: 2 of 45,000.
MISSES = Goal("refreshes missed, worst display", 2 / 45000)
# A picture that came twice hides in a sum one that did not come: a gap does not.
GAP = Goal("longest gap between two pictures, worst display", 1.5)

PLANS = [
    Plan(
        "5.9.2",
        "Three displays at once",
        "One gid-cluster with two outputs of 1920x720 and one of 800x480, each with a warning "
        "light of the other domain and moving dials: the light's pixels as the outputs show them, "
        "beside those that the light draws.",
        _pixels,
        goals=(Goal("wrong pixels, and pictures refused", 0),),
        document=(("by eye, 10 minutes", "no noise"),),
        minutes=(0.4, 11),
    ),
    Plan(
        "5.9.4",
        "Refreshes without a new picture",
        "The same three displays, on which something moves at each refresh.",
        _missed,
        goals=(MISSES, GAP),
        document=(("of 45000 each", "0, 0 and 2"),),
        minutes=(0.0, 0.0),
    ),
    Plan(
        "5.9.3",
        "Repaint of the compositor",
        "The same film full screen in Weston, once in gid memory and once in wl_shm: from the "
        "beginning of a repaint to when it is posted, its median, and its instructions counted by "
        "callgrind.",
        _repaint,
        goals=(Goal(INSTRUCTIONS, 1.01), Goal(TIME, 1.01)),
        document=(
            ("native", "1.824 ms, at most 3.251 ms"),
            ("virtualised", "3.56 ms, at most 32.154 ms"),
        ),
        minutes=(0.8, 4),
    ),
]
