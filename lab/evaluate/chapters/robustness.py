# SPDX-License-Identifier: MIT
"""Whether the cluster keeps its frame rate whatever another domain does (5.16 to 5.18)."""

import json
import sys
import tempfile
from pathlib import Path

from gid_evaluate.outcome import Broke
from gid_evaluate.plan import Goal, Shared
from gid_evaluate.result import Figure

from lab.evaluate import benchmark
from lab.evaluate.context import Context, Plan
from lab.soak import parts

REFRESH_HZ = 60  # of the display
CALM = Goal("rate undisturbed, of the display's refreshes", 0.99, is_least=True)
# The goals hold in each run: the worst of all repetitions of all cases counts.
GOALS = (
    Goal("lowest rate of all runs", 0.99, is_least=True),
    Goal("longest gap of all runs, attacked", 2.0),
    Goal("longest gap of all runs, undisturbed", 1.5),
    # Otherwise a cluster that is slow by itself would keep all of its rate.
    CALM,
)

ALONE = "./run bench isolation --film --case "
UNPROTECTED = "./run bench isolation --film --unprotected --case "
# One run for all chapters: they share the undisturbed measurement.
CASES = ("flood", "gpu", "leak", "scribble", "messages", "restart")
MORE = ("link", "traps", "sparse", "silent", "notes", "bells", "live", "status", "stop")


def _isolation(context: Context, cases: tuple[str, ...]) -> list[Figure]:
    wanted = (*CASES, *(MORE if context.is_full else ()))
    timing = ("--repetitions=10",) if context.is_full else ("--repetitions=2", "--seconds=4")
    found = context.benchmark(
        "isolation", *timing, "--film", *(f"--case={name}" for name in wanted), minutes=60
    )
    figures = _rates(found, ("undisturbed", *cases), ALONE)
    rows = {row["case"]: row for row in found["rows"]}
    attacked = [rows[name] for name in cases]
    ratios = [ratio for row in attacked for ratio in row["rate_vs_undisturbed_each"]]
    gaps = [gap for row in attacked for gap in row["longest_gap_refreshes_each"]]
    calm = rows["undisturbed"]["longest_gap_refreshes_each"]
    undisturbed = [rate / REFRESH_HZ for rate in rows["undisturbed"]["rate_hz_each"]]
    source = ALONE + " ".join(cases)
    return [
        *figures,
        _worst(GOALS[0], min(ratios), ratios, "share", source),
        _worst(GOALS[1], max(gaps), gaps, "refreshes", source),
        _worst(GOALS[2], max(calm), calm, "refreshes", source),
        _worst(CALM, min(undisturbed), undisturbed, "share", source),
    ]


def _worst(goal: Goal, worst: float, each: list[float], unit: str, source: str) -> Figure:
    return Figure(goal.figure, worst, unit, len(each), (min(each), max(each)), source)


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
    arguments = (*timing, "--film", "--unprotected", *(f"--case={name}" for name in cases))
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

NOT_GOOD = 1  # exit status: something grows, or it was too short
HOURS = "hours without a break, of 48"
NOTHING_BREAKS = Goal("parts that broke off", 0, only_full=True)
NOTHING_GROWS = Goal("not good: something grows, or it was too short to tell", 0, only_full=True)


def _soak(context: Context) -> list[Figure]:
    """A short soak is only judged by what breaks: growth needs hours."""
    script = context.bench.parent / "lab/soak/soak.py"
    hours = "2" if context.is_full else "0.01"
    words = [f"--hours={hours}"]
    if not context.is_full:
        cases = ("undisturbed", "flood", "kills", "daemon", "reload")
        words += ["--seconds=3", "--sample=15", *(f"--case={name}" for name in cases)]
    source = f"./run soak {' '.join(words)}"
    with tempfile.TemporaryDirectory(prefix="gid-evaluate-") as folder:
        file = _file_of_parts(context) or Path(folder) / "parts"
        command = [sys.executable, str(script), f"--out={folder}", f"--parts={file}", *words]
        seconds = (float(hours) * 3600 + 600) * context.patience
        code, said = benchmark.finish(command, seconds, source, with_output=True)
        path = Path(folder) / "soak.json"
        ended = f"{source} ended with status {code}: {said or 'it said nothing'}"
        if not path.is_file():
            raise Broke(ended)
        samples, found = json.loads(path.read_text()), parts.read(file)
    context.has_measured = True
    if code not in (0, NOT_GOOD):
        context.broken.append(ended)
    context.notes += [f"The soak says: {said.splitlines()[-1]}", f"All: {parts.summary(found)}"]
    judged = _judged(found, code, source) if context.is_full else []
    return [*judged, *_soak_figures(samples, source)]


