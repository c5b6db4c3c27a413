#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What one frame costs in the ring: sent, received and released, between two cores and on one.

Two pinned threads keep the ring busy and nobody sleeps, so this is the price of the ring alone,
amortised: the producer sends what it may, then takes what came back, and so on; then one thread
does both sides. Beside it stand the bare limits: a word in shared memory to the other core and
back, and an eventfd that wakes the other core and is answered. In ns, and in cycles of the time
stamp counter; in a real-time class, where that is allowed.
"""

import statistics
import subprocess
import sys

import gid_console

from bench import common
from lab.domains import priority
from lab.domains.program import LabError

COUNTS = {"ring": 5_000_000, "alone": 5_000_000, "spin": 1_000_000, "eventfd": 20_000}
CYCLES = {"ring_cycles_one_core": "alone", "ring_cycles_two_cores": "ring"}


def ratios(rows: list[dict]) -> dict[str, float]:
    """With the cycles of a frame, where this machine counts any."""
    by_way = {row["what"]: row for row in rows}
    cycles = {name: by_way[way]["cycles"] for name, way in CYCLES.items()}
    found = {"ring_vs_spin": by_way["ring"]["ns"] / by_way["spin"]["ns"]}
    return found | {name: value for name, value in cycles.items() if value > 0}


def main() -> int:
    parser = common.parser("ring", __doc__)
    parser.add_argument(
        "--repetitions", type=common.count, default=7, help="of everything (default: 7)"
    )
    parser.add_argument(
        "--rounds",
        type=gid_console.decimal_number(0.001, 1000),
        default=1,
        help="times of the usual number (default: 1)",
    )
    options = parser.parse_args()
    priority.take_precedence()
    cores = [str(core) for core in priority.two_cores()]
    found: dict[str, list[float]] = {way: [] for way in COUNTS}
    cycles: dict[str, list[float]] = {way: [] for way in COUNTS}
    progress = common.Progress(options.repetitions * len(COUNTS))
    for _ in range(options.repetitions):
        for way, count in COUNTS.items():
            progress.step(way)
            command = ["gid-bench-ring", way, str(int(count * options.rounds)), *cores]
            result = subprocess.run(command, capture_output=True, text=True, timeout=120)
            if result.returncode != 0:
                raise LabError(result.stderr.strip())
            ns, ticks = map(float, result.stdout.split())
            found[way].append(ns)
            cycles[way].append(ticks)
    progress.end()
    medians = {way: statistics.median(values) for way, values in found.items()}
    rows = [
        {
            "bench": "ring",
            "who": "gid" if way in ("ring", "alone") else "limit",
            "what": way,
            "ns": medians[way],
            "ns_min": min(values),
            "ns_max": max(values),
            "cycles": statistics.median(cycles[way]),
            "cycles_min": min(cycles[way]),
            "cycles_max": max(cycles[way]),
            "n": len(values),
        }
        for way, values in found.items()
    ]
    for row in rows:
        spread = f"({row['ns_min']:.1f} to {row['ns_max']:.1f})"
        print(f"{row['what']:8} {row['ns']:9.1f} ns  {spread}, {row['cycles']:.0f} cycles")
    common.write(options.json, rows, ratios(rows))
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
