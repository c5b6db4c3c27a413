# SPDX-License-Identifier: MIT
"""Costs per frame: the ring, streams and consumers, the hand-off, and drawing for others."""

import re

from gid_evaluate.chapters import beside
from gid_evaluate.outcome import NotRun
from gid_evaluate.plan import Goal, Shared
from gid_evaluate.result import Figure

from lab.evaluate.context import Context, Plan

# Names in the report for ratios of a benchmark; others keep their names.
NAMES = {
    "came_of_sent_worst": "frames that came, of those that were sent, worst run",
    "transport_cpu_1080p_vs_best_peer": "60 a second: processor time, ratio to the best peer",
    "transport_cpu_1080p_fast_vs_best_peer": "1000 a second: processor time, ratio to the best "
    "peer",
    "above_wake_fast_vs_best_peer": "1000 a second, above waking a source: ratio to the best peer",
    "bare_wake_1080p_vs_best_peer": "a bare wake-up, ratio to the best peer",
    "woken_source_1080p_vs_best_peer": "waking a source, ratio to the best peer",
    "transport_cpu_2160p_vs_720p": "2160p, ratio to 720p",
    "read_all_1080p_vs_private": "reading each pixel, ratio to private memory",
    "latency_p50_vs_best_peer": "60 a second: latency, ratio to the best peer",
    "compose_vs_gst_compositor": "composing, ratio to GStreamer's compositor",
    "import_further_slot_us": "import of a further slot, µs",
    "import_first_slot_us": "import of a slab that is new here, µs",
    "export_us": "export: a slab becomes readable in another domain, µs",
}
HOW = {  # of points
    None: "",
    "cpu_": "processor time of both sides, ",
    "one_processor_": "both sides on one processor, ",
}
RINGS = {
    "ring": "a frame between two cores",
    "alone": "a frame on one core",
    "spin": "limit: a bare word to another core and back",
}


SHARES = {"came_of_sent_worst"}  # of the ratios of benchmarks: more is better


def _ratios(found: dict, source: str) -> list[Figure]:
    return [
        Figure(_name(name), value, "share" if name in SHARES else "", 1, (value, value), source)
        for name, value in found["ratios"].items()
    ]


def _name(ratio: str) -> str:
    points = re.fullmatch(r"points_(\d+)_(cpu_|one_processor_)?vs_(direct|function)", ratio)
    if points and points[3] == "function":
        return f"points, {points[1]} words a request: ratio to the engine's own function"
    if points:
        return f"points, {points[1]} words a request: {HOW[points[2]]}ratio to drawing directly"
    layers = re.fullmatch(r"(\w+)_frame_drop_n(\d)(_private)?", ratio)
    if layers:
        where = ", into private memory" if layers[3] else ""
        return f"{layers[2]} layers, {layers[1]} frame{where}: slower than directly, %"
    return NAMES.get(ratio, ratio)


def _ring(context: Context) -> list[Figure]:
    timing = ("--repetitions=15",) if context.is_full else ("--repetitions=5", "--rounds=0.05")
    found = context.benchmark("ring", *timing)
    figures = [
        Figure(
            RINGS[row["what"]] + (", cycles" if unit == "cycles" else ""),
            row[unit],
            unit,
            row["n"],
            (row[f"{unit}_min"], row[f"{unit}_max"]),
            "./run bench ring",
        )
        for row in found["rows"]
        if row["what"] in RINGS
        for unit in ("ns", "cycles")
    ]
    costs = _streams(context)
    figures += costs
    context.notes += [
        "./run bench counts counts the instructions and system calls of a frame, also of one to "
        "eight consumers. Each consumer has a ring of its own, so that none can disturb another. "
        "In a cockpit it receives on a core of its own.",
        "With many streams, a frame's ring, page, and what the library knows of stream, consumer "
        "and slab are not in the first level of the cache any more. One stream finds all there. "
        "docs/benchmarks.md has the counts.",
    ]
    return [*figures, *_growing(costs)]


FLAT = "dearest frame of up to 64 streams, ratio to 1 stream"
FAN = "a frame to 8 consumers, ratio to 1 consumer"


def _streams(context: Context) -> list[Figure]:
    def measure() -> list[Figure]:
        with context.cockpit() as cockpit:
            return context.probe(cockpit.open, "streams")

    return context.figures_once(("gid-probe", "streams"), measure)


