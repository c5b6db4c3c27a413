#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether the cluster keeps its frame rate, whatever happens in the other domain.

The domain `cluster` has gid-cluster and gid-meter on a core of their own, before all other programs
where that is allowed; `open` has Weston, a telltale, a film and its view on another core, and there
flooding, leaking, scribbling, killing, stopping, lying and silence go on. The figures are the
meter's own: presented frames a second, and the longest time between two of them, in refreshes. Each
repetition of a case is compared to the undisturbed one before it. A frame is shown by the refresh
after it was given to the screen. By how much of a refresh the last 300 were given late at most is a
figure of its own: a screen that shows at once would have had gaps longer by that. Beside them
stands the machine's own limit: by how much a program that only wakes and copies as much memory as a
picture has, before all others on that core, was late then, and how many times as long the copy took
at the worst as at best. Where a virtual machine gets less of a processor, the display does, too.

With `--containers` two more things befall `open`: its container is killed, or made anew of another
image. Where podman has control groups, it pauses the container in the case `stop`, and bounds its
memory in `leak`.

The case `fences` runs in a guest as a whole, both domains in it, whose kernel has fences to attack
with. It is run only where it is named.

`--all-formats` has a role's and a layer's pictures in each format that there is, in place of all
other cases; one of them alone is `--case role-Y210-turned` or `--case layer-YV12-turned-scaled`.

