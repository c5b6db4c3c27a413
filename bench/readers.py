#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One camera for 1, 4 and 8 readers: gid against what programs have otherwise, all in one run.

A producer in Python fills each picture with one copy, writes the time into it, and sends it. Each
reader is a process that waits for the picture, looks at every 64th row, and lets go. Compared are,
as medians over the readers, a reader's processor time for each frame, and how long after it was
sent it had the picture as an array; beside them the producer's processor time, and what was lost.

gid            the package gid; gid in C: libgid alone; gidsrc: GStreamer, into Python by appsink
iceoryx2       the Python SDK of gst-plugin-iceoryx2
zenoh          its shared memory, by eclipse-zenoh, without a router. It locks that memory; where
               RLIMIT_MEMLOCK forbids it, that is left out
shared_memory  multiprocessing.shared_memory, eight slots in turn, and a pipe for each reader that
               says which: the least that works. Nobody sees to it that a slot is not written again.
unixfd         GStreamer's unixfdsink, from memory that needs no copy, unixfdsrc and appsink

Each way has a bound of time: one that does not bring its pictures is told, and the others go on.

Then what one party can do to the others: a reader that writes into pictures, by mistake (into its
array), or on purpose (by a pointer, mprotect, or the memory's file opened again); and `kill -9` of
four readers that hold a picture each, of the producer, and of the daemons where there are any.
"""

import argparse
import itertools
import json
import os
import resource
import select
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from bench import common, readers_faults
from bench import readers_ways as ways
from bench.readers_crew import PATIENCE, Crew, Process, crew
from bench.readers_faults import VICTIMS
from lab.domains.cockpit import Cockpit
from lab.domains.program import LabError, Wanting

SIZES = {"1080p": (1920, 1080, 60), "2160p": (3840, 2160, 30)}  # the third: frames a second
WARM_UP = 30  # frames that are not counted
LOG_EVERY = 10  # frames
FAILED = "failed"  # in a table
FIGURES = ("frames", "cpu_us", "latency_us", "latency_p99_us", "missed")


# --- the processes --------------------------------------------------------------------------------


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def produce(way: str, place: ways.Place) -> None:
    """Until it is killed. It says when its first picture came to be, and now and then what it has
    taken so far."""
    send = ways.WAYS[way].send(place, ways.picture_of(place))
    due = time.monotonic()
    for sequence in itertools.count(1):
        begun = time.monotonic_ns()
        send(sequence)
        if sequence == 1 or sequence % LOG_EVERY == 0:
            print(sequence, cpu_seconds(), begun, flush=True)
        due = max(due + 1 / place.rate, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


def read(way: str, place: ways.Place, number: int, frames: int, seconds: int) -> None:
    """Counts from when it is told to begin, so that all do so at once; then writes its figures."""
    late: list[float] = []
    seen = missed = first = last = 0
    cpu, end, counts = 0.0, 0, False
    pictures = ways.read(way, place, number)
    for pixels in pictures:
        sequence, sent = ways.stamp_of(pixels)
        now = time.monotonic_ns()
        int(pixels[::64, :, 0].sum(dtype=np.uint64))
        seen += 1
        if counts:
            late.append((now - sent) / 1000)
            missed, last = missed + sequence - last - 1, sequence
            if len(late) == frames or now > end:
                break
            continue
        if seen == WARM_UP:
            print("warm", flush=True)
        if seen >= WARM_UP and select.select([sys.stdin], [], [], 0)[0]:
            counts, cpu, first, last = True, cpu_seconds(), sequence, sequence
            end = now + seconds * 1_000_000_000
    figures = {
        "frames": len(late),
        "cpu_us": (cpu_seconds() - cpu) / len(late) * 1e6,
        "latency_us": statistics.median(late),
        "latency_p99_us": sorted(late)[len(late) * 99 // 100],
        "missed": missed,
        "first": first,
        "last": last,
    }
    print(json.dumps(figures), flush=True)
    os._exit(0)  # the iterator has no end, and is not ended here


# --- what they cost -------------------------------------------------------------------------------


def cost(made: Crew, frames: int, seconds: int) -> dict:
    producer = made.start("produce")
    reading = [made.reader(number, frames, seconds) for number in range(made.place.readers)]
    made.wait("its readers were warm", reading, Process.lines)
    for process in reading:
        process.begin()
    made.wait("its readers had their frames", reading, Process.has_ended, seconds + PATIENCE)
    for process in reading:
        if process.popen.returncode != 0:
            raise LabError(f"a reader by {made.way} ended with {process.popen.returncode}")
    rows = [json.loads(process.lines()[-1]) for process in reading]
    begin, end = max(row["first"] for row in rows), min(row["last"] for row in rows)
    median = {key: statistics.median(row[key] for row in rows) for key in FIGURES}
    return {**median, "producer_cpu_us": producer_cpu(producer.lines(), begin, end)}


def producer_cpu(lines: list[str], begin: int, end: int) -> float:
    """For a frame, µs, between the frames of these numbers as far as it was told."""
    told = [(int(sequence), float(cpu)) for sequence, cpu, _ in map(str.split, lines)]
    early = max((one for one in told if one[0] <= begin), default=told[0])
    late = min((one for one in told if one[0] >= end), default=told[-1])
    return (late[1] - early[1]) / max(1, late[0] - early[0]) * 1e6


def measure_costs(
    names: list[str], options: argparse.Namespace, folder: Path, rows: list[dict]
) -> None:
    """Adds to the rows, and prints each as soon as it is there."""
    plan = list(itertools.product(options.size, options.readers, names))
    progress = common.Progress(len(plan))
    head_costs(options)
    for size, readers, name in plan:
        progress.step(f"{name}, {size}, {readers} readers")
        width, height, rate = SIZES[size]
        row = {"part": "cost", "way": name, "size": size, "readers": readers}
        try:
            with crew(name, folder, (width, height), rate, readers) as made:
                row |= cost(made, options.frames, options.seconds)
        except LabError as error:
            row |= {"part": "failed", "why": str(error)}
        rows.append(row)
        progress.end()
        show_cost(row)


def ratios_of(rows: list[dict]) -> dict[str, float]:
    """Below 1: gid is better than the best of the others. Of several sizes, the worst one."""
    ratios: dict[str, float] = {}
    for size, readers in sorted({(row["size"], row["readers"]) for row in rows}):
        here = [row for row in rows if (row["size"], row["readers"]) == (size, readers)]
        of = {row["way"]: row for row in here}
        for name, key in (("cpu", "cpu_us"), ("latency", "latency_us")):
            peers = [row[key] for way, row in of.items() if way not in ways.OURS]
            if peers and "gid" in of:
                ratio = of["gid"][key] / min(peers)
                ratios[f"python_{name}_vs_best_peer_{size}_{readers}"] = ratio
                for of_all in (f"_{readers}", ""):
                    wider = f"python_{name}_vs_best_peer{of_all}"
                    ratios[wider] = max(ratio, ratios.get(wider, 0.0))
    return ratios


# --- what they do to each other -------------------------------------------------------------------


def measure_faults(names: list[str], folder: Path, cockpit: Cockpit, rows: list[dict]) -> None:
    names = [name for name in names if name not in ("gid in C", "gidsrc")]  # of the same memory
    scenes = {name: dict(readers_faults.SCENES) for name in names}
    if "gid" in scenes:
        scenes["gid"]["its daemons are killed"] = partial(
            readers_faults.daemons_killed, cockpit=cockpit
        )
    progress = common.Progress(sum(map(len, scenes.values())))
    width, height, rate = SIZES["1080p"]
    for name in names:
        row: dict = {"part": "faults", "way": name}
        for what, scene in scenes[name].items():
            progress.step(f"{name}: {what}")
            try:
                with crew(name, folder, (width, height), rate, VICTIMS + 1) as made:
                    row |= scene(made)
            except LabError as error:
                rows.append({"part": "failed", "way": name, "why": f"{what}: {error}"})
        rows.append(row)
    progress.end()


# --- what is printed ------------------------------------------------------------------------------


def head_costs(options: argparse.Namespace) -> None:
    print(f"Medians of the readers, of {options.frames} frames each or {options.seconds} s; µs")
    heads = ["frames", "CPU a frame", "late", "p99", "missed", "producer's CPU"]
    print(f"{'':14} {'size':6} readers " + " ".join(f"{head:>11}" for head in heads), flush=True)


def show_cost(row: dict) -> None:
    where = f"{row['way']:14} {row['size']:6} {row['readers']:7} "
    if row["part"] == "failed":
        print(f"{where} did not work: {row['why']}", flush=True)
        return
    figures = [row[key] for key in (*FIGURES, "producer_cpu_us")]
    print(where + " ".join(f"{figure:11.0f}" for figure in figures), flush=True)


def show_faults(rows: list[dict]) -> None:
    print("\nA reader writes by mistake, and on purpose; others' pictures that are wrong then")
    print("kill -9: how many pictures others missed in the next 2 s, and what a reader does then:")
    print("how long it waits for the next producer's first picture, from when that is sent")
    heads = ["mistake", "purpose", "wrong", "4 readers", "daemons"]
    print(f"{'':14} " + " ".join(f"{head:>9}" for head in heads) + " producer")
    for row in rows:
        wrong = f"{row['others_wrong']}/{row['others_saw']}" if "others_saw" in row else FAILED
        cells = [row.get("mistake", FAILED), row.get("written_by", FAILED), wrong]
        cells += [row.get("readers_killed_missed", FAILED)]
        cells += [row.get("daemons_killed_missed", "none")]
        back = row.get("producer_back_s")
        after = "" if back is None else f" {back:.3f} s later"
        print(
            f"{row['way']:14} "
            + " ".join(f"{cell:>9}" for cell in cells)
            + f" {row.get('producer_killed', FAILED)}{after}"
        )


def show_ratios(options: argparse.Namespace, ratios: dict[str, float]) -> None:
    for what in ("cpu", "latency"):
        name = f"python_{what}_vs_best_peer"
        for count in options.readers:
            if f"{name}_{count}" in ratios:
                print(f"{name}_{count}: {ratios[f'{name}_{count}']:.2f} (the worst of all sizes)")
        if name in ratios:
            print(f"{name}: {ratios[name]:.2f} (the worst of them)")


def measure(options: argparse.Namespace, names: list[str], rows: list[dict]) -> None:
    with tempfile.TemporaryDirectory(prefix="gid-", dir=common.memory_folder()) as name:
        folder = Path(name)
        with common.cockpit(folder, ways.STREAM) as cockpit:
            if options.only != "faults":
                measure_costs(names, options, folder, rows)
            if options.only != "cost":
                measure_faults(names, folder, cockpit, rows)


def main() -> int:
    parser = common.parser("readers", __doc__)
    parser.add_argument(
        "--frames", type=common.count, default=300, help="for each reader (default: 300)"
    )
    parser.add_argument(
        "--seconds", type=common.count, default=5, help="or for so long, if it is less (default: 5)"
    )
    parser.add_argument(
        "--readers",
        type=common.count,
        nargs="+",
        default=[1, 4, 8],
        help="how many (default: 1 4 8)",
    )
    parser.add_argument("--size", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--way", nargs="+", choices=ways.WAYS, default=list(ways.WAYS))
    parser.add_argument("--only", choices=["cost", "faults"], help="one part of it")
    parser.add_argument("--role", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        what, way, place, *numbers = options.role
        roles = {"produce": produce, "read": read, **readers_faults.ROLES}
        roles[what](way, ways.Place(**json.loads(place)), *map(int, numbers))
        return 0
    missing = ways.NEVER | {name: why for name in options.way if (why := ways.lacks(name))}
    if "gid" in missing:
        raise Wanting(f"the package gid was not built: {missing['gid']}")
    names = [name for name in options.way if name not in missing]
    rows: list[dict] = []
    try:
        measure(options, names, rows)
    finally:  # also of what was broken off
        absent = [{"part": "missing", "way": way, "why": why} for way, why in missing.items()]
        ratios = ratios_of([row for row in rows if row["part"] == "cost"])
        common.write(options.json, rows + absent, ratios)
    if faults := [row for row in rows if row["part"] == "faults"]:
        show_faults(faults)
    print()
    failed = [row for row in rows if row["part"] == "failed"]
    for row in failed:
        if "size" not in row:  # those of costs were told in their table
            print(f"did not work: {row['way']}: {row['why']}")
    for way, why in missing.items():
        print(f"not here: {way}: {why}")
    show_ratios(options, ratios)
    return 1 if {row["way"] for row in failed} & {*ways.OURS} else 0


if __name__ == "__main__":
    sys.exit(common.run(main))
