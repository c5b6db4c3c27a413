#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to have gid-engine draw, against the same drawing in one's own process.

Points: two million single points in a part of 512x256 of a canvas of 640x480 in RGB565, by lists of
100, 1000 and 10,000 words, of which no point is clipped, or a quarter of them. They are drawn
directly one by one, and also by the function of the engine, as many at a time as a list has ("by
function"): the engine stores four at once, which is no merit of its lists. Beside them stands how
long a line of memory takes to another processor and back. Layers: two to eight full-HD pictures
with alpha, composed into a full-HD canvas: the first frame, for which the pictures and the canvas
are made, drawn, granted and imported; later ones, right after another one and after a rest, for
which the engine has to be woken; and with the pictures made and freed at every frame. Who draws for
himself has the same kind of memory, that can be shared, or private one, and one thread. The engine
draws with all processors that are free: the time of these is told. Of first and fresh frames also
all processor time is told, of programs, engine and gidds, until all memory is given back; the pages
that were faulted; and what tables of pages take. Imports: of a slab into another
domain, and of a further slot of it; and before that the export of memory that is there. Composing:
four streams of 1280x720 at 60 a second, by gidcompose and by GStreamer's compositor.

With --vm, the program that draws is in a guest, for itself and by the engine on the host: points
and layers. With --one-processor, points alone are drawn: the program, the engine and all else have
one processor, in the ordinary class, and the processor time of both sides is told.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import gid_console

from bench import common, composing, through_guest
from lab.domains import priority
from lab.domains.configuration import section
from lab.domains.program import LabError


def engine_text(
    helpers: int | None, realtime: object, slots: object, spin_us: int | None = None
) -> str:
    """What is None is as gid-engine has it by itself."""
    own = {"helpers": helpers, "spin-us": spin_us}
    given = " ".join(f"{key}={value}" for key, value in own.items() if value is not None)
    limits = f"memory=128M slots={slots} list-ms=60000"
    canvas = section("canvas bench", f"domain=open realtime={realtime} {limits}")
    return (section("engine", given) if given else "") + canvas


WORDS = (100, 1000, 10_000)
# A line of memory there and back, and below how many ns it is called so.
DISTANCES = {
    "two threads of one core": 80.0,
    "near": 250.0,
    "far": 2000.0,
    "one processor for both": float("inf"),
}
AIM_OF_SHORT = 1.5  # times direct drawing, with 100 words
CLIPS = ("whole", "quarter")  # no point is clipped, or a quarter of them
LAYERS = range(2, 9)


@contextlib.contextmanager
def engine(
    folder: Path,
    helpers: int | None,
    spin_us: int | None = None,
    slots: int = 3,
    under: Sequence[str] = (),
) -> Iterator[list[int]]:
    """Two domains, and the engine in `cluster`: its process, and those of both gidds; `under` is
    what runs it."""
    configuration = folder / "engine.conf"
    realtime = "on" if os.sched_getscheduler(0) == os.SCHED_RR else "off"
    text = engine_text(helpers, spin_us=spin_us, slots=slots, realtime=realtime)
    configuration.write_text(text)
    great = ("open", "cluster")
    with common.cockpit(folder, "engine/*", answers="canvas/*", great=great) as running:
        command = [*under, "gid-engine", f"--config={configuration}", "--domain=cluster"]
        with (folder / "engine.log").open("wb") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            yield [process.pid, *(pid for domain in great for pid in running[domain].pids())]
        except LabError as error:
            if process.poll() is None:
                raise
            said = (folder / "engine.log").read_text().strip()
            raise LabError(f"gid-engine ended with status {process.returncode}: {said}") from error
        finally:
            process.terminate()
            process.wait(10)


def measure(*words: object) -> dict[str, float]:
    command = ["gid-bench-engine", *map(str, words)]
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"GID_DOMAIN": "open"},
    )
    if result.returncode != 0:
        raise LabError(result.stderr.strip())
    return json.loads(result.stdout)


def run_all(
    options: argparse.Namespace,
    measure: Callable[..., dict[str, float]],
    processes: Sequence[int] = (),
) -> dict[tuple, list[dict[str, float]]]:
    """All runs, each repetition of everything after the other, so that noise meets all alike.

    `processes`: those whose work for layers counts, where they can be seen."""
    plan: list[tuple] = [("points", words, clip) for words in options.words for clip in CLIPS]
    plan += [("layers", count, options.frames) for count in options.layers]
    # Both domains are in one program.
    plan += [] if options.vm or options.one_processor else [("imports",)]
    found: dict[tuple, list[dict[str, float]]] = {entry: [] for entry in plan}
    progress = common.Progress(len(plan) * options.repetitions)
    for _ in range(options.repetitions):
        for entry in plan:
            progress.step(" ".join(map(str, entry)))
            more = processes if entry[0] == "layers" else ()
            found[entry].append(measure(*entry, *more))
    progress.end()
    return found


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    keys = (key for key in runs[0] if key != "passes")
    return {key: round(statistics.median(run[key] for run in runs), 4) for key in keys}


