# SPDX-License-Identifier: MIT
"""Whether the cluster keeps its rate whatever another domain does (5.16 to 5.18)."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from ..plan import Context, Goal, NotRun, Plan
from ..result import Figure

GOAL = Goal("lowest rate of all cases", 0.99, is_least=True)


ALONE = "./run bench isolation --case "
UNPROTECTED = "./run bench isolation --unprotected --case "
# One run for all chapters: they share what is undisturbed.
CASES = ("flood", "gpu", "leak", "scribble", "messages", "restart")
MORE = ("link", "traps", "sparse", "silent", "notes", "bells", "live", "status", "stop")


def _isolation(context: Context, cases: tuple[str, ...]) -> list[Figure]:
    wanted = (*CASES, *(MORE if context.is_full else ()))
    timing = ("--repetitions=10",) if context.is_full else ("--repetitions=2", "--seconds=4")
    found = context.benchmark(
        "isolation", *timing, *(f"--case={name}" for name in wanted), minutes=60
    )
    figures = _rates(found, ("undisturbed", *cases), ALONE)
    rates = [one for one in figures if one.name.endswith("rate of undisturbed")]
    lowest = min(one.value for one in rates)
    spread = (min(one.spread[0] for one in rates), max(one.spread[1] for one in rates))
    name = "lowest rate of all cases"
    return [*figures, Figure(name, lowest, "share", len(rates), spread, ALONE + " ".join(cases))]


def _rates(found: dict, cases: tuple[str, ...], source: str, prefix: str = "") -> list[Figure]:
    figures = []
    for row in found["rows"]:
        case, n = row["case"], row["repetitions"]
        if case not in cases:
            continue
        rate, ratio = row["rate_hz"], row["rate_vs_undisturbed"]
        rates, ratios = _spread(row, "rate_hz"), _spread(row, "rate_vs_undisturbed")
        name = f"{prefix}{case}, frames a second"
        figures.append(Figure(name, rate, "Hz", n, rates, source + case))
        if case != "undisturbed":
            name = f"{prefix}{case}, rate of undisturbed"
            figures.append(Figure(name, ratio, "share", n, ratios, source + case))
        gaps = row["longest_gap_refreshes_each"]
        gap, name = row["longest_gap_refreshes_median"], f"{prefix}{case}, longest gap"
        spread = (min(gaps), max(gaps))
        figures.append(Figure(name, gap, "refreshes", n, spread, source + case))
    return figures


def _spread(row: dict, key: str) -> tuple[float, float]:
    return min(row[f"{key}_each"]), max(row[f"{key}_each"])


def _graphics(context: Context) -> list[Figure]:
    cases = ("flood", "gpu")
    figures = _isolation(context, cases)
    timing = ("--repetitions=5",) if context.is_full else ("--repetitions=1", "--seconds=4")
    arguments = (*timing, "--unprotected", *(f"--case={name}" for name in cases))
    found = context.benchmark("isolation", *arguments, minutes=20)
    context.notes.append(
        "For contrast also unprotected: the cluster shares its core with the other domain and has "
        "no priority."
    )
    return figures + _rates(found, ("undisturbed", *cases), UNPROTECTED, "unprotected: ")


def _leaks(context: Context) -> list[Figure]:
    return _isolation(context, ("leak", "scribble"))


def _others(context: Context) -> list[Figure]:
    more = tuple(name for name in MORE if name != "stop")
    return _isolation(context, ("messages", *(more if context.is_full else ())))


def _restart(context: Context) -> list[Figure]:
    return _isolation(context, ("restart", "stop") if context.is_full else ("restart",))


# --- soak -----------------------------------------------------------------------------------------


def _soak(context: Context) -> list[Figure]:
    """Of a short one only what ends is judged: growth needs hours."""
    script = context.bench.parent / "soak" / "soak.py" if context.bench else None
    if script is None or not script.is_file():
        raise NotRun("the soak is only in gidway's source: use ./run evaluate there")
    hours = "2" if context.is_full else "0.01"
    words = [f"--hours={hours}"]
    if not context.is_full:
        cases = ("undisturbed", "flood", "kills", "daemon", "reload")
        words += ["--seconds=3", "--sample=15", *(f"--case={name}" for name in cases)]
    source = f"./run soak {' '.join(words)}"
    with tempfile.TemporaryDirectory(prefix="gid-evaluate-") as folder:
        command = [sys.executable, str(script), f"--out={folder}", *words]
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=float(hours) * 3600 + 600,
        )
        path = Path(folder) / "soak.json"
        if not path.is_file():
            raise NotRun(f"{source}: {(result.stdout + result.stderr).strip()[-300:]}")
        samples = json.loads(path.read_text())
    verdict = result.stdout.strip().splitlines()[-1]
    context.notes.append(f"The soak says: {verdict}")
    return _soak_figures(samples, verdict, source)


def _soak_figures(samples: list[dict], verdict: str, source: str) -> list[Figure]:
    n = len(samples)
    broken = float(verdict.startswith(("It broke off", "These grow")))
    rates = sorted(one["rate_hz"] for one in samples)
    figures = [
        Figure("broken off, or something grows", broken, "", n, (broken, broken), source),
        Figure("lowest rate of the cluster", rates[n // 2], "Hz", n, (rates[0], rates[-1]), source),
    ]
    for program in samples[0]["programs"]:
        values = [one["programs"][program]["memory"] / 1024 for one in samples]
        grown = values[-1] - values[0]
        spread = (min(values) - values[0], max(values) - values[0])
        figures.append(Figure(f"{program}: more memory", grown, "MiB", n, spread, source))
    return figures


# --- illegal access -------------------------------------------------------------------------------


def _access(context: Context) -> list[Figure]:
    with context.cockpit() as cockpit:
        figures = context.probe(cockpit.open, "access")
    succeeded, tries = sum(one.value for one in figures), sum(one.n for one in figures)
    spread = (0.0, succeeded)
    total = Figure(
        "accesses that succeeded", succeeded, "successes", tries, spread, "gid-probe access"
    )
    return [*figures, total]


PLANS = [
    Plan(
        "5.16.1",
        "Malicious graphics",
        "The cluster's meter counts its own frames while programs of another domain commit "
        "pictures as fast as they are taken, and compute in a shader without end.",
        _graphics,
        goals=(GOAL,),
        document=(
            ("protections on", "60 frames a second"),
            ("protections off", "20 and 16 frames a second"),
        ),
        minutes=(1.4, 25),
    ),
    Plan(
        "5.16.2",
        "Leak and corruption of memory",
        "The same, while programs of the other domain leak memory and slabs up to their limits, "
        "and overwrite all that they can write.",
        _leaks,
        goals=(GOAL,),
        document=(
            ("leak", "60 frames a second"),
            ("corruption", "60 frames a second; sometimes it stopped"),
        ),
        minutes=(0.1, 0.1),
    ),
    Plan(
        "5.17",
        "Malicious messages",
        "The same, while programs of the other domain send random messages, and more.",
        _others,
        goals=(GOAL,),
        minutes=(0.1, 0.1),
    ),
    Plan(
        "5.18.1",
        "Restart of the other domain",
        "The same, while Weston, gidd and all programs of the other domain are killed and started "
        "again.",
        _restart,
        goals=(GOAL,),
        document=(("while Linux reboots", "59 to 60 frames a second"),),
        minutes=(0.1, 0.1),
    ),
    Plan(
        "5.20",
        "Soak",
        "The cockpit runs while programs of the other domain attack, are killed one by one, and "
        "the configuration changes; rates, memory, descriptors and mappings are sampled.",
        _soak,
        goals=(Goal("broken off, or something grows", 0),),
        document=(("48 hours were planned", "5 hours, several issues"),),
        needs_quiet=False,
        minutes=(0.8, 121),
    ),
    Plan(
        "5.21",
        "Illegal access",
        "A program that may read a slab of another domain tries to write it by each way that the "
        "kernel has; to get memory that it was not granted, by 2000 guessed numbers, and after a "
        "revocation; and to read a stream that is not shared. Counted are tries that succeed.",
        _access,
        goals=(Goal("accesses that succeeded", 0),),
        needs_quiet=False,
        minutes=(0.1, 0.1),
    ),
]
