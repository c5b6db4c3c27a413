#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each program of a cockpit takes: processor time, memory, and a warning light's way to light.

The cockpit is that of `bench isolation`. Processor time is counted for each program with all that
it started, in percent of one core: idle (daemons, Weston and gid-cluster, which show nothing),
running (a telltale, a film and its view; a meter on the cluster), and loaded (in `open` a program
besides that makes system calls without end). Memory is counted while it runs: PSS, in which pages
that several programs map are divided among them, and the slabs as each gidd counts them, in all
and one by one. The light's way begins with its program's own commit: the wait until Weston answers
that it has the commit, and from then until gid-cluster's output shows the picture. The parts of one
change are not put together. So what 99 of 100 changes do not exceed is bounded: by the longest of
one part and 99 % of the other. Their middle is the sum of both medians.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench import common
from lab.domains.program import wait_for
from lab.isolation.pair import Cockpit

WINDOWS = 5  # parts of each measurement, whose median and extremes are told
SETTLE = 1.0  # seconds after a start
DOMAINS = ("open", "cluster")
# One system call for each byte.
LOAD = ("dd", "if=/dev/zero", "of=/dev/null", "bs=1")


def group(pid: int) -> list[int]:
    """The processes that one of ours and what it started are."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getpgid(int(entry.name)) == pid:
                    found.append(int(entry.name))
            except ProcessLookupError:
                pass
    return found


def cpu_seconds(pid: int) -> float:
    """To the nanosecond, of the threads that there are."""
    total = 0
    for one in group(pid):
        for task in Path(f"/proc/{one}/task").glob("*/schedstat"):
            try:
                total += int(task.read_text().split()[0])
            except OSError:
                pass  # it has just ended
    return total / 1e9


def pss_kib(pid: int) -> int:
    total = 0
    for one in group(pid):
        try:
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next(int(line.split()[1]) for line in rollup.splitlines() if "Pss:" in line)
    return total


class Bench:
    def __init__(self, cockpit: Cockpit, seconds: float) -> None:
        self._cockpit, self._seconds = cockpit, seconds
        self._rows: list[dict] = []

    def run(self) -> list[dict]:
        cockpit = self._cockpit
        cockpit.cluster.start()
        cockpit.open.start_desktop()
        time.sleep(SETTLE)
        self._measure_cpu("idle")
        cockpit.open.start()
        cockpit.cluster.wait_live()
        wait_for("the film", lambda: self._quota("open", "slabs") > 1)  # it is there, and the light
        self._with_meter("running")
        self._measure_memory()
        cockpit.open.place.start("load", LOAD)
        self._with_meter("loaded")
        self._add_latency()
        return self._rows

    def _with_meter(self, state: str) -> None:
        meter = self._cockpit.cluster.start_meter(0)
        time.sleep(SETTLE)
        self._measure_cpu(state)
        report = json.loads(meter.finish())
        self._cockpit.cluster.place.forget("meter")
        self._rows.append(
            {
                "bench": "load",
                "what": "rate",
                "state": state,
                "who": "cluster",
                "rate_hz": report["rate"],
                "frames": report["shown"],
            }
        )

    def _programs(self) -> dict[tuple[str, str], int]:
        return {
            (domain, name): self._cockpit[domain][name].pid
            for domain in DOMAINS
            for name in ("gidd", "weston", "telltale", "film", "view", "load", "display", "meter")
            if self._cockpit[domain].is_running(name)
        }

    def _measure_cpu(self, state: str) -> None:
        programs = self._programs()
        samples: dict[tuple[str, str], list[float]] = {key: [] for key in programs}
        for _ in range(WINDOWS):
            before = {key: cpu_seconds(pid) for key, pid in programs.items()}
            begin = time.monotonic()
            time.sleep(self._seconds / WINDOWS)
            passed = time.monotonic() - begin
            for key, pid in programs.items():
                samples[key].append((cpu_seconds(pid) - before[key]) / passed * 100)
        for domain in DOMAINS:
            mine = [values for key, values in samples.items() if key[0] == domain]
            whole = [sum(values) for values in zip(*mine, strict=True)]
            samples[domain, "all programs"] = whole
        for (domain, name), values in samples.items():
            self._rows.append(
                {
                    "bench": "load",
                    "what": "cpu",
                    "state": state,
                    "domain": domain,
                    "who": name,
                    "cpu_percent": round(statistics.median(values), 2),
                    "cpu_percent_min": round(min(values), 2),
                    "cpu_percent_max": round(max(values), 2),
                    "n": len(values),
                }
            )

    def _measure_memory(self) -> None:
        for (domain, name), pid in self._programs().items():
            self._rows.append(
                {
                    "bench": "load",
                    "what": "memory",
                    "domain": domain,
                    "who": name,
                    "pss_kib": pss_kib(pid),
                }
            )
        for domain in DOMAINS:
            self._rows.append(
                {
                    "bench": "load",
                    "what": "slabs",
                    "domain": domain,
                    "who": "slabs",
                    "kib": self._quota(domain, "memory") // 1024,
                    "slabs": self._quota(domain, "slabs"),
                }
            )

            for slab in self._gidctl(domain, "list", "slabs")["slabs"]:
                if slab["domain"] == domain:
                    self._add_slab(slab)

    def _add_slab(self, slab: dict) -> None:
        self._rows.append(
            {
                "bench": "load",
                "what": "slab",
                "domain": slab["domain"],
                "who": slab["owner"].split(" ")[0],
                "size": f"{slab['width']}x{slab['height']}",
                "format": slab["format"],
                "slots": slab["slots"],
                "importers": slab["importers"],
                "kib": slab["bytes"] // 1024,
            }
        )

    def _quota(self, domain: str, name: str) -> int:
        quotas = self._gidctl(domain, "status")["quotas"]
        return next(one["used"] for one in quotas if one["name"] == name)

    def _gidctl(self, domain: str, *words: str) -> dict:
        command = ["gidctl", f"--domain={domain}", "--json", *words]
        return json.loads(self._cockpit[domain].run(command))

    def _add_latency(self) -> None:
        role = self._cockpit.cluster.role("telltale")
        report = json.loads(self._cockpit.open.place["telltale"].finish())
        self._cockpit.open.place.forget("telltale")
        self._rows.append(way_to_light(role, report))


def way_to_light(role: dict, report: dict) -> dict:
    """Of what gid-cluster says of the role, and gid-telltale of its commits."""
    names = ("p50", "p99", "max")
    commit = {name: report[f"commit_{name}_us"] / 1e3 for name in names}
    shown = {name: role[f"capture_latency_{name}_ns"] / 1e6 for name in names}
    whole = {name: commit[name] + shown[name] for name in names}
    # Two changes of 100 may exceed the sum of both 99 %: one in either part.
    whole["p99"] = min(commit["max"] + shown["p99"], commit["p99"] + shown["max"])
    row = {"bench": "load", "what": "latency", "who": "telltale"}
    row |= {f"{name}_ms": round(value, 3) for name, value in whole.items()}
    row |= {f"commit_{name}_ms": value for name, value in commit.items()}
    return row | {"n": min(role["capture_latency_count"], report["commits"])}


def ratios(rows: list[dict]) -> dict[str, float]:
    rates = {row["state"]: row["rate_hz"] for row in rows if row["what"] == "rate"}
    daemons = sum(
        row["cpu_percent"]
        for row in rows
        if row["what"] == "cpu" and row["state"] == "running" and row["who"] == "gidd"
    )
    return {
        "cluster_rate_loaded_vs_running": round(rates["loaded"] / rates["running"], 4),
        "gidds_cpu_percent_running": round(daemons, 2),
    }


def show(rows: list[dict]) -> None:
    for row in rows:
        if row["what"] == "cpu":
            print(f"{row['state']:8} {row['domain']:8} {row['who']:13} {row['cpu_percent']:7.2f} %")
        elif row["what"] == "rate":
            print(f"{row['state']:8} cluster  meter         {row['rate_hz']:7.2f} Hz")
        elif row["what"] == "latency":
            print(
                f"telltale, from its commit to light: p50 {row['p50_ms']} ms, p99 "
                f"{row['p99_ms']} ms, at most {row['max_ms']} ms ({row['n']} changes)"
            )
        else:
            kib = row.get("pss_kib", row.get("kib"))
            slab = f", {row['slots']} slots of {row['size']}" if row["what"] == "slab" else ""
            print(f"memory   {row['domain']:8} {row['who']:13} {kib:7} KiB{slab}")


def measure(options: argparse.Namespace, folder: Path) -> list[dict]:
    cockpit = Cockpit(folder)
    if options.film:
        cockpit.open.play_film()
    with contextlib.ExitStack() as stack:
        stack.push(cockpit.__exit__)
        return Bench(cockpit, options.seconds).run()


def main() -> int:
    parser = common.parser("load", __doc__)
    parser.add_argument(
        "--seconds",
        type=common.seconds,
        default=10,
        help="seconds of each measurement (default: 10)",
    )
    parser.add_argument("--film", action="store_true", help=common.FILM_HELP)
    options = parser.parse_args()
    # Short, for a socket's path has 108 bytes.
    with tempfile.TemporaryDirectory(prefix="gid-bench-", dir=common.memory_folder()) as folder:
        rows = measure(options, Path(folder))
    show(rows)
    common.write(options.json, rows, ratios(rows))
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
