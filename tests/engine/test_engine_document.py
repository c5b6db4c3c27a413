# SPDX-License-Identifier: MIT
"""docs/engine.md says what engine/language.h does, field by field."""

import re

import pytest
from lib.program import TOP

DOCUMENT = (TOP / "docs" / "engine.md").read_text()
HEADER = (TOP / "engine" / "language.h").read_text()
HEADING = re.compile(
    r"^### (\w+)(?: · opcode (\d+))? · (\d+) bytes(?: and more)?\n(.*?)(?=^##|\Z)", re.M | re.S
)
ROW = re.compile(r"^\| (\d+) \| ([^|]+) \| `(\w+)` \|", re.M)
SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i16": 2, "i32": 4, "char": 1, "head": 4}
SIZES |= {"rectangle": 8, "point": 4, "glyph": 12}

PARTS = {name: (opcode, int(size), text) for name, opcode, size, text in HEADING.findall(DOCUMENT)}


def size_of(kind: str) -> int:
    base, array, count = kind.rstrip("]").partition("[")
    return SIZES[base] * int(count or (0 if array else 1))


def rows(text: str) -> list[tuple[int, str, int]]:
    """(offset, name, size) of each field of the first table."""
    table = text[text.index("| offset") :].partition("\n\n")[0]
    return [(int(offset), name, size_of(kind)) for offset, kind, name in ROW.findall(table)]


def declared(name: str) -> list[tuple[int, str, int]]:
    """The fields of struct engine_NAME. Each is aligned by itself; the compiler checks sizes."""
    body = re.search(rf"^struct ENGINE_WIRE engine_{name} \{{\n(.*?)^\}};", HEADER, re.M | re.S)
    assert body is not None, name
    found, offset = [], 0
    for kind, fields in re.findall(r"^\t(?:struct engine_)?(\w+) ([\w, \[\]]+);", body[1], re.M):
        for field in fields.split(", "):
            field, array, count = field.rstrip("]").partition("[")
            count = {"ENGINE_REPORT_TEXT": "192"}.get(count, count)
            size = SIZES[re.sub(r"^(u?)int(\d+)_t$", lambda m: f"{m[1] or 'i'}{m[2]}", kind)]
            size *= int(count or (0 if array else 1))
            found.append((offset, field, size))
            offset += size
    return found


def test_every_opcode_is_described() -> None:
    known = re.findall(
        r"^\tENGINE_(\w+) = (\d+),", HEADER.partition("enum engine_operator")[0], re.M
    )
    assert known == [(name, opcode) for name, (opcode, _, _) in PARTS.items() if opcode]


@pytest.mark.parametrize("name", PARTS)
def test_fields(name: str) -> None:
    _, size, text = PARTS[name]
    described = rows(text)
    assert described == declared(name.lower())
    end = 0
    for offset, _, length in described:
        assert offset == end
        end += length
    assert end == size


def test_a_glyph() -> None:
    text = DOCUMENT[DOCUMENT.index("A glyph has 12 bytes") :]
    assert rows(text) == declared("glyph")