In the cases `canvas` and `lists-...` a gid-engine draws for `open` and for a third domain, on the
cluster's core. The figures are those of the third domain's canvas: pictures that were finished
before the next refresh.
"""

import argparse
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import common
from bench.inside import run_inside
from lab.domains.program import LabError
from lab.isolation.canvases import Canvas, CanvasCockpit, canvas_cases
from lab.isolation.cases import Case, Fences, Undisturbed, all_cases, costly_case, every_format
from lab.isolation.fences import MODULE, FencesCockpit
from lab.isolation.guest import GUEST_SECONDS
from lab.isolation.measure import Run, measure

_EVERYTHING = [
    *all_cases(0),
    *all_cases(0, guest=True),
    *all_cases(0, container=True),
    *canvas_cases(),
    Fences(),
]
NAMES = sorted({case.name for case in _EVERYTHING})


# --- the figures ----------------------------------------------------------------------------------


def rows(runs: dict[str, list[Run]], cases: dict[str, Case]) -> list[dict]:
    return [_row(name, runs[name], runs[case.calm], case) for name, case in cases.items()]


def _row(name: str, runs: list[Run], undisturbed: list[Run], case: Case) -> dict:
    if not all(run.rate for run in undisturbed):
        raise LabError(f"{case.calm}: nothing came in time to compare with")
    refresh = statistics.median(run.meter["interval_p50_us"] for run in undisturbed)
    rates = [run.rate / calm.rate for run, calm in zip(runs, undisturbed, strict=True)]
    gaps = [run.longest_gap_us / refresh for run in runs]
    stalls = [run.stall_us / refresh for run in runs]
    told = (run.meter_late_us for run in runs if run.meter_late_us is not None)
    meters = [round(one / refresh, 2) for one in told]
    slow = [round(run.slowness, 1) for run in runs]
    known = (run.compose_vs_bound for run in runs if run.compose_vs_bound is not None)
    bounds = [round(one, 3) for one in known]
    waits = [round(run.compose_wait_ms, 3) for run in runs]
    late = [round(run.commit_late_us / refresh, 3) for run in runs]
    return {
        "bench": "isolation",
        "who": "gid",
        "case": name,
        "calm": case.calm,
        "what": case.what,
        "repetitions": len(runs),
        "rate_hz": round(statistics.median(run.rate for run in runs), 3),
        "rate_hz_each": [round(run.rate, 3) for run in runs],
        "frames": sum(run.meter["shown"] for run in runs),
        # Those of a canvas that came too late to be shown as well.
        "finished": sum(run.meter.get("finished", run.meter["shown"]) for run in runs),
        "rate_vs_undisturbed": round(statistics.median(rates), 4),
        "rate_vs_undisturbed_worst": round(min(rates), 4),
        "rate_vs_undisturbed_each": [round(rate, 4) for rate in rates],
        "longest_gap_refreshes": round(max(gaps), 2),
        "longest_gap_refreshes_each": [round(gap, 2) for gap in gaps],
        "longest_gap_refreshes_median": round(statistics.median(gaps), 2),
        "machine_late_refreshes": round(max(stalls), 2),
        "machine_late_refreshes_each": [round(stall, 2) for stall in stalls],
        "meter_late_refreshes": max(meters, default=None),
        "meter_late_refreshes_each": meters,
        "machine_slow": max(slow),
        "machine_slow_each": slow,
        "compose_worst_vs_bound": max(bounds, default=None),
        "compose_worst_vs_bound_each": bounds,
        "compose_wait_ms": round(max(waits), 3),
        "compose_wait_ms_each": waits,
        "commit_late_refreshes": max(late),
        "commit_late_refreshes_each": late,
        "interval_p99_us": statistics.median(run.meter["interval_p99_us"] for run in runs),
        "telltale": sorted({one for run in runs for one in run.transitions}),
        "attacker": sorted({run.attacker for run in runs if run.attacker}),
        "did": runs[-1].did,
        "ended": sorted({name for run in runs for name in run.ended}),
    }


def ratios(found: list[dict]) -> dict[str, float]:
    """What the project promises, of the worst repetition."""
    result = {}
    for row in found:
        if row["case"] != row["calm"]:
            result[f"rate_{row['case']}_vs_undisturbed"] = row["rate_vs_undisturbed_worst"]
            result[f"longest_gap_{row['case']}_refreshes"] = row["longest_gap_refreshes"]
            result[f"commit_late_{row['case']}_refreshes"] = row["commit_late_refreshes"]
            if row["compose_worst_vs_bound"] is not None:
                result[f"compose_worst_vs_bound_{row['case']}"] = row["compose_worst_vs_bound"]
    return result


def show(found: list[dict], scheduling: str, is_protected: bool) -> None:
    core = "on a core of its own as far as there are two" if is_protected else "unprotected"
    print(f"cluster: {scheduling}, {core}")
    print("the longest gap between two frames, and how late the machine itself was, and the meter,")
    print("which draws them, and whose gaps of that length are not the display's: in refreshes;")
    print("slow: how many times as long it took to copy a picture at the worst as at best;")
    print(
        "compose: what a frame took of a processor at most, to what gid-cluster says that it can;"
    )
    print("waited: how long one waited for a processor that others had, in ms")
    print("late: how long after it was to begin one was given to the screen, in refreshes")
    print(
        f"{'case':22} {'Hz':>6} {'ratio':>7} {'worst':>7} {'gap':>6} {'worst':>6} {'machine':>8} "
        f"{'meter':>6} {'slow':>5} {'compose':>7} {'waited':>7} {'late':>6}   "
        "the telltale was"
    )
    for row in found:
        bound, meter = row["compose_worst_vs_bound"], row["meter_late_refreshes"]
        print(
            f"{row['case']:22} {row['rate_hz']:6.2f} {row['rate_vs_undisturbed']:7.4f} "
            f"{row['rate_vs_undisturbed_worst']:7.4f} {row['longest_gap_refreshes_median']:6.2f} "
            f"{row['longest_gap_refreshes']:6.2f} {row['machine_late_refreshes']:8.2f} "
            f"{'-' if meter is None else f'{meter:.2f}':>6} "
            f"{row['machine_slow']:5.1f} {'-' if bound is None else f'{bound:.2f}':>7} "
            f"{row['compose_wait_ms']:7.2f} {row['commit_late_refreshes']:6.2f}   "
            f"{', '.join(row['telltale']) or 'live'}"
        )


# --- the program ----------------------------------------------------------------------------------


def case_name(text: str) -> str:
    if text not in NAMES and costly_case(text) is None:
        raise argparse.ArgumentTypeError(f"no such case: {text}; there are {', '.join(NAMES)}")
    return text


def known_cases(options: argparse.Namespace) -> dict[str, Case]:
    if options.here:
        cases: list[Case] = [Fences()]
    elif options.all_formats:
        cases = every_format()
    else:
        cases = all_cases(options.stop, options.vm, options.containers > 0)
        cases += [] if options.vm else canvas_cases()
        cases += filter(None, map(costly_case, options.case or ()))
    return {case.name: case for case in cases}


def chosen_cases(options: argparse.Namespace) -> dict[str, Case]:
    """With those that they are compared to."""
    known = known_cases(options)
    if unknown := set(options.case or ()) - set(known):
        raise LabError(f"no such case here: {', '.join(sorted(unknown))}")
    chosen = {name: known[name] for name in options.case or known}
    calm = {case.name: case for case in (Undisturbed(), Canvas())}
    for case in chosen.values():
        # Who looks for longer sees more of what the machine does by itself.
        calm[case.calm].seconds = max(calm[case.calm].seconds, case.seconds)
    wanted = {case.calm for case in chosen.values()}
    return {name: calm[name] for name in calm if name in wanted} | {
        name: calm.get(name, case) for name, case in chosen.items()
    }


@dataclass
class Measured:
    cases: dict[str, Case]
    runs: dict[str, list[Run]]
    scheduling: str
    broke: LabError | KeyboardInterrupt | None = None  # what ended it too early

    def rows(self) -> list[dict]:
        """Of the repetitions that are whole."""
        whole = min(len(runs) for runs in self.runs.values())
        if whole == 0 and self.broke is not None:
            raise self.broke
        found = rows({name: runs[:whole] for name, runs in self.runs.items()}, self.cases)
        return [row | {"scheduling": self.scheduling} for row in found]


def run_all(options: argparse.Namespace, folder: Path) -> Measured:
    """What was measured before something broke is not lost."""
    cases = chosen_cases(options)
    measured = Measured(cases, {name: [] for name in cases}, "")
    seconds = options.seconds or (GUEST_SECONDS if options.vm or options.here else 6)
    progress = common.Progress(len(cases) * options.repetitions)
    cockpit_class = FencesCockpit if options.here else CanvasCockpit
    contained = ("open", "cluster")[: options.containers]
    cockpit = cockpit_class(folder, options.vm, not options.unprotected, contained=contained)
    if options.film:
        cockpit.open.play_film()
    cockpit.cluster.pacing = options.pacing
    try:
        with cockpit:
            measured.scheduling = cockpit.cluster.scheduling
            for _ in range(options.repetitions):
                for name, case in cases.items():
                    progress.step(name)
                    measured.runs[name].append(measure(cockpit, case, seconds))
    except (LabError, KeyboardInterrupt) as error:
        measured.broke = error
    progress.end()
    return measured


def fences_inside(options: argparse.Namespace) -> int:
    """This program once more, in a guest."""
    words = ["--case=fences", f"--repetitions={options.repetitions}"]
    words += [f"--seconds={options.seconds}"] if options.seconds else []
    words += ["--unprotected"] if options.unprotected else []
    words += [f"--pacing={options.pacing}"]
    found, figures = run_inside(Path(__file__), words, [MODULE])
    common.write(options.json, found, figures)
    return 0


def has_fences(options: argparse.Namespace) -> bool:
    return "fences" in (options.case or ())


def read_options() -> argparse.Namespace:
    parser = common.parser("isolation", __doc__)
    parser.add_argument(
        "--repetitions", type=common.count, default=10, help="runs of each case (default: 10)"
    )
    parser.add_argument(
        "--seconds",
        type=common.seconds,
        help=f"least seconds of each measurement (default: 6, with --vm {GUEST_SECONDS:.0f})",
    )
    parser.add_argument(
        "--stop",
        type=common.seconds,
        default=10,
        help="how long open is stopped, in seconds (default: 10)",
    )
    parser.add_argument("--vm", action="store_true", help="open is a guest")
    parser.add_argument(
        "--containers",
        type=int,
        choices=(0, 1, 2),
        default=0,
        help="1: open is a container, by podman; 2: the cluster is one, too",
    )
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # with fences
    parser.add_argument(
        "--unprotected",
        action="store_true",
        help="for contrast: the cluster shares its core with open, and has no priority",
    )
    parser.add_argument(
        "--pacing",
        choices=("bound", "on", "off"),
        default="bound",
        help="when the display begins to compose (default: bound)",
    )
    parser.add_argument("--film", action="store_true", help=common.FILM_HELP)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--case",
        action="append",
        type=case_name,
        metavar="NAME",
        help="only this case; may be repeated (but for fences, which is alone): "
        f"{', '.join(NAMES)}",
    )
    which.add_argument(
        "--all-formats",
        action="store_true",
        help="a role's and a layer's pictures: six cases for each format",
    )
    options = parser.parse_args()
    if has_fences(options) and (options.vm or set(options.case) != {"fences"}):
        parser.error("fences has a guest of its own, with both domains: no other case, no --vm")
    if options.film and options.vm:
        parser.error("a guest has a test picture: no --film")
    if options.containers and options.vm:
        parser.error("open is a guest or a container: no --vm with --containers")
    return options


def main() -> int:
    options = read_options()
    if has_fences(options) and not options.here:
        return fences_inside(options)
    # Short, for a socket's path has 108 bytes.
    with tempfile.TemporaryDirectory(prefix="gid-bench-", dir=common.memory_folder()) as folder:
        measured = run_all(options, Path(folder))
    found = measured.rows()
    show(found, measured.scheduling, not options.unprotected)
    common.write(options.json, found, ratios(found))
    if measured.broke is not None:
        raise measured.broke
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
