# SPDX-License-Identifier: MIT
"""Whether the cluster keeps its rate whatever another domain does (5.16 to 5.18)."""

from ..plan import Context, Goal, Plan
from ..result import Figure

GOAL = Goal("lowest rate of all cases", 0.99, is_least=True)


def _isolation(context: Context, cases: tuple[str, ...]) -> list[Figure]:
    timing = ("--repetitions=10",) if context.is_full else ("--repetitions=2", "--seconds=4")
    found = context.benchmark(
        "isolation", *timing, *(f"--case={name}" for name in cases), minutes=60
    )
    source = "./run bench isolation --case "
    figures = []
    for row in found["rows"]:
        case, n = row["case"], row["repetitions"]
        worst, ratio = row["rate_vs_undisturbed_worst"], row["rate_vs_undisturbed"]
        name, rate = f"{case}, frames a second", row["rate_hz"]
        figures.append(Figure(name, rate, "Hz", n, (rate, rate), source + case))
        if case != "undisturbed":
            name = f"{case}, rate of undisturbed"
            figures.append(Figure(name, ratio, "share", n, (worst, ratio), source + case))
        gap = row["longest_gap_refreshes"]
        figures.append(Figure(f"{case}, longest gap", gap, "refreshes", n, (0, gap), source + case))
    rates = [one.value for one in figures if one.name.endswith("rate of undisturbed")]
    lowest, name = min(rates), "lowest rate of all cases"
    spread = (lowest, max(rates))
    return [*figures, Figure(name, lowest, "share", len(rates), spread, "./run bench isolation")]


def _graphics(context: Context) -> list[Figure]:
    return _isolation(context, ("flood", "gpu"))


def _leaks(context: Context) -> list[Figure]:
    return _isolation(context, ("leak", "scribble"))


def _others(context: Context) -> list[Figure]:
    full = ("link", "traps", "sparse", "silent", "notes", "bells", "live", "status")
    return _isolation(context, ("messages", *(full if context.is_full else ())))


def _restart(context: Context) -> list[Figure]:
    return _isolation(context, ("restart", "stop") if context.is_full else ("restart",))


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
        minutes=(0.8, 6),
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
        minutes=(0.8, 6),
    ),
    Plan(
        "5.17",
        "Malicious messages",
        "The same, while programs of the other domain send random messages, and more.",
        _others,
        goals=(GOAL,),
        minutes=(0.5, 12),
    ),
    Plan(
        "5.18.1",
        "Restart of the other domain",
        "The same, while Weston, gidd and all programs of the other domain are killed and started "
        "again.",
        _restart,
        goals=(GOAL,),
        document=(("while Linux reboots", "59 to 60 frames a second"),),
        minutes=(0.5, 6),
    ),
]