def _growing(costs: list[Figure]) -> list[Figure]:
    """How the cost of a frame grows with streams and with consumers."""
    by_name = {one.name: one.value for one in costs}
    many = [by_name[f"streams: {count}, consumers: 1"] for count in (1, 4, 16, 64)]
    fan, flat = by_name["streams: 1, consumers: 8"] / many[0], max(many) / many[0]
    source, system = costs[0].source, costs[0].system
    return [
        Figure(FLAT, flat, "", len(many), (min(many), max(many)), source, system),
        Figure(FAN, fan, "", 1, (fan, fan), source, system),
    ]


def _in_guest(context: Context) -> list[Figure]:
    """The guest's own domain has all of these streams: no frame leaves the guest."""
    if not context.is_full:
        raise NotRun("a full run only: it takes minutes in a guest that is translated")
    costs = context.probe_once(beside.guest_of(context), "streams")
    found = [*_growing(_streams(context)), *_growing(costs)]
    return [*costs, *found, *beside.ratios(found)]


def _handoff(context: Context) -> list[Figure]:
    arguments = ("--size=1080p",)
    timing = (
        ("--repetitions=5", "--seconds=2")
        if context.is_full
        else ("--repetitions=1", "--seconds=1")
    )
    found = context.benchmark("handoff", *arguments, *timing, minutes=25)
    source, figures = "./run bench handoff", []
    for row in found["rows"]:
        if row["who"] == "refused":
            context.notes.append(f"“{_name(row['what'])}” means nothing here: {row['why']}.")
        if "rate" not in row:
            continue
        what = f"{row['who']}, {row['format']}, {row['rate']} a second"
        what += f": {row['what']}" if "what" in row else ""
        what += ", each pixel read" if row.get("read_all") else ""
        for key, name in (("transport_cpu_us", "processor time"), ("latency_p50_us", "latency")):
            if key in row:
                value, n = row[key], row.get("frames", 1)
                figures.append(Figure(f"{what}: {name}", value, "µs", n, (value, value), source))
    return figures + _ratios(found, source)


# As a program that draws for itself: one thread, with the ordinary scheduling policy.
ALONE = ("--helpers=0", "--ordinary")
ONE_PROCESSOR = "--one-processor"
LIMITS = {1000: 1.2, 100: 1.5}  # words per request: limit
ORDINARY = [
    (Goal(f"{_name(f'points_{words}_vs_direct')}, ordinary class", limit), words)
    for words, limit in LIMITS.items()
]
# Of the frames of all n. By one thread: a program that draws for itself could use more as well.
DROPS = {"first": 5.0, "later": 0.5, "fresh": 10.0}
SLOWER = {
    kind: Goal(
        f"{kind} frame by one thread, worst of 2 to 8 layers: slower than directly, %", limit
    )
    for kind, limit in DROPS.items()
}
FURTHER = Goal(NAMES["import_further_slot_us"], 1.0)


def _drawing(context: Context, *how: str) -> dict[str, float]:
    """The benchmark's ratios; those of points and of layers are of the same run."""
    timing = () if context.is_full else ("--repetitions=2", "--frames=20", "--seconds=2")
    return context.benchmark("engine", *timing, *how, minutes=25)["ratios"]


def _points(context: Context) -> list[Figure]:
    found = {name: one for name, one in _drawing(context).items() if name.startswith("points")}
    figures = _ratios({"ratios": found}, "./run bench engine")
    alone, source = _drawing(context, *ALONE), f"./run bench engine {' '.join(ALONE)}"
    for goal, words in ORDINARY:
        ratio = alone[f"points_{words}_vs_direct"]
        figures.append(Figure(goal.figure, ratio, "", 1, (ratio, ratio), source))
    if context.is_full:
        words = ("--words", *map(str, sorted(LIMITS)))
        together = {"ratios": _drawing(context, ONE_PROCESSOR, *words)}
        figures += _ratios(together, f"./run bench engine {ONE_PROCESSOR}")
    return figures