def drop(ratio: float) -> float:
    """How much slower, in percent."""
    return round(100 * (ratio - 1), 2)


def ratios(rows: list[dict], one_processor: bool = False) -> dict[str, float]:
    found = {}
    for row in rows:
        if row.get("clip") == "quarter":
            name, spent = f"points_{row['words']}", row["cpu_ms"] + row["engine_cpu_ms"]
            in_all = round(spent / row["direct_cpu_ms"], 3)
            if one_processor:  # its clock would count what others do on it, too
                found[f"{name}_one_processor_vs_direct"] = in_all
                continue
            found[f"{name}_vs_direct"] = round(row["ratio"], 3)
            found[f"{name}_vs_function"] = round(row["drawn_ratio"], 3)
            found[f"{name}_cpu_vs_direct"] = in_all
        elif "layers" in row:
            for kind in KINDS:
                name, _, private = kind.partition("_")
                of = f"n{row['layers']}" + ("_private" if private else "")
                found[f"{name}_frame_drop_{of}"] = drop(row[f"{kind}_ratio"])
            for kind in COSTLY:
                if f"{kind}_cpu_ratio" in row:
                    ratio = round(row[f"{kind}_cpu_ratio"], 3)
                    found[f"{kind}_frame_cpu_vs_private_n{row['layers']}"] = ratio
            found[f"later_frame_cpu_vs_direct_n{row['layers']}"] = row["later_cpu_ratio"]
        elif "further_us" in row:
            found["import_further_slot_us"] = row["further_us"]
            found["import_first_slot_us"] = row["first_us"]
            found["export_us"] = row["export_us"]
    return found


def row_of(entry: tuple, figures: dict[str, float]) -> dict:
    row = {"bench": "engine", "who": "gid", "what": " ".join(map(str, entry[:3]))}
    if entry[0] == "layers":
        row |= {"what": f"layers {entry[1]}", "layers": entry[1]}
    elif entry[0] == "points":
        row |= {"words": entry[1], "clip": entry[2]}
    return row | figures


def show(rows: list[dict], found: dict[str, float]) -> None:
    heads = ("direct ms", "function", "wall ms", "CPU ms", "engine", "line ns")
    print(f"{'':28}" + "".join(f"{head:>10}" for head in heads))
    for row in rows:
        if "wall_ms" in row:
            keys = ("direct_ms", "drawn_ms", "wall_ms", "cpu_ms", "engine_cpu_ms")
            figures = (row[key] for key in keys)
            text = "".join(f"{figure:10.2f}" for figure in figures)
            print(f"{row['what']:28}{text}{row['line_ns']:10.0f}")
    for row in rows:
        if row.get("clip") == "quarter":
            for one in by_distance(row["passes"]):
                low, middle, high = one["quarters"]
                print(
                    f"{row['words']} words, {one['line']}: {one['passes']} passes, {middle:.2f} "
                    f"({low:.2f} to {high:.2f}), {one['above']} above {AIM_OF_SHORT}"
                )
    if any("layers" in row for row in rows):
        print(f"\n{'µs':12}" + "".join(f"{kind.replace('_', ', '):>18}" for kind in KINDS))
    for row in rows:
        if "layers" in row:
            pairs = (f"{row[f'{k}_direct_us']:.0f} → {row[f'{k}_us']:.0f}" for k in KINDS)
            print(f"{row['what']:12}" + "".join(f"{pair:>18}" for pair in pairs))
            low, high = (drop(row[f"later_ratio_{end}"]) for end in ("low", "high"))
            print(
                f"{'':12}half of all later pairs differ by {low:.1f} to {high:.1f} %; one of these "
                f"frames took {row['later_direct_cpu_us']:.0f} µs of a processor directly, "
                f"{row['later_engine_cpu_us']:.0f} µs of the engine's and "
                f"{row['later_cpu_us']:.0f} µs of the program's through it"
            )
        elif "further_us" in row:
            print(
                f"export {row['export_us']:.0f} µs; import {row['first_us']:.0f} µs, of a further "
                f"slot {row['further_us']:.2f} µs; at the first look its pages "
                f"{row['mapped_us']:.0f} µs"
            )
    show_costs(rows)
    print()
    for name, value in found.items():
        print(f"{name:28}{value:10.3f}")