def _file_of_parts(context: Context) -> Path | None:
    """The file in which the hours of full runs add up, each time that the chapter is measured
    again.
    """
    folder = context.results.folder
    return folder / "soak.parts" if context.is_full and folder is not None else None


def _judged(found: list[parts.Part], code: int, source: str) -> list[Figure]:
    """A defect or growth in one part counts, whatever later parts show."""
    broke = [number for number, part in enumerate(found) if part.state == parts.BROKE]
    hours = [part.hours for part in found[broke[-1] + 1 if broke else 0 :]]
    grew, n = float(code != 0 or any(part.grows for part in found)), len(found)
    return [
        Figure(HOURS, sum(hours), "h", max(1, len(hours)), (0, sum(hours)), source),
        Figure(NOTHING_BREAKS.figure, len(broke), "", n, (0, len(broke)), source),
        Figure(NOTHING_GROWS.figure, grew, "", n, (grew, grew), source),
    ]


def _soak_figures(samples: list[dict], source: str) -> list[Figure]:
    n, hours = len(samples), samples[-1]["hours"]
    rates = sorted(one["rate_hz"] for one in samples)
    figures = [
        Figure("hours of this part", hours, "h", n, (hours, hours), source),
        Figure("lowest rate of the cluster", rates[0], "Hz", n, (rates[0], rates[-1]), source),
    ]
    for program in samples[0]["programs"]:
        values = [one["programs"][program]["memory"] / 1024 for one in samples]
        grown = values[-1] - values[0]
        spread = (min(values) - values[0], max(values) - values[0])
        figures.append(Figure(f"{program}: more memory", grown, "MiB", n, spread, source))
    return figures


RUN = Shared("isolation", (1.1, 24))

PLANS = [
    Plan(
        "5.16.1",
        "Malicious graphics",
        "The cluster's meter counts its own frames while a film (H.264 with sound) is decoded in "
        "another domain, whose programs commit pictures as fast as they are taken, and compute in "
        "a shader without end.",
        _graphics,
        goals=GOALS,
        minutes=(0.4, 2),
        shares=(RUN,),
    ),
    Plan(
        "5.16.2",
        "Leak and corruption of memory",
        "The same, while programs of the other domain leak memory and slabs up to their limits, "
        "and overwrite all that they can write.",
        _leaks,
        goals=GOALS,
        minutes=(0.0, 0.0),
        shares=(RUN,),
    ),
    Plan(
        "5.17",
        "Malicious messages",
        "The same, while programs of the other domain send random messages, and more.",
        _others,
        goals=GOALS,
        minutes=(0.0, 0.0),
        shares=(RUN,),
    ),
    Plan(
        "5.18.1",
        "Restart of the other domain",
        "The same, while Weston, gidd and all programs of the other domain are killed and started "
        "again.",
        _restart,
        goals=GOALS,
        minutes=(0.0, 0.0),
        shares=(RUN,),
    ),
    Plan(
        "5.20",
        "Soak",
        "The cockpit runs while programs of the other domain attack, are killed one by one, and "
        "the configuration changes; rates, memory, descriptors and mappings are sampled.",
        _soak,
        goals=(NOTHING_GROWS, NOTHING_BREAKS),
        needs_quiet=False,
        minutes=(0.8, 121),
    ),
]
