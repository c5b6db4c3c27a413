# SPDX-License-Identifier: MIT
"""docs/wire*.md say what libgid/wire*.h do, field by field; and so does the wire in Python."""

import math
import re
import struct
import subprocess
from functools import cache

import pytest
from lib import gidwire
from lib.program import BUILD, PATIENCE, TOP

DOCUMENT = "\n".join(page.read_text() for page in sorted((TOP / "docs").glob("wire*.md")))
HEADING = re.compile(r"^### (\w+) · type (\d+) · (\d+) bytes\n(.*?)(?=^##|\Z)", re.M | re.S)
ROW = re.compile(r"^\| (\d+) \| ([^|]+) \| `(\w+)` \|", re.M)
SIZES = {
    "u8": 1,
    "u16": 2,
    "u32": 4,
    "i32": 4,
    "u64": 8,
    "i64": 8,
    "char": 1,
    "layout": 56,
    "entry": 64,
    "more": 64,
    "showable": 16,
    "note": 256,
    "check": 32,
    "held": 100,
}
PLANES = "(u32 offset, u32 stride)[4]"


def size_of(kind: str) -> int:
    if kind == PLANES:
        return 32
    base, *counts = re.split(r"\]?\[|\]$", kind)
    return SIZES[base] * math.prod(int(count) for count in counts if count)


def rows(text: str) -> list[tuple[int, str, int]]:
    """(offset, name, size) of each field of the first table."""
    table = text[: text.find("\n\n", text.find("| offset"))] if "| offset" in text else ""
    return [(int(offset), name, size_of(kind)) for offset, kind, name in ROW.findall(table)]


def part(heading: str) -> str:
    return DOCUMENT[DOCUMENT.index(heading) :]


MESSAGES = {
    name: (int(type_), int(size), body) for name, type_, size, body in HEADING.findall(DOCUMENT)
}
OTHERS = {
    "header": (part("## Messages"), 16),
    "layout": (part("The layout has 56 bytes"), 56),
    "ring": (part("### The ring"), 26944),
    "frame": (part("### An entry"), 128),
    "check": (part("### A check"), 32),
    "page": (part("### The page"), 3680),
    "envelope": (part("### The envelope"), 16),
    "window": (part("### A window's first page"), 136),
    "bells": (part("### A doorbell device's memory"), 296),
}
INPUT = {
    "input_head": (part("### The head of a frame of input"), 256),
    "input_record": (part("### An event"), 32),
}
SAME = {"ACCEPT": "subscribed", "FREE": "allocated", "JOINED": "join", "UNIMPORT": "import"}
FIELD = re.compile(r"^/\* +(\d+) +\| +(\d+) \*/ {4}(?! )(?:.* )?\**(\w+)(?:\[\d+\])*;$", re.M)
NESTED = re.compile(
    r"^/\* +(\d+) +\| +(\d+) \*/ {4}struct [^\n]*\{\n.*?^ {31}\} (\w+)", re.M | re.S
)


@cache
def gdb_says(program: str) -> dict[str, str]:
    """What gdb says of each struct that the document describes: to load the program takes longer
    than to tell of all of them."""
    names = [f"gid_wire_{struct_of(name)}" for name in MESSAGES]
    names += [*(f"gid_wire_{name}" for name in OTHERS), *INPUT]
    command = ["gdb", "-nx", "-batch"]
    for name in names:
        command += ["-ex", f"echo \\n@ {name}\\n", "-ex", f"ptype /o struct {name}"]
    command.append(str(BUILD / program))
    out = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE).stdout
    told = (part.partition("\n") for part in out.split("\n@ ")[1:])
    return {name: text.strip() for name, _, text in told}


def struct_of(message: str) -> str:
    return SAME.get(message, message.lower())


def compiled(name: str, program: str = "libgid/libgid.so") -> list[tuple[int, str, int]]:
    """The fields of the struct as the compiler laid them out."""
    out = gdb_says(program)[name]
    if not out:
        pytest.skip("no debug information")
    found = [
        (int(offset), field, int(size))
        for pattern in (FIELD, NESTED)
        for offset, size, field in pattern.findall(out)
    ]
    return sorted(found)


def test_every_message_is_described() -> None:
    numbers = {type_ for type_, _, _ in MESSAGES.values()}
    assert numbers == set(gidwire.BODIES)
    for name, (type_, _, _) in MESSAGES.items():
        assert getattr(gidwire, name) == type_


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name: str) -> None:
    type_, size, text = MESSAGES[name]
    assert size == 16 + struct.calcsize("<" + gidwire.BODIES[type_])
    described = [(0, "header", 16), *rows(text)]
    assert described == compiled(f"gid_wire_{struct_of(name)}")
    end = 0
    for offset, _, length in described:
        assert offset == end
        end += length
    assert end == size


@pytest.mark.parametrize("name", OTHERS)
def test_other_structures(name: str) -> None:
    text, size = OTHERS[name]
    described = rows(text)
    assert described == compiled(f"gid_wire_{name}")
    assert described[-1][0] + described[-1][2] == size


@pytest.mark.parametrize("name", INPUT)
def test_input(name: str) -> None:
    text, size = INPUT[name]
    described = rows(text)
    assert described == compiled(name, "tests/lib/programs/input-peer")
    assert described[-1][0] + described[-1][2] == size


def test_sizes_of_shared_memory() -> None:
    assert (OTHERS["ring"][1], OTHERS["page"][1]) == (gidwire.RING_SIZE, gidwire.PAGE_SIZE)
