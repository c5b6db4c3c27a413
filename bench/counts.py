#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a frame, a message, a picture and a point take in counts, which no noise moves.

Instructions are counted by callgrind, system calls by strace, copied bytes as bench bandwidth does:
each time for a number of items and for twice or more as many, and the difference is divided by the
items more, so that no start and no end counts. Of the engine's two programs one is counted at a
time, which is then the slower one by far: the engine always has lists to draw, and the program that
draws finds the engine awake. Of pictures at 60 a second system calls are counted, too: those of a
reader that sleeps before each. There time matters a little, and half a call is no change.

`--against FILE` compares with the counts of FILE, as bench/counts.json has them for one compiler
and architecture, and ends with status 1 if one is more than 5 % higher: then say why in the commit,
and write the new ones down (`--write FILE`). One that is more than 5 % lower is to be written down
too, or what was won could be lost again and nobody would see it.
"""

import contextlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from bench import bandwidth, callgrind, common, engine
from lab.domains import priority
from lab.domains.program import LabError, Wanting

FEW, MANY = 4_000, 24_000  # frames
PICTURES = 60  # whose copies are counted
LIVE = (60, 240)  # whose system calls are, at 60 a second
TIMELY = " at 60 a second"  # of these counts: who comes late finds others awake
BEFORE, SENT = 100, 500  # whose instructions are, behind some others
SIZE = (64, 36)  # of these: to draw more takes callgrind minutes
REST_US = 2000  # between them, so that the reader has gone to sleep each time
OURS = re.compile(r"libgid\.so|libgstgid\.so")
TOLERANCE = 0.05
TRIES, SENDERS = 3, 5  # of what depends on who sleeps when, and of those of a picture
PAGE = 4096
PATIENCE = 300.0  # seconds, for one program that is counted
SPIN_US = 100_000  # the longest that gid-engine takes
WORDS = (100, 1000)  # of a list of points
POINTS = 100_000  # that gid-bench-engine sends in a pass
# An instruction that copies or clears much is one for each byte to callgrind: libc is to use others
COPIES = (
    "env",
    "GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1073741824"
    ":glibc.cpu.x86_rep_stosb_threshold=1073741824",
)
PASSES = (1, 3)  # that it measures, behind others
Count = tuple[str, str, float]  # of what, in which unit
HAND_OFF = "hand-off of a picture by GStreamer"


class Counter:
    """Runs programs under what counts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def instructions(self, words: Sequence[object]) -> float:
        out = self._folder / "callgrind.out"
        run([*callgrind.command(out), *words])
        return sum(callgrind.read_costs(out).values())

    def calls(self, words: Sequence[object]) -> float:
        """The least of some runs: who waits at its start waits more often on a busy machine."""
        return min(self._calls(words) for _ in range(TRIES))

    def _calls(self, words: Sequence[object]) -> int:
        out = self._folder / "strace.out"
        run([*strace(out), *words])
        return read_calls(out)


