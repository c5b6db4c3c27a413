# SPDX-License-Identifier: MIT
"""What the fast path has to reach, one row for each aim: for benchmarks, and for the documents.

These aims are stricter than the goals of the evaluation, which are those of the documents that
gidway comes from. Each is for one run on a machine with nothing else to do.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from gid_evaluate.plan import Goal
from gid_evaluate.result import MET, MISSED, figure_text


@dataclass(frozen=True)
class Aim:
    """`ratios`: a pattern of names among a benchmark's ratios, of which the worst counts. `chapter`
    and `figures`: where the evaluation has the same; "counts": bench/counts.json has. `command`:
    measures it, after `./run `."""

    name: str
    what: str
    bound: float
    command: str
    ratios: str
    chapter: str
    figures: str
    is_least: bool = False

    @property
    def goal(self) -> Goal:
        return Goal(self.name, self.bound, self.is_least)

    def verdict(self, value: float) -> str:
        return MET if self.goal.is_met(value) else MISSED

    def worst(self, pattern: str, values: Mapping[str, float]) -> float | None:
        found = [value for name, value in values.items() if fnmatchcase(name, pattern)]
        return (min if self.is_least else max)(found) if found else None


def _of_frame_cost(name: str, what: str, bound: float, figure: str) -> Aim:
    return Aim(name, what, bound, "bench frame-cost", name, "buffers", figure)


def _of_the_ring(name: str, where: str, bound: float) -> Aim:
    what, figure = f"cycles of a frame in the ring alone, {where}", f"a frame {where}, cycles"
    return Aim(name, what, bound, "bench ring", name, "buffers", figure)


def _of_the_hand_off(name: str, rate: int, bound: float) -> Aim:
    what = f"hand-off of 1080p, {rate} a second, to the best peer, of both formats the worse"
    figure = f"{rate} a second: processor time, ratio to the best peer"
    return Aim(name, what, bound, "bench handoff --size 1080p", name, "hand-off", figure)


def _of_points(words: int, name: str, how: str, bound: float, command: str, figure: str) -> Aim:
    what = f"points by the engine, {words} words a request, {how}, to drawing directly"
    figure = f"points, {words} words a request: {figure}"
    return Aim(name, what, bound, command, name, "engine", figure)


def _between_cores(words: int, bound: float) -> Aim:
    name, how = f"points_{words}_vs_direct", "between two cores"
    return _of_points(words, name, how, bound, "bench engine", "ratio to drawing directly")


def _on_one_processor(words: int) -> Aim:
    name = f"points_{words}_one_processor_vs_direct"
    how, command = "both sides on one processor, in the ordinary class", "--one-processor"
    figure = "both sides on one processor, ratio to drawing directly"
    return _of_points(words, name, how, 1.6, f"bench engine {command}", figure)


def _of_calls(who: str, what: str, bound: float) -> Aim:
    name = f"system_calls_of_the_{who}_at_60_a_second"
    figure = f"hand-off of a picture by GStreamer at 60 a second: system calls of the {who}"
    return Aim(name, what, bound, "bench counts --only live", name, "counts", figure)


def _beside_private_memory(kind: str, bound: float) -> Aim:
    name, pattern = f"{kind}_frames_cpu_vs_private", f"{kind}_frame_cpu_vs_private_n*"
    what = f"{kind} frames of 2 to 8 layers, processor time, to private memory"
    return Aim(name, what, bound, "bench engine", pattern, "layers", pattern)


AIMS = (
    _of_frame_cost(
        "eight_readers_vs_one",
        "a frame to 8 readers, to one reader",
        1.5,
        "a frame to 8 consumers, ratio to 1 consumer",
    ),
    _of_frame_cost(
        "streams_64_vs_1",
        "a frame of 64 streams in turn, to one stream",
        1.03,
        "dearest frame of up to 64 streams, ratio to 1 stream",
    ),
    _of_frame_cost(
        "burst_cycles_one_core",
        "cycles of a frame by the public calls, in bursts of 32, on one core",
        98,
        "bursts, one core, cycles",
    ),
    _of_frame_cost(
        "burst_cycles_two_cores",
        "cycles of a frame by the public calls, in bursts of 32, between two cores",
        160,
        "bursts, two cores, cycles",
    ),
    _of_the_ring("ring_cycles_one_core", "on one core", 60),
    _of_the_ring("ring_cycles_two_cores", "between two cores", 90),
    _of_the_hand_off("transport_cpu_1080p_vs_best_peer", 60, 0.6),
    _of_the_hand_off("transport_cpu_1080p_fast_vs_best_peer", 1000, 0.4),
    Aim(
        "later_frames_cpu_vs_direct",
        "later frames of 2 to 8 layers by one thread, processor time, to drawing directly",
        0.8,
        "bench engine --helpers 0 --ordinary",
        "later_frame_cpu_vs_direct_n*",
        "layers",
        "* layers, later frame by one thread: processor time, ratio to drawing directly",
    ),
    Aim(
        "messages_vs_bare_futex",
        "messages of 16 bytes to 64 KiB, to the same bytes by a bare futex",
        1.05,
        "evaluate --full --chapters 5.1.5",
        "messages_vs_bare_futex",
        "5.1.5",
        "dearest size, ratio to a bare futex with the same bytes",
    ),
    Aim(
        "frames_for_instructions_with_module_vs_without",
        "frames of a GL client for the same instructions of Weston, with the module, to without",
        0.995,
        "bench drawing",
        "frames_for_instructions_with_module_vs_without",
        "5.6",
        "frames for the same instructions of Weston, with the module, ratio to without",
        is_least=True,
    ),
    _between_cores(100, 1.0),
    _between_cores(1000, 0.6),
    _on_one_processor(100),
    _on_one_processor(1000),
    _of_calls("sender", "system calls of a sender for a picture, with GStreamer's own wait", 2),
    _of_calls("reader", "system calls of its reader for a picture", 1),
    _beside_private_memory("first", 1.05),
    _beside_private_memory("fresh", 1.1),
)


def reached(ratios: Mapping[str, float], command: str | None = None) -> Iterator[dict[str, Any]]:
    """What a benchmark's JSON says of the aims that its ratios have. `command`: those alone that it
    measures, where other options give the same ratios of something else."""
    for aim in AIMS:
        value = aim.worst(aim.ratios, ratios)
        if value is not None and command in (None, aim.command):
            goal = {"name": aim.name, "what": aim.what, "goal": aim.goal.limit}
            yield goal | {"value": value, "verdict": aim.verdict(value)}


def line(one: Mapping[str, Any]) -> str:
    value = figure_text(one["value"])
    return f"aim: {one['name']} {value} ({one['goal']}): {one['verdict']}"