def show_costs(rows: list[dict]) -> None:
    """Of frames whose memory is made for them."""
    of = [(row, kind) for row in rows for kind in COSTLY if f"{kind}_cpu_us" in row]
    if of:
        print(f"\n{'private → gid':20}{'CPU µs':>18}{'faults':>18}{'page tables, KiB':>18}")
    for row, kind in of:
        keys = ("cpu_us", "faults", "tables_kb")
        pairs = (f"{row[f'{kind}_private_{key}']:.0f} → {row[f'{kind}_{key}']:.0f}" for key in keys)
        print(f"{row['what'] + ', ' + kind:20}" + "".join(f"{pair:>18}" for pair in pairs))


COSTLY = ("first", "fresh")
KINDS = ("first", "first_private", "later", "woken", "fresh", "fresh_private")


def rows_of(runs: dict[tuple, list[dict[str, float]]]) -> list[dict]:
    rows = []
    for entry, of in runs.items():
        row = row_of(entry, medians(of))
        if "passes" in of[0]:
            row["passes"] = [one for run in of for one in run["passes"]]
        rows.append(row)
    return rows


def by_distance(passes: Sequence[Sequence[float]]) -> list[dict]:
    """Passes by how long a line of memory took to another processor and back: their ratios'
    median and quarters, and how many are above the aim."""
    found, low = [], 0.0
    for name, high in DISTANCES.items():
        ratios = sorted(ratio for line, ratio in passes if low <= line < high)
        low = high
        if ratios:
            parts = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
            above = sum(ratio > AIM_OF_SHORT for ratio in ratios)
            found.append({"line": name, "passes": len(ratios), "quarters": parts, "above": above})
    return found


def command(options: argparse.Namespace) -> str:
    """As bench/aims.py has it: with the options that make it another measurement."""
    words = ["bench engine"]
    words += [] if options.helpers is None else [f"--helpers {options.helpers}"]
    named = {"--ordinary": options.ordinary, "--vm": options.vm}
    named["--one-processor"] = options.one_processor
    return " ".join([*words, *(word for word, is_given in named.items() if is_given)])


def here(folder: Path, options: argparse.Namespace) -> tuple[list[dict], list[dict]]:
    """Rows of points, layers and imports, and rows of what is composed from streams."""
    with engine(folder, options.helpers) as processes:
        rows = rows_of(run_all(options, measure, processes))
    if options.one_processor:
        return rows, []
    # Streams come at times of their own: to look for lists longer than needed is lost time.
    with engine(folder, options.helpers, spin_us=0, slots=6) as processes:
        return rows, composing.measure_all(processes[0], options.seconds, options.repetitions)


def in_guest(folder: Path, options: argparse.Namespace) -> tuple[list[dict], list[dict]]:
    text = engine_text(options.helpers, realtime="off", slots=3)
    with through_guest.measuring(folder, text) as measure_there:
        return rows_of(run_all(options, measure_there)), []


def options_of(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = common.parser("engine", __doc__)
    parser.add_argument(
        "--repetitions", type=common.count, default=5, help="of everything (default: 5)"
    )
    parser.add_argument(
        "--frames", type=common.count, default=200, help="later ones (default: 200)"
    )
    parser.add_argument("--words", type=common.count, nargs="+", default=WORDS, help="of a list")
    parser.add_argument(
        "--seconds",
        type=common.seconds,
        default=5,
        help="of each pipeline that composes (default: 5)",
    )
    parser.add_argument("--layers", type=int, nargs="+", choices=LAYERS, default=LAYERS)
    parser.add_argument(
        "--helpers",
        type=gid_console.whole_number(0, 64),
        help="of the engine; 0: as many threads as who draws for himself",
    )
    parser.add_argument(
        "--ordinary", action="store_true", help="all programs in the ordinary scheduling class"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--vm", action="store_true", help="the program in a guest, the engine on the host"
    )
    how.add_argument(
        "--one-processor",
        action="store_true",
        help="points alone, with all programs on one processor, in the ordinary class",
    )
    return parser.parse_args(words)


def main() -> int:
    options = options_of()
    if options.one_processor:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        options.layers = ()
    elif not options.ordinary:
        priority.take_precedence()
    with tempfile.TemporaryDirectory(prefix="gidway-bench-", dir=common.memory_folder()) as folder:
        rows, composed = (in_guest if options.vm else here)(Path(folder), options)
    found = ratios(rows, options.one_processor)
    if composed:
        found["compose_vs_gst_compositor"] = composing.ratio(composed)
    show(rows, found)
    if composed:
        composing.show(composed)
    common.write(options.json, rows + composed, found, command(options))
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