def run(words: Sequence[object]) -> None:
    """A program of the domain open."""
    result = subprocess.run(
        [str(word) for word in words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        env=os.environ | {"GID_DOMAIN": "open"},
    )
    if result.returncode != 0:
        raise LabError(f"{words[-4:]}: {result.stderr.strip()[-500:]}")


def strace(out: Path) -> list[object]:
    return ["strace", "-f", "-c", "-U", "calls,name", "-o", out]


def read_calls(path: Path) -> int:
    """The sum of a summary of strace."""
    found = re.search(r"^\s*(\d+)\s+total$", path.read_text(), re.MULTILINE)
    if found is None:
        raise LabError(f"strace counted nothing:\n{path.read_text()[-500:]}")
    return int(found[1])


def per_item(count: Callable[[Sequence[object]], float], words: Callable[[int], list]) -> float:
    return (count(words(MANY)) - count(words(FEW))) / (MANY - FEW)


# --- what is counted ------------------------------------------------------------------------------


def ring() -> Iterator[Count]:
    core = priority.two_cores()[0]
    with new_folder() as folder:
        counter = Counter(folder)
        instructions = per_item(
            counter.instructions, lambda n: ["gid-bench-ring", "alone", n, core, core]
        )
    yield "ring: a frame", "instructions", instructions


def frame() -> Iterator[Count]:
    with cockpit() as folder:
        yield from flow(Counter(folder), 1, 1, "a frame")


def frames() -> Iterator[Count]:
    with cockpit() as folder:
        counter = Counter(folder)
        yield from flow(counter, 64, 1, "a frame of 64 streams")
        yield from flow(counter, 1, 8, "a frame to 8 consumers")
        yield from bursts(counter, 1, "a frame, in bursts of 32")
        yield from bursts(counter, 8, "a frame to 8 consumers, in bursts of 32")


def flow(counter: Counter, streams: int, consumers: int, name: str) -> Iterator[Count]:
    yield from both(counter, lambda n: ["gid-probe", "frames", n, streams, consumers], name)


def bursts(counter: Counter, consumers: int, name: str) -> Iterator[Count]:
    yield from both(counter, lambda n: ["gid-probe", "frames", "bursts", n, consumers], name)


def both(counter: Counter, words: Callable[[int], list], name: str) -> Iterator[Count]:
    yield f"public calls: {name}", "instructions", per_item(counter.instructions, words)
    yield f"public calls: {name}", "system calls", per_item(counter.calls, words)


@contextlib.contextmanager
def new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gid-counts-", dir=common.memory_folder()) as name:
        yield Path(name)


@contextlib.contextmanager
def cockpit() -> Iterator[Path]:
    """Its folder. What is run belongs to the domain open."""
    with new_folder() as folder:
        with common.cockpit(folder, "bench"):
            yield folder


def pictures() -> Iterator[Count]:
    """In the sender: what gidway's own objects do. In both: what is copied.

    The reader sleeps before each picture, and has to be woken. Whatever else a busy machine brings
    only ever adds: the lowest of some counts is that of the work.
    """
    with cockpit() as folder:
        instructions = min(sender_instructions(folder) for _ in range(SENDERS))
    yield HAND_OFF, "instructions of the sender", instructions
    if "GID_BENCH_COPIES_LIBRARY" in os.environ:
        with new_folder() as folder, common.cockpit(folder, "bench"):
            row = bandwidth.Bench(folder, PICTURES).pipelines("gid")
        yield HAND_OFF, "copied bytes", row["copied_bytes_per_frame"]


def sender_instructions(folder: Path) -> float:
    """For a picture. To see the start of GStreamer takes callgrind longer than all of these."""
    out, received = folder / "callgrind.out", folder / "received"
    received.touch()
    caps = "video/x-raw,format=BGRx,width={},height={}".format(*SIZE)
    pipeline = f"videotestsrc pattern=solid-color ! {caps} ! identity sleep-time={REST_US}"
    pipeline += " ! gidsink stream=bench sync=false wait-for-connection=true"
    pipeline += " stats-interval=0"  # which are posted by time, so the more the slower it is
    reading = f"gidsrc domain=open stream=bench ! filesink buffer-mode=2 location={received}"
    reader = bandwidth.start(reading, "cluster", {})
    words = [*callgrind.command(out, counts=False), bandwidth.GSTREAMER, "-q"]
    sender = subprocess.Popen(
        [*words, *pipeline.split()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"GID_DOMAIN": "open"},
    )

    def wait_pictures(count: int) -> None:
        size = received.stat().st_size + count * SIZE[0] * SIZE[1] * 4
        bandwidth.wait_for(f"{count} pictures", lambda: received.stat().st_size >= size)

    try:
        wait_pictures(BEFORE)
        callgrind.start(sender.pid)
        wait_pictures(SENT)
        dump = callgrind.counted(sender.pid, out)
    finally:
        for process in (sender, reader):
            process.terminate()
            process.communicate()
        received.unlink()
    ours = sum(cost for name, cost in callgrind.read_costs(dump).items() if OURS.match(name))
    return ours / callgrind.read_calls(dump, "gid_producer_send")


def live() -> Iterator[Count]:
    """With GStreamer's own: a wait for the clock before each picture of a live source. Ours are to
    be a wake in the sender and a sleep in the reader."""
    found = []
    with cockpit() as folder:
        for _ in range(TRIES):
            few, many = (live_calls(folder, number) for number in LIVE)
            found.append({who: (many[who] - few[who]) / (LIVE[1] - LIVE[0]) for who in many})
    for who in found[0]:
        yield f"{HAND_OFF}{TIMELY}", f"system calls of the {who}", median(one[who] for one in found)


def live_calls(folder: Path, number: int) -> dict[str, int]:
    """Of both programs."""
    outs = {name: folder / f"strace.{name}" for name in ("sender", "reader")}
    source = bandwidth.SOURCE.format(frames=number)
    reading = "gidsrc domain=open stream=bench ! fakesink sync=false"
    reader = subprocess.Popen(
        [*map(str, strace(outs["reader"])), bandwidth.GSTREAMER, "-q", *reading.split()],
        env=os.environ | {"GID_DOMAIN": "cluster"},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        pipeline = f"{source} ! gidsink stream=bench sync=false wait-for-connection=true"
        run([*strace(outs["sender"]), bandwidth.GSTREAMER, "-q", *pipeline.split()])
        bandwidth.end(reader, "gidsrc")
    finally:
        reader.kill()
    return {name: read_calls(out) for name, out in outs.items()}


def points() -> Iterator[Count]:
    """A quarter of them is clipped, as in what bench engine tells."""
    yield "engine: a point, drawn directly", "instructions", per_point(direct_instructions)
    for words in WORDS:
        name = f"engine: a point, {words} words a request"
        of_engine = partial(engine_instructions, words)
        of_program = partial(program_instructions, words)
        yield name, "instructions of the engine", per_point(of_engine)
        yield name, "instructions of the program", per_point(of_program)


def draw(words: int, passes: int, under: Sequence[object] = ()) -> None:
    run([*under, "gid-bench-engine", "points", words, "quarter", passes, POINTS])


def per_point(instructions: Callable[[int], int]) -> float:
    """By passes more: what is before and behind them does not count."""
    few, many = map(instructions, PASSES)
    return (many - few) / (POINTS * (PASSES[1] - PASSES[0]))


def engine_instructions(words: int, passes: int) -> int:
    """It does not look for lists for long between passes, which would count."""
    with new_folder() as folder:
        out = folder / "callgrind.engine"
        under = (*COPIES, *callgrind.command(out))
        with engine.engine(folder, helpers=0, spin_us=0, under=under):
            draw(words, passes)
        return sum(callgrind.read_costs(out).values())


def program_instructions(words: int, passes: int) -> int:
    """Only of its part that makes lists and sends them."""
    with new_folder() as folder:
        out = folder / "callgrind.program"
        with engine.engine(folder, helpers=0, spin_us=SPIN_US):
            draw(words, passes, [*callgrind.command(out), "--toggle-collect=send_points"])
        return sum(callgrind.read_costs(out).values())


def direct_instructions(passes: int) -> int:
    with new_folder() as folder:
        out = folder / "callgrind.program"
        with engine.engine(folder, helpers=0, spin_us=SPIN_US):
            draw(WORDS[-1], passes, [*callgrind.command(out), "--toggle-collect=pass_here"])
        return sum(callgrind.read_costs(out).values())


# --- results --------------------------------------------------------------------------------------


PARTS = {
    "ring": ring,
    "frame": frame,
    "frames": frames,
    "pictures": pictures,
    "live": live,
    "points": points,
}


def measure(wanted: Sequence[str]) -> list[dict]:
    rows = []
    progress = common.Progress(len(wanted))
    for part in wanted:
        progress.step(part)
        for what, unit, value in PARTS[part]():
            row = {
                "bench": "counts",
                "what": what,
                "unit": unit,
                "count": max(0.0, round(value, 2)),
            }
            rows.append(row)
    progress.end()
    return rows


def place(build: Path) -> str:
    """For which the counts hold: another compiler makes other instructions."""
    path = build / "meson-info" / "intro-compilers.json"
    compiler = json.loads(path.read_text())["host"]["c"]
    major = compiler["version"].split(".")[0]
    return f"{platform.machine()} {compiler['id']} {major}"


def named(rows: Sequence[dict]) -> dict[str, float]:
    return {f"{row['what']}: {row['unit']}": row["count"] for row in rows}


def ratios(rows: Sequence[dict]) -> dict[str, float]:
    """What has an aim: the calls for a picture at 60 a second."""
    found = named(rows).items()
    calls = {name.rpartition(" ")[2]: count for name, count in found if TIMELY in name}
    return {f"system_calls_of_the_{who}_at_60_a_second": count for who, count in calls.items()}


def tolerance(name: str, before: float) -> float:
    """Counts that are 0 must stay so, but for less than a page a picture: programs copy a few KB
    when they wait, and a picture is 3.7 MB. What is looked at by time counts for half a call."""
    least = PAGE if name.endswith("copied bytes") else 0.5 if TIMELY in name else 0.01
    return max(TOLERANCE * before, least)


def compare(before: dict[str, float], now: dict[str, float]) -> list[str]:
    """What changed, in a sentence for each. A busy machine takes calls of those who would sleep:
    that is no gain."""
    said = []
    for name, count in now.items():
        if name not in before:
            said.append(f"{name} is {count:g}, and is not written down")
            continue
        more = count - before[name]
        if more > tolerance(name, before[name]):
            said.append(f"{name} is worse: {before[name]:g} were, {count:g} are")
        elif -more > tolerance(name, before[name]) and TIMELY not in name:
            said.append(f"{name} is better: {before[name]:g} were, {count:g} are")
    return said


def main() -> int:
    parser = common.parser("counts", __doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with these")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write them down there")
    options = parser.parse_args()
    here = place(Path(os.environ["GIDWAY_BUILD"]))
    before = read_expected(options.against, here)
    rows = measure(options.only)
    for row in rows:
        print(f"{row['what']:42} {row['count']:12.2f} {row['unit']}")
    common.write(options.json, rows, ratios(rows))
    if options.write is not None:
        write_expected(options.write, here, named(rows))
    said = compare(before, named(rows)) if options.against is not None else []
    print(*said, sep="\n", end="\n" if said else "")
    return 1 if said else 0


def read_expected(path: Path | None, here: str) -> dict[str, float]:
    kept = json.loads(path.read_text()) if path is not None else {here: {}}
    if here not in kept:
        raise Wanting(f"{path} has no counts of {here}")
    return kept[here]


def write_expected(path: Path, here: str, found: dict[str, float]) -> None:
    kept = json.loads(path.read_text()) if path.exists() else {}
    kept[here] = kept.get(here, {}) | found
    path.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(common.run(main))
