# SPDX-License-Identifier: MIT
"""LLVM's text form, as far as it says where pointers to functions go: types, globals, functions."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def split_top(text: str) -> list[str]:
    """The parts between the commas that are in no brackets and in no string."""
    parts, depth, start, quoted = [], 0, 0, False
    for at, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def closed(text: str, start: int) -> int:
    """Where the bracket at `start` is closed."""
    depth, quoted = 0, False
    for at in range(start, len(text)):
        if text[at] == '"':
            quoted = not quoted
        elif not quoted and text[at] in "([{<":
            depth += 1
        elif not quoted and text[at] in ")]}>":
            depth -= 1
            if depth == 0:
                return at
    return len(text)


def split_type(text: str) -> tuple[str, str]:
    """A type, and what stands behind it."""
    if text[:1] in _PAIRS:
        end = closed(text, 0) + 1
    else:
        end = re.match(r'%"[^"]*"|[^\s,]+|$', text).end()  # type: ignore[union-attr]
    return text[:end], text[end:].strip()


NAME = r'@(?:[\w.$-]+|"[^"]*")'
VALUE = rf'(?:%(?:[\w.$-]+|"[^"]*")|{NAME})'
_NAMES = re.compile(NAME)


def names_in(text: str) -> list[str]:
    """The globals that are named, without @ and quotes."""
    return [name[1:].strip('"') for name in _NAMES.findall(text)]


@dataclass
class Body:
    """A function that the file has. `lines`: its instructions, but for those of debuggers."""

    name: str
    is_internal: bool
    parameters: tuple[str, ...]
    kind: int | None  # of its type: two have the same number if and only if they are of one type
    lines: list[str] = field(default_factory=list)


@dataclass
class Module:
    """One file."""

    structs: dict[str, list[str]]  # of each type with a name the types of its members
    variables: dict[str, tuple[str, str]]  # of each global its type and what it begins with
    bodies: dict[str, Body]
    declared: set[str]  # functions of other files
    place_of: Callable[[str], str]  # of the number of a location: FILE:LINE


_STRUCT = re.compile(r'^(%(?:[\w.$-]+|"[^"]*")) = type (<?\{.*\}>?)$')
_VARIABLE = re.compile(rf"^({NAME}) = .*?\b(?:global|constant) (.*)$")
_FUNCTION = re.compile(rf"^(define|declare) .*?({NAME})\(")
_KIND = re.compile(r"!kcfi_type !(\d+)")
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+),.*?scope: !(\d+)")
_SCOPE = re.compile(r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock|LexicalBlockFile)\(.*?")
_FILE_OF = re.compile(r"\bfile: !(\d+)")
_FILE = re.compile(r'^!(\d+) = !DIFile\(filename: "([^"]*)"')
_NUMBER = re.compile(r"^!(\d+) = !\{i32 (-?\d+)\}")


def read(text: str, path_of: Callable[[str], str]) -> Module:
    structs: dict[str, list[str]] = {}
    variables: dict[str, tuple[str, str]] = {}
    bodies: dict[str, Body] = {}
    kinds: dict[str, str] = {}  # of a function the number of what says its type
    declared: set[str] = set()
    lines_of: dict[str, tuple[str, str]] = {}  # of a location its line and its scope
    files: dict[str, str] = {}
    scopes: dict[str, str] = {}
    numbers: dict[str, int] = {}
    body: Body | None = None
    for line in text.splitlines():
        if body is not None:
            if line == "}":
                body = None
            elif line.startswith("  ") and not line.startswith("    #dbg_"):
                body.lines.append(line.strip())
        elif line.startswith("%"):
            if struct := _STRUCT.match(line):
                structs[struct[1]] = split_top(struct[2].strip("<>")[1:-1])
        elif line.startswith("@"):
            if variable := _VARIABLE.match(line):
                kind, rest = split_type(variable[2])
                value, *_ = [*split_top(rest), ""]  # without its alignment
                variables[names_in(variable[1])[0]] = (kind, value)
        elif line.startswith("!"):
            if location := _LOCATION.match(line):
                lines_of[location[1]] = (location[2], location[3])
            elif (scope := _SCOPE.match(line)) and (file := _FILE_OF.search(line)):
                scopes[scope[1]] = file[1]
            elif named := _FILE.match(line):
                files[named[1]] = named[2]
            elif number := _NUMBER.match(line):
                numbers[number[1]] = int(number[2]) & 0xFFFFFFFF
        elif function := _FUNCTION.match(line):
            name = names_in(function[2])[0]
            if kind := _KIND.search(line):
                kinds[name] = kind[1]
            if function[1] == "declare":
                declared.add(name)
                continue
            inside = line[function.end() : closed(line, function.end() - 1)]
            parameters = tuple(part.split(" ")[-1] for part in split_top(inside))
            is_internal = re.match(r"define (?:internal|private)\b", line) is not None
            body = bodies[name] = Body(name, is_internal, parameters, None)
    for name, one in bodies.items():
        one.kind = numbers.get(kinds.get(name, ""))

    def place_of(number: str) -> str:
        line, scope = lines_of[number]
        return f"{path_of(files[scopes[scope]])}:{line}"

    return Module(structs, variables, bodies, declared, place_of)


_CALL = re.compile(rf"\bcall\b.*?({VALUE})\(")
_BUNDLE = re.compile(r'"kcfi"\(i32 (-?\d+)\)')
_DEBUG = re.compile(r"!dbg !(\d+)")
_RESULT = re.compile(r'^(%(?:[\w.$-]+|"[^"]*")) = ')


@dataclass(frozen=True)
class Call:
    """`callee`: a function with @, or a value that has its address and, by `kind`, its type."""

    result: str
    callee: str
    arguments: tuple[str, ...]
    kind: int | None
    location: str


def read_call(line: str) -> Call | None:
    """Of an instruction that is one, and no assembler's."""
    call = _CALL.search(line)
    if call is None or " asm " in line[: call.start(1)]:
        return None
    end = closed(line, call.end() - 1)
    arguments = tuple(part.split(" ")[-1] for part in split_top(line[call.end() : end]))
    result, kind, location = _RESULT.match(line), _BUNDLE.search(line), _DEBUG.search(line)
    return Call(
        result[1] if result else "",
        call[1],
        arguments,
        int(kind[1]) & 0xFFFFFFFF if kind else None,
        location[1] if location else "",
    )


def elements(text: str) -> Iterator[tuple[str, str]]:
    """Types and values of a constant's parts: of a structure, or of an array."""
    for part in split_top(text.strip("<>")[1:-1]):
        yield split_type(part)
