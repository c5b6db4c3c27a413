#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to wake a consumer of another machine, by way of both gidds and the hub.

A live source of 50 small frames a second, so that the consumer sleeps before each: between two
domains of one kernel, where the producer wakes it itself, and between two that believe to be
machines, whose doorbells go over their gidds (without any machine: windows are files, ways to the
hub are sockets).
Latency is from submission to receipt, as `gidctl top` has it.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import common
from lab.domains.cockpit import gidds
from lab.domains.configuration import configuration
from lab.domains.program import LabError

SOURCE = (
    "videotestsrc is-live=true pattern=black ! "
    "video/x-raw,format=BGRx,width=64,height=64,framerate=50/1"
)
WAYS = {
    "local": ("open", "cluster"),
    "host and guest": ("open", "host"),
    "two guests": ("open", "cluster"),
}
GUEST = "kind=guest window=16M"
MACHINES = {"open": GUEST, "cluster": GUEST, "host": "kind=host window=16M"}
SHARES = {"open cluster": "movie", "open host": "movie"}


def latency(reader: str) -> dict[str, float]:
    """Median and 99th percentile, µs, of what the domain reads."""
    command = ["gidctl", "--domain", reader, "--json", "--once", "--interval", "3", "top"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    for flow in json.loads(result.stdout)["subscriptions"]:
        if flow["state"] == "live" and "latency_us" in flow:
            return flow["latency_us"]
    raise LabError(f"no frame came to {reader}")


def play(domain: str, text: str) -> subprocess.Popen:
    environment = os.environ | {"GID_DOMAIN": domain}
    return subprocess.Popen(
        ["gst-launch-1.0", "-q", *text.split()],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def measure(owner: str, reader: str) -> dict[str, float]:
    programs = [
        play(owner, f"{SOURCE} ! gidsink stream=movie sync=false"),
        play(reader, f"gidsrc domain={owner} stream=movie ! fakesink sync=false"),
    ]
    try:
        time.sleep(2)
        return latency(reader)
    finally:
        for program in programs:
            program.terminate()
        for program in programs:
            program.wait(20)


def main() -> int:
    parser = common.parser("hop", __doc__)
    parser.add_argument(
        "--repetitions", type=common.count, default=5, help="of everything (default: 5)"
    )
    options = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    progress = common.Progress(options.repetitions * len(WAYS))
    for _ in range(options.repetitions):
        for way, (owner, reader) in WAYS.items():
            progress.step(way)
            with tempfile.TemporaryDirectory(prefix="gid-", dir=common.memory_folder()) as name:
                folder = Path(name)
                if way == "local":
                    domains = common.cockpit(folder, "movie")
                else:
                    text = configuration(MACHINES, SHARES, folder)
                    domains = gidds(text, folder, ("host", "open", "cluster"))
                with domains:
                    found[way].append(measure(owner, reader))
    progress.end()
    rows = [
        {"bench": "hop", "who": "gid", "what": way}
        | {q: statistics.median(value[q] for value in values) for q in ("p50", "p99")}
        for way, values in found.items()
    ]
    for row in rows:
        print(f"{row['what']:15} p50 {row['p50']:8.1f} µs   p99 {row['p99']:8.1f} µs")
    p50 = {row["what"]: row["p50"] for row in rows}
    ratios = {
        "host_and_guest_vs_local": p50["host and guest"] / p50["local"],
        "two_guests_vs_local": p50["two guests"] / p50["local"],
    }
    common.write(options.json, rows, ratios)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
