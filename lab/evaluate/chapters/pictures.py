# SPDX-License-Identifier: MIT
"""Drawing (5.6), films (5.7) and cameras (5.8): frames shown of frames sent."""

import shutil
from collections import defaultdict
from typing import Any

from gid_evaluate.outcome import NotRun
from gid_evaluate.plan import Goal, Shared
from gid_evaluate.result import Figure

from lab.evaluate.context import Context, Plan

SHOWN = "./run bench shown"
FRAMES_BY_COUNTS = "frames for the same instructions of Weston, with the module, ratio to without"


def _drawing(context: Context) -> list[Figure]:
    if shutil.which("glmark2-es2-wayland") is None:
        raise NotRun("there is no glmark2-es2-wayland")
    timing = (
        ("--repetitions=5", "--seconds=5")
        if context.is_full
        else ("--repetitions=3", "--seconds=1")
    )
    found = context.benchmark("drawing", *timing)
    source = "./run bench drawing"
    figures = []
    for row in found["rows"]:
        if row["who"] == "ratio":
            each = row["each"]
            continue
        if "instructions" in row:
            count = row["instructions"]
            figures.append(Figure(row["what"], count, "", 1, (count, count), source))
            continue
        for key, unit in (("fps", "fps"), ("frames_per_cpu_second", "frames/s of CPU")):
            spread = (row[f"{key}_min"], row[f"{key}_max"])
            figures.append(Figure(row["what"], row[key], unit, row["n"], spread, source))
    ratio = found["ratios"]["frames_with_module_vs_without"]
    name = "frames for the same processor time, with the module, ratio to without"
    spread = (min(each), max(each))
    figures.append(Figure(name, ratio, "share", len(each), spread, source))
    ratio = found["ratios"]["frames_for_instructions_with_module_vs_without"]
    figures.append(Figure(FRAMES_BY_COUNTS, ratio, "share", 1, (ratio, ratio), source))
    context.notes.append(
        "The goal is by counts, of Weston, where the module is: by processor time the ratio moves "
        "by a tenth either way from turn to turn, and says nothing of a hundredth. Counts do not "
        "see what caches cost; the ratio by processor time stands beside."
    )
    return figures


def shown(context: Context) -> dict[str, Any]:
    quick = ("--repetitions=1", "--seconds=3", "--rate", "25", "60")
    displays = ("--display", "gid-cluster", "weston-7")
    return context.benchmark("shown", *(() if context.is_full else (*quick, *displays)), minutes=30)


def rates(found: dict[str, Any], what: str) -> list[Figure]:
    """For each display and rate: the share of sent frames that were shown, and frames shown per
    second.
    """
    groups: dict[tuple[str, int], list[dict]] = defaultdict(list)
    for row in found["rows"]:
        if row["what"] == what:
            groups[row["who"], row["rate"]].append(row)
    figures = []
    for (who, rate), rows in groups.items():
        shares = sorted(row["shown_of_sent"] for row in rows)
        share, name = (
            shares[0],
            f"{who}, {rate} a second, worst run",
        )  # each run must reach it
        sent = sum(row["sent"] for row in rows)
        spread = (shares[0], shares[-1])
        figures.append(Figure(f"{name}: shown of sent", share, "share", sent, spread, SHOWN))
        paces = tuple(one * rate for one in spread)
        figures.append(Figure(f"{name}: shown", share * rate, "fps", sent, paces, SHOWN))
    return figures


def _films(context: Context) -> list[Figure]:
    found = shown(context)
    figures = rates(found, "film")
    for row in found["rows"]:
        if row["what"] == "limit":
            rate, name = row["rate_hz"], f"{row['who']}: shows at most"
            figures.append(Figure(name, rate, "fps", 1, (rate, rate), SHOWN))
    context.notes.append(
        "Weston 14 without a screen arms a timer of 16 ms after each repaint and waits for the "
        "rest of its repaint window before the next: what it shows at most stands beside, and no "
        "client can have more (weston-N: a repaint window of N ms)."
    )
    return figures


