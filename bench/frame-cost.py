#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a frame costs by the public calls: many streams, many readers, and frames in bursts.

`gid-probe streams` sends, receives and releases in one thread on one core, in its own processor
time, so that other programs do not count; bursts also between two cores, in time that passes,
which needs a quiet machine. Of several runs the median of each figure counts.
"""

import json
import os
import statistics
import subprocess
import sys

from bench import common, counts
from lab.domains.program import LabError

ONE = "streams: 1, consumers: 1"
BURSTS = {"burst_cycles_one_core": "one core", "burst_cycles_two_cores": "two cores"}


def probe() -> dict[str, float]:
    """Each figure's value by its name."""
    result = subprocess.run(
        ["gid-probe", "streams"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"GID_DOMAIN": "open"},
    )
    if result.returncode != 0:
        raise LabError(result.stderr.strip())
    return {row["name"]: row["value"] for row in json.loads(result.stdout)["figures"]}


def ratios_of(found: dict[str, float]) -> dict[str, float]:
    ratios = {
        "eight_readers_vs_one": found["streams: 1, consumers: 8"] / found[ONE],
        "streams_64_vs_1": found["streams: 64, consumers: 1"] / found[ONE],
    }
    for name, where in BURSTS.items():
        if (figure := f"bursts, {where}, cycles") in found:
            ratios[name] = found[figure]
    return ratios


def main() -> int:
    parser = common.parser("frame-cost", __doc__)
    parser.add_argument(
        "--repetitions", type=common.count, default=5, help="of everything (default: 5)"
    )
    options = parser.parse_args()
    runs = []
    progress = common.Progress(options.repetitions)
    with counts.cockpit():
        for number in range(options.repetitions):
            progress.step(f"run {number + 1}")
            runs.append(probe())
    progress.end()
    rows = [
        {
            "bench": "frame-cost",
            "what": name,
            "value": statistics.median(run[name] for run in runs),
            "min": min(run[name] for run in runs),
            "max": max(run[name] for run in runs),
            "n": len(runs),
        }
        for name in runs[0]
    ]
    for row in rows:
        print(f"{row['what']:38} {row['value']:9.1f}  ({row['min']:.1f} to {row['max']:.1f})")
    each = [ratios_of(run) for run in runs]
    ratios = {name: statistics.median(one[name] for one in each) for name in each[0]}
    for name, value in ratios.items():
        print(f"{name}: {value:.2f}")
    common.write(options.json, rows, ratios)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
