# SPDX-License-Identifier: MIT
"""The load of a whole cockpit's programs (5.1, 5.19, 5.23), and the latency of light (5.22)."""

from collections import defaultdict
from typing import Any

from gid_evaluate.plan import Goal, Shared
from gid_evaluate.result import Figure

from lab.evaluate.context import Context, Plan

SOURCE = "./run bench load --film"
REFRESH_MS = 1000 / 60
TYPICAL = "telltale at all phases of a refresh, median"
LOADED = Goal("loaded: frames a second of the cluster", 0.99 * 60, is_least=True)
LATE = Goal("telltale at all phases of a refresh, 99 %", round(2 * REFRESH_MS, 1))


def _load(context: Context) -> dict[str, Any]:
    return context.benchmark("load", "--film", f"--seconds={60 if context.is_full else 5}")


def _processor(context: Context) -> list[Figure]:
    found = _load(context)
    figures = [
        Figure(
            f"{row['state']}: {row['domain']}, {row['who']}",
            row["cpu_percent"],
            "% of a core",
            row["n"],
            (row["cpu_percent_min"], row["cpu_percent_max"]),
            SOURCE,
        )
        for row in found["rows"]
        if row["what"] == "cpu"
    ]
    for row in found["rows"]:
        if row["what"] == "rate":
            rate, name = row["rate_hz"], f"{row['state']}: frames a second of the cluster"
            figures.append(Figure(name, rate, "Hz", row["frames"], (rate, rate), SOURCE))
    daemons = found["ratios"]["gidds_cpu_percent_running"]
    name = "running: both gidd"
    figures.append(Figure(name, daemons, "% of a core", 1, (daemons, daemons), SOURCE))
    context.notes.append("Processes on one kernel: there is no hypervisor whose time could count.")
    return figures


def _memory(context: Context) -> list[Figure]:
    figures = []
    for row in _load(context)["rows"]:
        if row["what"] == "memory":
            kib, name = row["pss_kib"], f"{row['domain']}, {row['who']}: PSS"
        elif row["what"] == "slabs":
            kib, name = row["kib"], f"{row['domain']}: {row['slabs']} slabs"
        else:
            continue
        figures.append(Figure(name, kib / 1024, "MiB", 1, (kib / 1024, kib / 1024), SOURCE))
    return figures


def _modules(context: Context) -> list[Figure]:
    """Of each program its own memory, and of its slabs each one."""
    figures, sums = [], defaultdict(float)
    for row in _load(context)["rows"]:
        who = f"{row['domain']}, {row['who']}" if "domain" in row else ""
        if row["what"] == "memory":
            mib, name = row["pss_kib"] / 1024, f"{who}: PSS"
        elif row["what"] == "slab":
            mib = row["kib"] / 1024
            name = f"{who}: slab of {row['slots']} {row['size']} {row['format']}"
        else:
            continue
        sums[row["domain"]] += mib
        figures.append(Figure(name, mib, "MiB", 1, (mib, mib), SOURCE))
    for domain, mib in sums.items():
        figures.append(Figure(f"{domain}, sum", mib, "MiB", 1, (mib, mib), SOURCE))
    context.notes.append("A slab's pages are in the PSS of each program that maps them, too.")
    return figures


def _latency(context: Context) -> list[Figure]:
    row = next(row for row in _load(context)["rows"] if row["what"] == "latency")
    return [
        Figure(TYPICAL, row["p50_ms"], "ms", row["n"], (0, row["max_ms"]), SOURCE),
        Figure(LATE.figure, row["p99_ms"], "ms", row["n"], (0, row["max_ms"]), SOURCE),
    ]


def _start(context: Context) -> list[Figure]:
    found = context.benchmark("start", "--film", f"--repetitions={10 if context.is_full else 3}")
    figures, source = [], "./run bench start --film"
    for row in found["rows"]:
        name, n, longest = row["what"], row["n"], row["seconds_max"]
        spread = (row["seconds_min"], longest)
        figures.append(Figure(name, row["seconds"], "s", n, spread, source))
        figures.append(Figure(f"{name}, the longest", longest, "s", n, spread, source))
    return figures


RUN = Shared("load", (0.4, 4))

PLANS = [
    Plan(
        "5.1.1",
        "Processor time of domains and daemons",
        "Weston with a telltale, a film (H.264 with sound, decoded) and its view in one domain, "
        "gid-cluster in the other; each program's time, idle, running, and while a program of the "
        "first makes system calls without end.",
        _processor,
        # No frame goes through gidd: by it alone nothing could be missed.
        goals=(Goal("running: both gidd", 1.0), LOADED),
        minutes=(0.0, 0.0),
        shares=(RUN,),
    ),
    Plan(
        "5.4",
        "Start",
        "From the start of gid-cluster to its first picture, and to a live light that waits in the "
        "other domain; and from the start of that domain's programs to its light and its film. "
        "Each start must be in time.",
        _start,
        goals=(
            Goal("gid-cluster's start to its first picture, the longest", 1.0),
            Goal("start of the other domain to its live light, the longest", 1.0),
        ),
        minutes=(0.1, 1),
    ),
    Plan(
        "5.19",
        "Memory of each program",
        "PSS of each program while the cockpit runs: pages that several programs map are divided "
        "among them. Beside it the slabs, as each gidd counts them.",
        _memory,
        minutes=(0.0, 0.0),
        shares=(RUN,),
    ),
    Plan(
        "5.23",
        "Memory of each module",
        "The same run: each program's PSS, and each slab with its owner, slots and format.",
        _modules,
        minutes=(0.0, 0.0),
        shares=(RUN,),
    ),
    Plan(
        "5.22",
        "From a change of the picture to light",
        "A telltale changes, at all phases of a refresh; from its own commit, through its Weston, "
        "until gid-cluster's output shows it: its wait until Weston has the commit, and the rest. "
        "The two are measured apart: of the longest of one and 99 % of the other, the smaller sum.",
        _latency,
        goals=(LATE,),
        minutes=(0.0, 0.0),
        shares=(RUN,),
    ),
]