def _decoding(context: Context) -> list[Figure]:
    found = shown(context)
    figures = [
        Figure(
            f"into {row['who']}",
            row["frames_per_cpu_second"],
            "frames/s of CPU",
            row["n"],
            (row["frames_per_cpu_second_min"], row["frames_per_cpu_second_max"]),
            SHOWN,
        )
        for row in found["rows"]
        if row["what"] == "decode"
    ]
    context.notes.append(
        "More than 1 is no mistake: each frame is decoded both times. Into gid memory the decoder "
        "writes a few slots again and again; for a fakesink it makes a pool of its own."
    )
    each = {row["who"]: row["each"] for row in found["rows"] if row["what"] == "decode"}
    turns = [ours / bare for ours, bare in zip(each["gid"], each["fakesink"], strict=True)]
    ratio, name = found["ratios"]["decode_gid_vs_fakesink"], "into gid memory, ratio to fakesink"
    spread = (min(turns), max(turns))
    return [*figures, Figure(name, ratio, "share", len(turns), spread, SHOWN)]


def _together(context: Context) -> list[Figure]:
    if shutil.which("pulseaudio") is None:
        raise NotRun("there is no sound server (package pulseaudio)")
    seconds = 600 if context.is_full else 10
    found = context.benchmark("together", f"--seconds={seconds}", minutes=15)
    (row,) = found["rows"]
    source, n, marks = "./run bench together", row["n"], row["marks"]
    lag, spread = row["lag_ms"], (row["lag_ms_min"], row["lag_ms_max"])
    worst, drift, way = max(map(abs, spread)), row["drift_ms"], row["to_light_ms"]
    # A second whose flash or burst did not come has no lag.
    lost = float(marks - min(n, row["flashes"], row["bursts"]))
    return [
        Figure("sound after the picture", lag, "ms", n, spread, source),
        Figure(APART.figure, worst, "ms", n, (worst, worst), source),
        Figure("apart in the last third, more than in the first", drift, "ms", n, spread, source),
        Figure("from sending a frame to its light", way, "ms", n, (way, way), source),
        Figure(LOST.figure, lost, "", marks, (lost, lost), source),
        Figure(GAPS.figure, row["gaps"], "", marks, (row["gaps"],) * 2, source),
    ]


def _camera(context: Context) -> list[Figure]:
    found = shown(context)
    sources = {row["source"] for row in found["rows"] if row["what"] == "camera"}
    if "videotestsrc" in sources:
        context.notes.append("There is no camera here: a live test picture stands for it.")
    return rates(found, "camera")


APART = Goal("sound and picture apart, worst second", 45)
LOST = Goal("seconds without their flash or their burst", 1)  # the recording may cut one off
GAPS = Goal("gaps in the sound", 0)

RUN = Shared("shown", (1.3, 6))

PLANS = [
    Plan(
        "5.6",
        "Drawing with OpenGL",
        "glmark2 in a window of 1920x720 on Weston's GL renderer, with gidway's module and without "
        "it, in turns: frames for each second of its own processor time, without its start; "
        "and frames a second. And Weston's instructions for a frame of weston-simple-egl.",
        _drawing,
        goals=(Goal(FRAMES_BY_COUNTS, 0.99, is_least=True),),
        minutes=(0.7, 5),
    ),
    Plan(
        "5.7.1",
        "Films",
        "A film of 1280x720 is decoded in one domain and shown full screen in the other: the "
        "frames that the display says it has shown, of those that were sent.",
        _films,
        goals=(
            Goal("gid-cluster, 25 a second, worst run: shown of sent", 0.99, is_least=True),
            Goal("gid-cluster, 60 a second, worst run: shown of sent", 0.99, is_least=True),
        ),
        minutes=(0.0, 0.0),
        shares=(RUN,),
    ),
    Plan(
        "5.7.3",
        "Sound and picture in step",
        "A film with a flash and a burst of tone each second: when the flash is light on "
        "gid-cluster, and when the sound server plays the burst, into nothing and at a card's "
        "pace. 45 ms is what people begin to notice (ITU-R BT.1359).",
        _together,
        goals=(APART, LOST, GAPS),
        minutes=(0.3, 11),
    ),
    Plan(
        "5.7.4",
        "Decoding",
        "The same film decoded as fast as it goes, into gid memory and into a sink that drops it: "
        "frames for each second of processor time.",
        _decoding,
        goals=(Goal("into gid memory, ratio to fakesink", 0.98, is_least=True),),
        minutes=(0.0, 0.0),
        shares=(RUN,),
    ),
    Plan(
        "5.8",
        "Camera",
        "As the films, with a source that sends its frames at fixed times.",
        _camera,
        goals=(Goal("gid-cluster, 30 a second, worst run: shown of sent", 0.99, is_least=True),),
        minutes=(0.0, 0.0),
        shares=(RUN,),
    ),
]
