# SPDX-License-Identifier: MIT
"""Costs between processes and between machines: frames (5.2), and doorbells."""

from typing import Any

from gid_evaluate.outcome import NotRun
from gid_evaluate.plan import Goal, Shared
from gid_evaluate.result import Figure

from lab.evaluate.context import Context, Plan

BANDWIDTH = "./run bench bandwidth"
MACHINE = "./run bench vm"
FRAME = 1280 * 720 * 4  # bytes, in both benchmarks
RATE = 60
MOVED = "MB/s moved"  # of which less is better


def machine(context: Context) -> dict[str, Any]:
    """Frames and doorbells between a guest and its host."""
    if context.virtual is None:
        raise NotRun(f"no guest of gidway's own: {context.why_no_guest}")
    timing = ("--frames=30", "--round-trips=200")
    return context.benchmark("vm", *(() if context.is_full else timing), minutes=20)


def _bandwidth(context: Context) -> list[Figure]:
    found = context.benchmark("bandwidth", f"--frames={600 if context.is_full else 60}")
    figures = []
    for row in found["rows"]:
        copies, moved, n = row["copies_per_frame"], row["mb_s"], row["frames"]
        who = f"{row['who']}, to another process"
        figures.append(Figure(f"{who}: copies", copies, "pictures", n, (copies, copies), BANDWIDTH))
        figures.append(Figure(f"{who}: moved", moved, MOVED, n, (moved, moved), BANDWIDTH))
    with context.part("Not between machines"):
        figures += _between_machines(context)
    ratio = found["ratios"]["gid_bandwidth_vs_best_peer"]
    name = "gid, bytes moved, ratio to the best of the others"
    figures.append(Figure(name, ratio, "", 1, (ratio, ratio), BANDWIDTH))
    context.notes.append(
        "This is counted by the programs, not by the memory controller: what caches keep away from "
        "the memory counts as well; what a program copies in loops of its own does not. What they "
        "copy as they start is spread over all frames."
    )
    return figures


def _between_machines(context: Context) -> list[Figure]:
    found = machine(context)
    figures = []
    for row in found["rows"]:
        if "copied_bytes_per_frame" in row:
            copies, n = row["copied_bytes_per_frame"] / FRAME, row["frames"]
            who = f"{row['way']}, to another machine"
            figures.append(
                Figure(f"{who}: copies", copies, "pictures", n, (copies, copies), MACHINE, "guest")
            )
            moved = (2 + 2 * copies) * FRAME * RATE / 1e6
            figures.append(
                Figure(f"{who}: moved", moved, MOVED, n, (moved, moved), MACHINE, "guest")
            )
    return figures


def _doorbells(context: Context) -> list[Figure]:
    found = machine(context)
    source = "./run bench vm"
    figures = []
    for row in found["rows"]:
        if "p50_us" in row:
            spread = (row["p50_us"], row["p99_us"])
            name = f"{row['way']}, there and back"
            figures.append(Figure(name, row["p50_us"], "µs", row["n"], spread, source, "guest"))
            rate = 1e6 / row["p50_us"]
            spread = (1e6 / row["p99_us"], rate)
            name = f"{row['way']}, a second"
            figures.append(Figure(name, rate, "Hz", row["n"], spread, source, "guest"))
    context.notes.append("The spread is from the median to the 99th of 100.")
    return figures


MACHINES = Shared("vm", (1.7, 4))

PLANS = [
    Plan(
        "5.2",
        "Memory bandwidth of video",
        "Pictures of 1280x720, 60 a second, handed to another process, and to another machine: how "
        "often each is copied on the way, and the bytes that are read and written for each second, "
        "with making and reading the picture.",
        _bandwidth,
        goals=(
            Goal("gid, to another process: copies", 0.01),
            Goal("gid, bytes moved, ratio to the best of the others", 1.01),
        ),
        minutes=(0.4, 1),
        shares=(MACHINES,),
    ),
    Plan(
        "doorbells",
        "Doorbells between machines",
        "A sleeping program of the host rings one of a guest, which answers: by way of both gidds, "
        "over the doorbell device and over the link; the device alone; a byte over a virtio-serial "
        "port; beside a bare eventfd of the host.",
        _doorbells,
        minutes=(0.0, 0.0),
        shares=(MACHINES,),
    ),
]
