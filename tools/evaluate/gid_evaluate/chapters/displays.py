# SPDX-License-Identifier: MIT
"""Three displays (5.9.2), what a repaint costs (5.9.3), and refreshes that are missed (5.9.4)."""

from typing import Any

from ..plan import Context, Goal, Plan
from ..result import Figure

DISPLAYS = "./run bench displays"


def _repaint(context: Context) -> list[Figure]:
    repaints = 600 if context.is_full else 100
    quick = ("--repetitions=1", "--seconds=4")
    timing = ("--repetitions=2", "--seconds=10") if context.is_full else quick
    found = context.benchmark("repaint", f"--repaints={repaints}", *timing)
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
    ratio = found["ratios"]["repaint_instructions_gid_vs_wl_shm"]
    name = "instructions of a repaint, gid, ratio to wl_shm"
    figures.append(Figure(name, ratio, "", repaints, (ratio, ratio), source))
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
    wrong, looks = found["ratios"]["wrong_pixels"], sum(row["looks"] for row in found["rows"])
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
    worst, n = found["ratios"]["missed_share_worst"], found["rows"][0]["refreshes"]
    name = "refreshes missed, worst display"
    figures.append(Figure(name, worst, "", n, (0, worst), DISPLAYS))
    context.notes.append("Without a screen: the refreshes are those of gid-cluster's own clock.")
    return figures


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
        goals=(Goal("refreshes missed, worst display", 0.01),),
        document=(("of 45000 each", "0, 0 and 2"),),
        minutes=(0.0, 0.0),
    ),
    Plan(
        "5.9.3",
        "Repaint of the compositor",
        "The same film full screen in Weston, once in gid memory and once in wl_shm: from the "
        "beginning of a repaint to when it is posted, and its instructions counted by callgrind.",
        _repaint,
        goals=(Goal("instructions of a repaint, gid, ratio to wl_shm", 1.01),),
        document=(
            ("native", "1.824 ms, at most 3.251 ms"),
            ("virtualised", "3.56 ms, at most 32.154 ms"),
        ),
        needs_quiet=False,
        minutes=(0.8, 4),
    ),
]
