# SPDX-License-Identifier: MIT
"""What a repaint costs the compositor (5.9.3), and when pictures are shown."""

from ..plan import Context, Goal, Plan
from ..result import Figure


def _repaint(context: Context) -> list[Figure]:
    repaints = 600 if context.is_full else 100
    arguments = (f"--repaints={repaints}", "--seconds=10" if context.is_full else "--seconds=4")
    found = context.benchmark("repaint", "--repetitions=2", *arguments)
    source = "./run bench repaint"
    figures = []
    for row in found["rows"]:
        if row["what"] == "instructions":
            name = f"{row['who']}, instructions a repaint"
            value, spread = row["instructions"], (row["drawing_instructions"], row["instructions"])
            figures.append(Figure(name, value, "", row["repaints"], spread, source))
        else:
            name = f"{row['who']}, repaint begun to posted"
            average, most = row["mean_ms"], row["max_ms"]
            figures.append(Figure(name, average, "ms", row["repaints"], (0, most), source))
    ratio = found["ratios"]["repaint_instructions_gid_vs_wl_shm"]
    name = "instructions of a repaint, gid, ratio to wl_shm"
    figures.append(Figure(name, ratio, "", repaints, (ratio, ratio), source))
    return figures


PLANS = [
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
        minutes=(1.5, 4),
    ),
]
