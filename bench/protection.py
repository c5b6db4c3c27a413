#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the check of a protected picture costs, by CRC-64 and by AES-CMAC.

It is the processor's time for one picture: whoever sends it pays that once, and so does each
display that looks at it. `core` is the part of a core that 60 pictures a second take, on one side.
Beside them stands the bare limit: to copy the picture.
"""

import statistics
import subprocess
import sys

from bench import common
from lab.domains.program import LabError

SIZES = {"720p": (1280, 720), "1080p": (1920, 1080)}
WAYS = ("crc64", "cmac", "copy")
RATE = 60


def measure(way: str, width: int, height: int, frames: int) -> float:
    """Ns of a picture."""
    command = ["gid-bench-protection", way, str(width), str(height), str(frames)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        raise LabError(result.stderr.strip())
    return float(result.stdout)


def row(name: str, way: str, values: list[float]) -> dict:
    width, height = SIZES[name]
    ns = statistics.median(values)
    return {
        "bench": "protection",
        "who": "limit" if way == "copy" else "gid",
        "size": name,
        "what": way,
        "ns": ns,
        "ns_min": min(values),
        "ns_max": max(values),
        "ns_per_mb": ns / (width * height * 4 / 1e6),
        "core_percent": ns * RATE / 1e9 * 100,
    }


def main() -> int:
    parser = common.parser("protection", __doc__)
    parser.add_argument(
        "--repetitions", type=common.count, default=7, help="of everything (default: 7)"
    )
    parser.add_argument(
        "--frames", type=common.count, default=60, help="of each time (default: 60)"
    )
    options = parser.parse_args()
    found: dict[tuple[str, str], list[float]] = {(name, way): [] for name in SIZES for way in WAYS}
    progress = common.Progress(options.repetitions * len(found))
    for _ in range(options.repetitions):
        for (name, way), values in found.items():
            progress.step(f"{name} {way}")
            values.append(measure(way, *SIZES[name], options.frames))
    progress.end()
    rows = [row(name, way, values) for (name, way), values in found.items()]
    for one in rows:
        spread = f"({one['ns_min'] / 1e6:.3f} to {one['ns_max'] / 1e6:.3f})"
        print(
            f"{one['size']:5} {one['what']:5} {one['ns_per_mb']:9.0f} ns a MB  "
            f"{one['ns'] / 1e6:7.3f} ms {spread}  core: {one['core_percent']:5.1f} %"
        )
    medians = {(one["size"], one["what"]): one["ns"] for one in rows}
    ratios = {
        f"{way}_vs_copy_{name}": medians[name, way] / medians[name, "copy"]
        for name in SIZES
        for way in WAYS
        if way != "copy"
    }
    common.write(options.json, rows, ratios)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
