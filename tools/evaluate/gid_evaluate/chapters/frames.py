# SPDX-License-Identifier: MIT
"""Frames by number: the ring, streams and consumers, the hand-off, and drawing for others."""

from ..plan import Context, Goal, Plan
from ..result import Figure


def _rows(found: dict, source: str, keys: dict[str, str]) -> list[Figure]:
    """A figure for each of `keys` (the row's key: its unit) that a benchmark's row has."""
    figures = []
    for row in found["rows"]:
        words = [str(row[key]) for key in ("who", "what", "size", "format") if key in row]
        for key, unit in keys.items():
            if isinstance(row.get(key), (int, float)):
                spread = (row.get(f"{key}_min", row[key]), row.get(f"{key}_max", row[key]))
                name = f"{' '.join(words)}: {key}" if len(keys) > 1 else " ".join(words)
                figures.append(Figure(name, row[key], unit, row.get("n", 1), spread, source))
    return figures


def _ratios(found: dict, source: str) -> list[Figure]:
    return [
        Figure(name, value, "", 1, (value, value), source)
        for name, value in found["ratios"].items()
    ]


def _ring(context: Context) -> list[Figure]:
    timing = ("--repetitions=15",) if context.is_full else ("--repetitions=5", "--rounds=0.05")
    found = context.benchmark("ring", *timing)
    figures = _rows(found, "./run bench ring", {"ns": "ns", "cycles": "cycles"})
    with context.cockpit() as cockpit:
        costs = context.probe(cockpit.open, "streams")
    by_name = {one.name: one.value for one in costs}
    many = [by_name[f"{count} streams, 1 consumers"] for count in (1, 4, 16, 64)]
    source = "gid-probe streams"
    spread = (min(many), max(many))
    flat = max(many) / many[0]
    fan = by_name["1 streams, 8 consumers"] / many[0]
    figures += costs
    figures.append(
        Figure("dearest frame of up to 64 streams, ratio to 1 stream", flat, "", 4, spread, source)
    )
    figures.append(
        Figure("a frame to 8 consumers, ratio to 1 consumer", fan, "", 1, (fan, fan), source)
    )
    return figures


def _handoff(context: Context) -> list[Figure]:
    arguments = ("--size=1080p", "--format=BGRx")
    timing = (
        ("--repetitions=5", "--seconds=2")
        if context.is_full
        else ("--repetitions=1", "--seconds=1")
    )
    found = context.benchmark("handoff", *arguments, *timing)
    keys = {"transport_cpu_us": "µs", "latency_p50_us": "µs"}
    for row in found["rows"]:
        if row["who"] == "refused":
            context.notes.append(f"{row['what']} means nothing here: {row['why']}.")
    return _rows(found, "./run bench handoff", keys) + _ratios(found, "./run bench handoff")


def _engine(context: Context) -> list[Figure]:
    timing = () if context.is_full else ("--repetitions=2", "--frames=20", "--seconds=2")
    found = context.benchmark("engine", *timing, minutes=8)
    return _ratios(found, "./run bench engine")


PLANS = [
    Plan(
        "buffers",
        "External buffers: the price of a frame",
        "A frame's number is sent, received and given back: by two threads on two cores that never "
        "sleep (ring), and by one thread (alone); and by the public calls on one core, with many "
        "streams and many consumers.",
        _ring,
        goals=(
            Goal("gid alone: cycles", 98),
            Goal("gid ring: cycles", 160),
            Goal("dearest frame of up to 64 streams, ratio to 1 stream", 1.1),
            Goal("a frame to 8 consumers, ratio to 1 consumer", 2.0),
        ),
        document=(
            ("one core, external buffer", "98 cycles a packet (213 without)"),
            ("four cores, external buffer", "160 cycles a packet (910 without)"),
        ),
        minutes=(0.3, 3),
    ),
    Plan(
        "hand-off",
        "Hand-off of frames to another process",
        "A picture of 1920x1080 by gid, and by GStreamer's unixfd and shm elements: processor time "
        "of both sides, less what making the picture costs.",
        _handoff,
        goals=(
            Goal("transport_cpu_1080p_vs_best_peer", 0.75),
            Goal("above_wake_fast_vs_best_peer", 0.30),
        ),
        minutes=(0.8, 6),
    ),
    Plan(
        "engine",
        "Drawing for other domains",
        "Points and full-HD layers, drawn directly and by the engine for another domain.",
        _engine,
        goals=(Goal("points_1000_vs_direct", 1.2), Goal("points_100_vs_direct", 1.5)),
        document=(
            ("points, 1000 words a request", "3.3 times direct"),
            ("2 to 8 layers, first frame", "24.7 to 79.7 % slower"),
            ("2 to 8 layers, later frames", "1.6 to 4 % slower"),
        ),
        minutes=(0.8, 4),
    ),
]