def _layers(context: Context) -> list[Figure]:
    found = _drawing(context)
    rest = {name: one for name, one in found.items() if not name.startswith("points")}
    figures = _ratios({"ratios": rest}, "./run bench engine")
    alone, source = _drawing(context, *ALONE), f"./run bench engine {' '.join(ALONE)}"
    for kind, goal in SLOWER.items():
        drops = []
        for name, value in alone.items():
            if layers := re.fullmatch(rf"{kind}_frame_drop_n(\d)", name):
                figure = f"{layers[1]} layers, {kind} frame by one thread: slower than directly, %"
                figures.append(Figure(figure, value, "%", 1, (value, value), source))
                drops.append(value)
        spread = (min(drops), max(drops))
        figures.append(Figure(goal.figure, max(drops), "%", len(drops), spread, source))
    return figures + _later_alone(alone, source)


def _later_alone(alone: dict[str, float], source: str) -> list[Figure]:
    """The processor time of later frames by one thread, which helpers would spread."""
    name = "{} layers, later frame by one thread: processor time, ratio to drawing directly"
    return [
        Figure(name.format(layers[1]), value, "", 1, (value, value), source)
        for ratio, value in alone.items()
        if (layers := re.fullmatch(r"later_frame_cpu_vs_direct_n(\d)", ratio))
    ]


DRAWING = Shared("engine", (1.8, 21))

PLANS = [
    Plan(
        "buffers",
        "External buffers: the price of a frame",
        "A frame's number is sent, received and given back by the public calls: one by one on one "
        "core, with one and with many streams and consumers; and in bursts of 32, on one core and "
        "between two. Beside it the ring alone, without the checks, counts and clocks of the "
        "public calls: by one thread, and by two on two cores that never sleep.",
        _ring,
        goals=(
            Goal("streams: 1, consumers: 1, cycles", 98),
            Goal("bursts, one core, cycles", 98),
            Goal("bursts, two cores, cycles", 160),
            Goal(f"{RINGS['alone']}, cycles", 98),
            Goal(f"{RINGS['ring']}, cycles", 160),
            Goal(FLAT, 1.1),
            Goal(FAN, 2.0),
        ),
        minutes=(0.3, 3),
    ),
    Plan(
        "buffers.2",
        "External buffers in the guest beside natively",
        "What a frame costs in the guest, by the public calls, with one and with many streams and "
        "consumers; and how much more many cost than one, to the same natively.",
        _in_guest,
        goals=tuple(Goal(beside.ratio_of(name), 1.1, only_full=True) for name in (FLAT, FAN)),
        minutes=(0.0, 3.0),
        runs=lambda is_full: [["gid-probe", "streams"]] if is_full else [],
    ),
    Plan(
        "hand-off",
        "Hand-off of frames to another process",
        "A picture of 1920x1080 in BGRx and I420 by gid, and by GStreamer's unixfd and shm "
        "elements: processor time of both sides for each picture that came, less what making it "
        "costs. Of both formats the one where gid does worse.",
        _handoff,
        goals=(
            Goal(NAMES["transport_cpu_1080p_vs_best_peer"], 0.35),
            Goal(NAMES["transport_cpu_1080p_fast_vs_best_peer"], 0.35),
            Goal(NAMES["came_of_sent_worst"], 0.99, is_least=True),
        ),
        minutes=(1.5, 12),
    ),
    Plan(
        "engine",
        "Drawing points for other domains",
        "Two million points, drawn directly and by the engine for another domain: with all "
        "processors and in a real-time class; and as who draws for himself, in the ordinary class. "
        "In a full run also both sides on one processor.",
        _points,
        goals=(
            *(Goal(_name(f"points_{words}_vs_direct"), most) for words, most in LIMITS.items()),
            *(Goal(_name(f"points_{words}_cpu_vs_direct"), most) for words, most in LIMITS.items()),
            *(goal for goal, _ in ORDINARY),
        ),
        minutes=(0.0, 0.0),
        shares=(DRAWING,),
    ),
    Plan(
        "layers",
        "Composing pictures for other domains",
        "Two to eight full-HD pictures, composed directly and by the engine for another domain: "
        "the first frame, for which all is made, exported and imported; later ones; and ones whose "
        "pictures are made anew. With all processors, and by one thread in the ordinary class.",
        _layers,
        goals=(*SLOWER.values(), FURTHER),
        minutes=(0.0, 0.0),
        shares=(DRAWING,),
    ),
]
