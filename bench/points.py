#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a point of the timeline costs the program that writes it, switched off and on.

Off is what every frame pays in every element and client: the question whether there is a timeline.
Weston is the same in the Weston module, which asks Weston whether anybody listens to its timeline.
On is one line, put together and appended to a file. Beside it stands the same with /dev/null for
the file: there the system call costs least.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import common
from lab.domains.program import LabError

COUNTS = {"off": 50_000_000, "weston": 50_000_000, "on": 50_000, "null": 50_000}


def main() -> int:
    parser = common.parser("points", __doc__)
    parser.add_argument(
        "--repetitions", type=common.count, default=7, help="of everything (default: 7)"
    )
    options = parser.parse_args()
    found: dict[str, list[float]] = {what: [] for what in COUNTS}
    progress = common.Progress(options.repetitions * len(COUNTS))
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        file = Path(folder) / "points"
        for _ in range(options.repetitions):
            for what, count in COUNTS.items():
                progress.step(what)
                place = {"on": [str(file)], "null": ["/dev/null"]}.get(what, [])
                mode = "on" if place else what
                found[what].append(measure([mode, str(count), *place]))
                file.unlink(missing_ok=True)
    progress.end()
    rows = [
        {
            "bench": "points",
            "who": "limit" if what == "null" else "gid",
            "what": what,
            "ns": statistics.median(values),
            "ns_min": min(values),
            "ns_max": max(values),
        }
        for what, values in found.items()
    ]
    for row in rows:
        print(f"{row['what']:6} {row['ns']:9.2f} ns  ({row['ns_min']:.2f} to {row['ns_max']:.2f})")
    medians = {row["what"]: row["ns"] for row in rows}
    common.write(options.json, rows, {"on_vs_null": medians["on"] / medians["null"]})
    return 0


def measure(arguments: list[str]) -> float:
    result = subprocess.run(
        ["gid-bench-points", *arguments], capture_output=True, text=True, timeout=120
    )
    if result.returncode != 0:
        raise LabError(result.stderr.strip())
    return float(result.stdout)


if __name__ == "__main__":
    sys.exit(common.run(main))
