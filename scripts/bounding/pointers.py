# SPDX-License-Identifier: MIT
"""Which functions a call by pointer may reach: followed through all files of a program.

clang's unoptimised form of each file says where each pointer is kept. All objects of one structure
are one here, member by member; an array is one element; each variable, parameter and result is one.
What is taken from memory of which nothing is known may be any function whose address is taken
anywhere. A function that is put there may come out of any pointer. Of all that, a call reaches the
functions of its own type, by the number that clang gives a type for -fsanitize=kcfi.

It does not see a pointer that is put into one structure and taken out of another one, by a cast or
a copy of bytes; nor one that is copied from unknown memory into unknown memory; nor one that a
library keeps and gives back.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from bounding.llvm import (
    VALUE,
    Body,
    Call,
    Module,
    elements,
    names_in,
    read_call,
    split_top,
    split_type,
)

ANY = "*"  # among the functions that a value may be: all whose address is taken
_UNKNOWN = "memory of which nothing is known"

_ASSIGNED = re.compile(r'^(%(?:[\w.$-]+|"[^"]*")) = (\w+) (.*)$')
_LOAD = re.compile(r"^(?:atomic )?(?:volatile )?ptr, ptr (.*)$")
_STORE = re.compile(r"^store (?:atomic )?(?:volatile )?ptr (.*)$")
_FLAGS = re.compile(r"^(?:(?:inbounds|nuw|nusw|inrange\([^)]*\)) )+")
_PLAIN_GEP = re.compile(r"^getelementptr (?:(?:inbounds|nuw|nusw) )*\((.*)\)$")
_METADATA = re.compile(r", (?:align \d+|![\w.]+ !\d+)|\s+(?:acquire|release|seq_cst|monotonic)\b")
_IN_CALL = re.compile(rf"\bcall\b.*?{VALUE}\(")


@dataclass
class _PointerCall:
    call: Call
    module: int
    function: str  # whose it is
    place: str
    reached: set[str] = field(default_factory=set)


class Pointers:
    """Of a whole program. `files`: each module, and its main file as gcc names it."""

    def __init__(self, files: Iterable[tuple[str, Module]]) -> None:
        self._modules = list(files)
        self.kinds: dict[str, int | None] = {}  # of each function that the program has
        self.taken: set[str] = set()
        # Of each function that is given others: who does so, and which.
        self.given: dict[str, set[tuple[str, str]]] = {}
        self._values: dict[str, set[str]] = {}
        self._flows: dict[str, set[str]] = {}
        self._pending: list[str] = []
        self._bodies: dict[str, tuple[int, Body]] = {}
        self._calls: list[_PointerCall] = []
        self._locals: dict[str, str] = {}  # of an address in the function that is read: the memory
        for index, (_, module) in enumerate(self._modules):
            for body in module.bodies.values():
                name = self._full(index, body.name)
                self.kinds[name] = body.kind
                self._bodies[name] = (index, body)
        for index, (_, module) in enumerate(self._modules):
            for name, (kind, value) in module.variables.items():
                self._initial(index, kind, value, self._memory_of(index, name))
            for body in module.bodies.values():
                self._read(index, body)
        self._solve()

    def by_place(self) -> dict[str, set[str]]:
        """Of each place of a call by pointer the functions that it may reach."""
        found: dict[str, set[str]] = {}
        for one in self._calls:
            found.setdefault(one.place, set()).update(one.reached)
        return found

    # --- names of what is followed ---

    def _full(self, index: int, name: str) -> str:
        """A function's name, as in calls.py."""
        file, module = self._modules[index]
        body = module.bodies.get(name)
        return f"{file}:{name}" if body is not None and body.is_internal else name

    def _is_function(self, index: int, name: str) -> bool:
        return self._full(index, name) in self.kinds

    def _member(self, struct: str, member: int) -> str:
        """Of structures without a name each file has its own numbers: they are all one."""
        kind = "anonymous" if ".anon" in struct else struct
        return f"{kind} {member}"

    def _first(self, index: int, kind: str, memory: str) -> str:
        """What lies at the start of memory of a type."""
        structs = self._modules[index][1].structs
        while True:
            if kind.startswith("%struct") and structs.get(kind):
                memory, kind = self._member(kind, 0), structs[kind][0]
            elif kind.startswith("["):
                kind = kind[1:-1].partition(" x ")[2]
            else:
                return memory

    def _memory_of(self, index: int, name: str) -> str:
        """Of a global. Two that files have for themselves are one if they have one name."""
        kind = self._modules[index][1].variables.get(name, ("", ""))[0]
        return self._first(index, kind, f"@{name}")

    # --- constraints ---

    def _add(self, node: str, functions: Iterable[str]) -> None:
        new = set(functions) - self._values.setdefault(node, set())
        if new:
            self._values[node] |= new
            self._pending.append(node)

    def _flow(self, source: str, target: str) -> None:
        if target not in self._flows.setdefault(source, set()):
            self._flows[source].add(target)
            self._add(target, self._values.get(source, ()))

    def _initial(self, index: int, kind: str, value: str, memory: str) -> None:
        """What a global begins with."""
        if value.startswith(("{", "<{")):
            for number, (inner, part) in enumerate(elements(value)):
                if kind.startswith("%struct"):
                    below = self._member(kind, number)
                else:
                    below = memory if kind.startswith("%union") else _UNKNOWN
                self._initial(index, inner, part, below)
        elif value.startswith("["):
            for inner, part in elements(value):
                self._initial(index, inner, part, memory)
        else:
            self._take(index, names_in(value), memory)

    def _take(self, index: int, names: Iterable[str], node: str) -> None:
        functions = {self._full(index, name) for name in names if self._is_function(index, name)}
        self.taken |= functions
        self._add(node, functions)

    def _local(self, function: str, value: str) -> str:
        return f"{function} {value}"

    def _into(self, index: int, function: str, value: str, node: str) -> None:
        """A value goes into what is followed as `node`."""
        if value.startswith("%"):
            self._flow(self._local(function, value), node)
        elif value.startswith("@"):
            self._take(index, names_in(value), node)

    def _where(self, index: int, address: str) -> str:
        """The memory at an address."""
        if inner := _PLAIN_GEP.match(address):
            return self._below(index, split_top(inner[1]))
        if address.startswith("@"):
            return self._memory_of(index, names_in(address)[0])
        return self._locals.get(address, _UNKNOWN)

    def _below(self, index: int, parts: list[str]) -> str:
        """Of an address that is reckoned from another one: a type, that one, and indices."""
        kind, base, *indices = parts
        memory = self._where(index, split_type(base)[1])
        structs = self._modules[index][1].structs
        for place, word in enumerate(indices):
            if place == 0:
                continue  # along an array of them
            if kind.startswith("%struct"):
                number = int(word.split(" ")[-1])
                if kind not in structs:
                    return _UNKNOWN
                memory, kind = self._member(kind, number), structs[kind][number]
            elif kind.startswith("["):
                kind = kind[1:-1].partition(" x ")[2]
            else:
                return _UNKNOWN
        if kind == "i8" and indices:
            return _UNKNOWN  # bytes of something
        return memory

    def _read(self, index: int, body: Body) -> None:
        function = self._full(index, body.name)
        self._locals = {}
        for number, parameter in enumerate(body.parameters):
            self._flow(f"{function} ({number})", self._local(function, parameter))
        for line in body.lines:
            if _IN_CALL.search(line) and (call := read_call(line)):
                self._read_call(index, function, call)
            elif store := _STORE.match(line):
                value, address, *_ = split_top(_METADATA.sub("", store[1]))
                memory = self._where(index, split_type(address)[1])
                self._into(index, function, value, memory)
            elif line.startswith("ret ptr "):
                value = _METADATA.sub("", line).removeprefix("ret ptr ")
                self._into(index, function, value, f"{function} ()")
            elif assigned := _ASSIGNED.match(line):
                self._assign(index, function, *assigned.groups())
            else:
                self._take(index, names_in(line), _UNKNOWN)

    def _assign(self, index: int, function: str, result: str, what: str, rest: str) -> None:
        rest = _METADATA.sub("", rest)
        node = self._local(function, result)
        if what == "alloca":
            kind = split_type(rest)[0].rstrip(",")
            self._locals[result] = self._first(index, kind, f"{node} at")
        elif what == "getelementptr":
            self._locals[result] = self._below(index, split_top(_FLAGS.sub("", rest)))
        elif what == "load":
            if load := _LOAD.match(rest):
                memory = self._where(index, load[1])
                self._flow(memory, node)
                if memory == _UNKNOWN:
                    self._add(node, {ANY})
        elif what == "phi" and rest.startswith("ptr "):
            for pair in split_top(rest.removeprefix("ptr ")):
                self._into(index, function, pair[1:-1].split(",")[0].strip(), node)
        elif what == "select":
            for part in split_top(rest)[1:]:
                kind, value = split_type(part)
                if kind == "ptr":
                    self._into(index, function, value, node)
        elif what != "icmp":  # which only compares
            self._take(index, names_in(rest), _UNKNOWN)

    def _read_call(self, index: int, function: str, call: Call) -> None:
        if call.callee.startswith("%"):
            place = self._modules[index][1].place_of(call.location) if call.location else ""
            self._calls.append(_PointerCall(call, index, function, place))
        name = names_in(call.callee)[0] if call.callee.startswith("@") else ""
        for argument in call.arguments:
            for one in names_in(argument):
                if self._is_function(index, one):
                    self.taken.add(self._full(index, one))
                    self.given.setdefault(name, set()).add((function, self._full(index, one)))
        if name.startswith(("llvm.memcpy", "llvm.memmove")):
            target, source, *_ = call.arguments
            self._flow(self._where(index, source), self._where(index, target))
        elif self._is_function(index, name):
            self._link(index, function, call, self._full(index, name))

    def _link(self, index: int, function: str, call: Call, callee: str) -> None:
        """What is given to a function of the program, and what comes back."""
        _, body = self._bodies[callee]
        for number, argument in enumerate(call.arguments):
            is_named = number < len(body.parameters) and body.parameters[number] != "..."
            node = f"{callee} ({number})" if is_named else _UNKNOWN
            self._into(index, function, argument, node)
        if call.result:
            self._flow(f"{callee} ()", self._local(function, call.result))

    # --- the answer ---

    def _spread(self) -> None:
        while self._pending:
            node = self._pending.pop()
            values = set(self._values[node])
            for target in self._flows.get(node, ()):
                self._add(target, values)

    def _solve(self) -> None:
        while True:
            self._spread()
            found = False
            for one in self._calls:
                values = set(self._values.get(self._local(one.function, one.call.callee), ()))
                if ANY in values:
                    values |= self.taken
                values |= self._values.get(_UNKNOWN, set())
                for name in values - one.reached - {ANY}:
                    if self.kinds[name] == one.call.kind:
                        one.reached.add(name)
                        self._link(one.module, one.function, one.call, name)
                        found = True
            if not found and not self._pending:
                return
