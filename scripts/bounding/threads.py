# SPDX-License-Identifier: MIT
"""How deep the stack of each thread of a program goes, and what makes that unknown."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bounding.calls import Function, Graph

# Who starts a thread; and who gives it which stack: a file, and the constant there.
STARTERS = ("pthread_create", "gid_thread_start")
SIZES = {
    "gid_thread_start": ("libgid/thread.h", "GID_THREAD_STACK"),
}
# Others have what a process gets for its first thread (RLIMIT_STACK), if nobody set a limit.
ORDINARY = 8 << 20

# It brings the first thread's stack into memory before frames come. What it fills is what there is.
FILLS = "cluster/main.c:fill_stack"

# Calls that a way down has at most once, though pointers seem to go round: who, whom, and what is
# never called from there on. Only a domain's loop has these callbacks; a producer's has not, which
# may be dispatched within them.
EXCUSED = {
    ("gid_loop_dispatch", "gid_connection_deliver"): "gid_domain_dispatch",
    ("gid_loop_dispatch", "libgid/connection.c:pending_expired"): "gid_domain_dispatch",
}

# How far two compilers' lines of one call may be apart.
_NEAR = 8


@dataclass(frozen=True)
class Step:
    function: str
    place: str
    stack: int


@dataclass(frozen=True)
class Thread:
    """`called_back`: the deepest function of ours that a library may call, once."""

    function: str
    has: int
    way: tuple[Step, ...]
    called_back: tuple[Step, ...]

    @property
    def needs(self) -> int:
        return sum(step.stack for step in (*self.way, *self.called_back))


@dataclass(frozen=True)
class Stacks:
    """Of one program. `unknown`: places of calls by pointer that clang does not know.

    `outside`: those that reach no function of the program. Libraries gave the pointer, or nobody.
    """

    program: str
    functions: int
    pointer_calls: int
    recursions: tuple[tuple[Step, ...], ...]
    dynamic: tuple[Step, ...]
    unknown: tuple[str, ...]
    outside: tuple[str, ...]
    excused: tuple[tuple[str, str], ...]
    wrongly: tuple[tuple[str, str], ...]  # excused
    libraries: tuple[str, ...]  # functions of others that it calls
    threads: tuple[Thread, ...]

    def problems(self) -> list[str]:
        found = [
            f"{' calls '.join(step.function for step in (*way, way[0]))}: a recursion"
            for way in self.recursions
        ]
        found += [
            f"{step.place}: {step.function}: a stack of no known size" for step in self.dynamic
        ]
        found += [f"{place}: a call by pointer that clang does not have" for place in self.unknown]
        found += [f"{' calls '.join(pair)}: wrongly excused" for pair in self.wrongly]
        # Nobody says what libraries need: half of a stack is theirs.
        found += [
            f"{thread.function} needs {thread.needs} bytes, more than half of {thread.has}"
            for thread in self.threads
            if thread.needs > thread.has // 2
        ]
        return [f"{self.program}: {problem}" for problem in found]

    def as_json(self) -> dict:
        threads = [asdict(thread) | {"needs": thread.needs} for thread in self.threads]
        return asdict(self) | {"threads": threads, "problems": self.problems()}


def constant(text: str, name: str) -> int:
    """Of C: a number of bytes, shifted."""
    found = re.search(rf"^#define {name} \(?(?:\(size_t\))?(\d+)u? << (\d+)\)?", text, re.M)
    if found is None:
        raise ValueError(f"{name} is no size that is known")
    return int(found[1]) << int(found[2])


def matched(places: Iterable[str], known: Mapping[str, set[str]]) -> dict[str, set[str] | None]:
    """What clang says of each place of gcc's; of a call of several lines each has its own line."""
    lines: dict[str, list[int]] = {}
    for place in known:
        file, _, line = place.rpartition(":")
        lines.setdefault(file, []).append(int(line))
    found: dict[str, set[str] | None] = {}
    for place in places:
        file, _, line = place.rpartition(":")
        near: list[int] = []
        if line.isdecimal():
            near = [one for one in lines.get(file, ()) if abs(one - int(line)) <= _NEAR]
        if not near:
            found[place] = None
            continue
        least = min(abs(one - int(line)) for one in near)
        best = [one for one in near if abs(one - int(line)) == least]
        found[place] = set().union(*(known[f"{file}:{one}"] for one in best))
    return found


def stack_of(started: Iterable[str], top: Path) -> int:
    """What a thread has, by who started it."""
    sizes = [SIZES[one] for one in started if one in SIZES]
    return min((constant((top / file).read_text(), name) for file, name in sizes), default=ORDINARY)


def look_at(
    program: str,
    functions: Mapping[str, Function],
    known: Mapping[str, set[str]],
    taken: Iterable[str],
    given: Mapping[str, Iterable[tuple[str, str]]],
    top: Path,
) -> Stacks:
    """`known`, `taken` and `given`: what bounding.pointers says of the program."""
    places = matched({one for each in functions.values() for one in each.by_pointer}, known)
    first = ORDINARY
    if FILLS in functions:
        first, functions[FILLS].stack = functions[FILLS].stack, 0
    graph = Graph(functions, {key: value or set() for key, value in places.items()}, EXCUSED)

    def steps(names: Iterable[str]) -> tuple[Step, ...]:
        return tuple(Step(one, functions[one].place, functions[one].stack) for one in names)

    started: dict[str, set[str]] = {"main": set()}
    for starter in STARTERS:
        for caller, root in given.get(starter, ()):
            started.setdefault(root, set()).update((starter, caller))
    threads = []
    recursions = graph.recursions
    if not recursions:
        backs = [graph.deepest(name) for name in taken if name in functions]
        back = max(backs, key=lambda chain: chain.stack, default=None)
        for root in sorted(started.keys() & functions.keys()):
            has = first if root == "main" else stack_of(started[root], top)
            way = steps(graph.deepest(root).names)
            threads.append(Thread(root, has, way, steps(back.names if back else ())))
    called = {name for each in functions.values() for name in each.calls}
    return Stacks(
        program,
        len(functions),
        len(places),
        tuple(steps(way) for way in recursions),
        steps(name for name, each in sorted(functions.items()) if each.is_dynamic),
        tuple(sorted(place for place, value in places.items() if value is None)),
        tuple(sorted(place for place, value in places.items() if value == set())),
        tuple(sorted(graph.excused)),
        tuple(pair for pair in sorted(graph.excused) if EXCUSED[pair] in graph.reached(pair[1])),
        tuple(sorted(called - functions.keys())),
        tuple(threads),
    )
