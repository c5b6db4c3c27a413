# SPDX-License-Identifier: MIT
"""Whether the cluster keeps its rate whatever another domain does (5.16 to 5.18)."""

from ..plan import Context, Goal, Plan
from ..result import Figure

QUICK = ("flood", "leak", "scribble", "restart")


def _isolation(context: Context) -> list[Figure]:
    arguments = ["--repetitions=10"]
    if not context.is_full:
        arguments = ["--repetitions=2", "--seconds=4", *(f"--case={name}" for name in QUICK)]
    found = context.benchmark("isolation", *arguments, minutes=60)
    source = "./run bench isolation --case "
    figures = []
    for row in found["rows"]:
        case = row["case"]
        worst, ratio = row["rate_vs_undisturbed_worst"], row["rate_vs_undisturbed"]
        figures.append(
            Figure(
                f"{case}, frames a second",
                row["rate_hz"],
                "Hz",
                1,
                (row["rate_hz"],) * 2,
                source + case,
            )
        )
        if case != "undisturbed":
            figures.append(
                Figure(f"{case}, rate of undisturbed", ratio, "", 1, (worst, ratio), source + case)
            )
        gap = row["longest_gap_refreshes"]
        figures.append(Figure(f"{case}, longest gap", gap, "refreshes", 1, (0, gap), source + case))
    rates = [one.value for one in figures if one.name.endswith("rate of undisturbed")]
    lowest = min(rates)
    figures.append(
        Figure(
            "lowest rate of all cases",
            lowest,
            "",
            len(rates),
            (lowest, max(rates)),
            "./run bench isolation",
        )
    )
    return figures


PLANS = [
    Plan(
        "5.16",
        "Malicious programs",
        "The cluster's meter counts its own frames while programs of another domain flood, leak, "
        "write where they should not, and are started again and again.",
        _isolation,
        goals=(Goal("lowest rate of all cases", 0.99, is_least=True),),
        document=(
            ("protections on", "60 frames a second"),
            ("protections off", "20 and 16 frames a second"),
        ),
        minutes=(2, 20),
    ),
]
