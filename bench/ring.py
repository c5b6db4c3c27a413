#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What one frame costs in the ring: sent, received and released, between two cores.

Two pinned threads keep the ring busy and nobody sleeps, so this is the price of the ring alone,
amortised. Beside it stand the bare limits: a word in shared memory to the other core and back,
and an eventfd that wakes the other core and is answered.
"""

import statistics
import subprocess
import sys

import common

COUNTS = {"ring": 5_000_000, "spin": 1_000_000, "eventfd": 20_000}


def main() -> int:
    parser = common.parser("ring", __doc__)
    parser.add_argument("--repetitions", type=int, default=7, help="of everything (default: 7)")
    options = parser.parse_args()
    cores = [str(core) for core in common.two_cores()]
    found: dict[str, list[float]] = {way: [] for way in COUNTS}
    progress = common.Progress(options.repetitions * len(COUNTS))
    for _ in range(options.repetitions):
        for way, count in COUNTS.items():
            progress.step(way)
            command = ["gid-bench-ring", way, str(count), *cores]
            result = subprocess.run(command, capture_output=True, text=True, timeout=120)
            if result.returncode != 0:
                raise common.BenchError(result.stderr.strip())
            found[way].append(float(result.stdout))
    progress.end()
    medians = {way: statistics.median(values) for way, values in found.items()}
    rows = [
        {
            "bench": "ring",
            "who": "gid" if way == "ring" else "limit",
            "what": way,
            "ns": medians[way],
            "ns_min": min(values),
            "ns_max": max(values),
        }
        for way, values in found.items()
    ]
    for row in rows:
        print(f"{row['what']:8} {row['ns']:9.1f} ns  ({row['ns_min']:.1f} to {row['ns_max']:.1f})")
    common.write(options.json, rows, {"ring_vs_spin": medians["ring"] / medians["spin"]})
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
