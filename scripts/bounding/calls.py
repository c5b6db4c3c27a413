# SPDX-License-Identifier: MIT
"""Functions with their stacks and calls, as gcc writes them (-fcallgraph-info=su,da), of a program.

One name for each function: the linker's, or of a static one FILE:NAME. Copies that gcc made of one
have its name and a number behind it: they are functions of their own here, as they are in the
program.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from circles import circles, shortest_circle

# By it gcc 16 calls a function of a library from within: the one that others call.
_ALIAS = ".localalias"
_NODE = re.compile(r'^node: \{ title: "([^"]*)" label: "([^"]*)"')
_EDGE = re.compile(r'^edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"(?: label: "([^"]*)")?')
_STACK = re.compile(r"^(\d+) bytes \((.*)\)$")

_BY_POINTER = "__indirect_call"


@dataclass
class Function:
    """`stack`: of one call, in bytes, with its return address. `by_pointer`: FILE:LINE of those."""

    name: str
    place: str = ""
    stack: int = 0
    is_dynamic: bool = False
    calls: set[str] = field(default_factory=set)
    by_pointer: set[str] = field(default_factory=set)


def plain(name: str) -> str:
    """Without the number that gcc gives a copy: FILE:NAME.part.0 is NAME of FILE."""
    file, colon, function = name.rpartition(":")
    return file + colon + function.partition(".")[0]


def normal(path: str, build: Path, top: Path) -> str:
    """A path as a compiler names it that runs in the build folder: from the top, if it is below."""
    whole = os.path.normpath(os.path.join(build, path))
    return os.path.relpath(whole, top) if whole.startswith(f"{top}{os.sep}") else whole


def read_ci(text: str, path_of: Callable[[str], str]) -> list[Function]:
    """The functions of one file. `path_of` makes a path of ours of one that gcc names."""

    def named(title: str) -> str:
        file, colon, function = title.removeprefix("*").rpartition(":")
        if function.endswith(_ALIAS):
            return function.removesuffix(_ALIAS)
        return path_of(file) + colon + function if colon else function

    def placed(place: str) -> str:
        file, line, _ = place.rsplit(":", 2)
        return f"{path_of(file)}:{line}"

    found: dict[str, Function] = {}
    for line in text.splitlines():
        if node := _NODE.match(line):
            _, *about = node[2].split("\\n")
            sizes = [size for word in about if (size := _STACK.match(word))]
            if sizes:  # others are only called
                name = named(node[1])
                # One that moves within a bound has its bound as its size.
                is_dynamic = sizes[0][2] == "dynamic"
                found[name] = Function(name, placed(about[0]), int(sizes[0][1]), is_dynamic)
        elif (edge := _EDGE.match(line)) and not edge[1].endswith(_ALIAS):
            caller = found[named(edge[1])]
            if edge[2] != _BY_POINTER:
                caller.calls.add(named(edge[2]))
            elif edge[3]:
                caller.by_pointer.add(placed(edge[3]))
            else:
                caller.by_pointer.add(f"{caller.place} (no line)")
    return list(found.values())


def join(files: Iterable[Iterable[Function]]) -> dict[str, Function]:
    """A program. Several functions of one name are one: the largest, that calls what any does."""
    program: dict[str, Function] = {}
    for function in (function for file in files for function in file):
        before = program.setdefault(function.name, function)
        before.stack = max(before.stack, function.stack)
        before.is_dynamic |= function.is_dynamic
        before.calls |= function.calls
        before.by_pointer |= function.by_pointer
    return program


@dataclass(frozen=True)
class Chain:
    """The deepest way down from a function: its bytes, and the names on it."""

    stack: int
    names: tuple[str, ...]


class Graph:
    """Who calls whom in a program. `pointers`: of a place the names that a call there may reach.

    `excused`: pairs of plain names, of which the first one calls the second one at most once on any
    way down, whatever a pointer may seem to reach.
    """

    def __init__(
        self,
        program: Mapping[str, Function],
        pointers: Mapping[str, Iterable[str]],
        excused: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.program = program
        excused = set(excused)
        copies: dict[str, list[str]] = {}
        for name in program:
            copies.setdefault(plain(name), []).append(name)
        self.calls: dict[str, set[str]] = {}
        self.once: dict[str, set[str]] = {}  # excused
        for function in program.values():
            reached = set(function.calls)
            for place in function.by_pointer:
                reached |= {one for name in pointers.get(place, ()) for one in copies.get(name, ())}
            once = {one for one in reached if (plain(function.name), plain(one)) in excused}
            self.once[function.name] = once
            self.calls[function.name] = (reached & program.keys()) - once
        self._deepest: dict[tuple[str, bool], Chain] = {}

    @property
    def excused(self) -> set[tuple[str, str]]:
        """Of those that were given, the calls that there are."""
        return {(plain(name), plain(one)) for name, once in self.once.items() for one in once}

    @property
    def recursions(self) -> list[list[str]]:
        """Each set of functions that call each other in a circle, as one way round."""
        alone = [[name] for name, calls in self.calls.items() if name in calls]
        knots = circles(self.calls)
        together = {name for knot in knots for name in knot}
        ways = [shortest_circle(self.calls, set(knot)) for knot in knots]
        return sorted(ways + [one for one in alone if one[0] not in together])

    def reached(self, name: str) -> set[str]:
        """What a function may call by any way, and itself."""
        found: set[str] = set()
        edge = {name}
        while edge:
            found |= edge
            edge = {one for each in edge for one in self.calls[each] | self.once[each]} - found
        return found

    def deepest(self, name: str) -> Chain:
        """Where nothing recurses."""
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 6 * len(self.program)))
        return self._down(name, True)

    def _down(self, name: str, may_once: bool) -> Chain:
        """`may_once`: no excused call is on the way so far."""
        key = (name, may_once)
        if key not in self._deepest:
            below = [self._down(other, may_once) for other in sorted(self.calls[name])]
            if may_once:
                below += [self._down(other, False) for other in sorted(self.once[name])]
            best = max(below, key=lambda chain: chain.stack, default=Chain(0, ()))
            mine = self.program[name].stack
            self._deepest[key] = Chain(mine + best.stack, (name, *best.names))
        return self._deepest[key]
