# SPDX-License-Identifier: MIT
"""The workloads that policies are compared by. All random numbers come from the seed."""

import random
from collections.abc import Callable

from .scheduler import MS, Repaint, Workload

REFRESH = 16_666_667
FRAMES = 36_000  # ten minutes at 60 Hz
WORKLOADS: dict[str, Callable[[random.Random, int], Workload]] = {}


def workload(function: Callable[[random.Random, int], Workload]) -> Callable:
    WORKLOADS[function.__name__] = function
    return function


def make(name: str, seed: int, frames: int) -> Workload:
    return WORKLOADS[name](random.Random(f"{name} {seed}"), frames)


def lateness(rng: random.Random) -> int:
    """How late a timer is: some 60 µs, and once in 5000 times a hiccup of the system."""
    hiccup = rng.uniform(0.5, 2) * MS if rng.random() < 1 / 5000 else 0
    return int(rng.expovariate(1 / 60_000) + hiccup)


def cost(rng: random.Random, mean_ms: float, deviation_ms: float) -> int:
    """A repaint's cost: skewed, as costs are; never under half its mean."""
    shape = (mean_ms / 2 / deviation_ms) ** 2
    return int((mean_ms / 2 + rng.gammavariate(shape, mean_ms / 2 / shape)) * MS)


@workload
def steady_light(rng: random.Random, frames: int) -> Workload:
    """A client at the full rate, repaints of 1.8 ms (as measured on a board of 2017)."""
    repaints = [Repaint(cost(rng, 1.8, 0.25), lateness(rng)) for _ in range(frames)]
    think = [int(rng.uniform(1, 4) * MS) for _ in range(frames)]
    return Workload("steady light", REFRESH, repaints, think=think)


@workload
def steady_heavy(rng: random.Random, frames: int) -> Workload:
    """The same at 80 % of the refresh interval."""
    repaints = [Repaint(cost(rng, 13.333, 0.25), lateness(rng)) for _ in range(frames)]
    think = [int(rng.uniform(0.5, 1.5) * MS) for _ in range(frames)]
    return Workload("steady heavy", REFRESH, repaints, think=think)


@workload
def alternating(rng: random.Random, frames: int) -> Workload:
    """Light and heavy content, each for half a second to four."""
    repaints = []
    heavy = False
    while len(repaints) < frames:
        for _ in range(rng.randrange(30, 240)):
            spent = cost(rng, 9, 0.5) if heavy else cost(rng, 2, 0.25)
            repaints.append(Repaint(spent, lateness(rng), 2 if heavy else 1))
        heavy = not heavy
    del repaints[frames:]
    think = [int(rng.uniform(1, 4) * MS) for _ in range(frames)]
    return Workload("alternating", REFRESH, repaints, think=think)


@workload
def rare_spikes(rng: random.Random, frames: int) -> Workload:
    """Light, but every 300th repaint or so takes 8 to 10 ms."""
    repaints = []
    for _ in range(frames):
        spike = rng.random() < 1 / 300
        spent = int(rng.uniform(8, 10) * MS) if spike else cost(rng, 2, 0.25)
        repaints.append(Repaint(spent, lateness(rng)))
    think = [int(rng.uniform(1, 4) * MS) for _ in range(frames)]
    return Workload("rare spikes", REFRESH, repaints, think=think)


@workload
def film(rng: random.Random, frames: int) -> Workload:
    """A film of 23.976 frames a second, which its player commits by its own clock."""
    repaints = [Repaint(cost(rng, 2.2, 0.3), lateness(rng)) for _ in range(frames)]
    commits = [int(i * 1e9 * 1001 / 24000 + rng.gauss(5, 0.3) * MS) for i in range(frames)]
    return Workload("24-in-60 film", REFRESH, repaints, commits=sorted(commits))


@workload
def jitter(rng: random.Random, frames: int) -> Workload:
    """A camera of 59.94 frames a second whose frames come 2 ms too soon or too late."""
    repaints = [Repaint(cost(rng, 3, 0.4), lateness(rng)) for _ in range(frames)]
    commits = [int(i * 1e9 / 59.94 + rng.gauss(10, 2) * MS) for i in range(frames)]
    return Workload("producer with jitter", REFRESH, repaints, commits=sorted(commits))
