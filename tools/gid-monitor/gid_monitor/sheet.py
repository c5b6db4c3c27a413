# SPDX-License-Identifier: MIT
"""Telltales that were exported as PNGs, with a table of where each lies. gid-monitor(1) has both.

They become an SVG with the PNGs in it: what is done with a drawing is done with them.
"""

import base64
import configparser
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import DesignError
from .svg import png_size

SUFFIX = ".ini"  # of the table

_BYTES_MAX = 4 << 20  # of a PNG: librsvg reads a drawing only up to a length
_PLACED = re.compile(r"(?P<file>.*\S)\s+at\s+(?P<x>[0-9]{1,5}),(?P<y>[0-9]{1,5})")
_ROLE = "role "
_NUMBER = re.compile(r"[0-9]{1,5}")
_LAMPS = ("lamp-", "unlit-")
_OTHERS = ("x", "y", "base", "states")


@dataclass(frozen=True)
class _Picture:
    """Where it lies in its role, from the corner of the base."""

    name: str
    data: bytes
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class _Role:
    name: str
    x: int
    y: int
    states: str | None
    base: _Picture
    lamps: tuple[_Picture, ...]  # as they are in the table: the first one below


def as_svg(path: Path) -> bytes:
    """Of the table. What it means is looked at later, as that of any drawing."""
    parser = configparser.ConfigParser(
        interpolation=None, default_section="", delimiters=("=",), comment_prefixes=("#",)
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=path.name)
    except configparser.Error as error:
        raise DesignError(" ".join(str(error).split())) from None
    roles = [_role(path.parent, parser[section]) for section in parser.sections()]
    width = max((role.x + role.base.width for role in roles), default=1)
    height = max((role.y + role.base.height for role in roles), default=1)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
    lines = [head, *(line for role in roles for line in _group(role)), "</svg>", ""]
    return "\n".join(lines).encode()


def _role(folder: Path, section: configparser.SectionProxy) -> _Role:
    if not section.name.startswith(_ROLE):
        raise DesignError(f"[{section.name}] is not [role NAME]")
    name = section.name.removeprefix(_ROLE).strip()
    try:
        for key in section:
            if key not in _OTHERS and not key.startswith(_LAMPS):
                raise DesignError(f"{key} is none of {' '.join(_OTHERS)} lamp-NAME unlit-NAME")
        base = _picture(folder, section, "base")
        lamps = tuple(_picture(folder, section, key) for key in section if key.startswith(_LAMPS))
        for one in lamps:
            if one.x + one.width > base.width or one.y + one.height > base.height:
                raise DesignError(
                    f"{one.name}: {one.width}x{one.height} pixels at {one.x},{one.y} leave the "
                    f"base, of {base.width}x{base.height}"
                )
        x, y = (_number(section, key) for key in "xy")
    except DesignError as error:
        raise DesignError(f"{_ROLE}{name}: {error}") from None
    return _Role(name, x, y, section.get("states"), base, lamps)


def _number(section: configparser.SectionProxy, key: str) -> int:
    value = section.get(key, "0")
    if not _NUMBER.fullmatch(value):
        raise DesignError(f"{key}={value[:80]} is no place in pixels")
    return int(value)


def _picture(folder: Path, section: configparser.SectionProxy, key: str) -> _Picture:
    value = section.get(key, "")
    placed = _PLACED.fullmatch(value) if key != "base" else None
    path = folder / (placed["file"] if placed else value)
    if not value or not path.is_file():
        raise DesignError(f"{key}={value[:80]}: there is no such file")
    x, y = (int(placed["x"]), int(placed["y"])) if placed else (0, 0)
    width, height = png_size(path)
    data = path.read_bytes()
    if len(data) > _BYTES_MAX:
        raise DesignError(f"{path}: it has more than {_BYTES_MAX >> 20} MiB")
    return _Picture(key, data, x, y, width, height)


def _group(role: _Role) -> Iterator[str]:
    from xml.sax.saxutils import quoteattr  # with it comes what fetches pages: a third of a start

    states = f" data-states={quoteattr(role.states)}" if role.states is not None else ""
    place = f'x="{role.x}" y="{role.y}" width="{role.base.width}" height="{role.base.height}"'
    yield f"<g id={quoteattr(f'role-{role.name}')}{states}>"
    yield f'<rect {place} fill="none"/>'
    yield f"<image {place} href={_link(role.base)}/>"
    for one in role.lamps:
        yield (
            f'<image id={quoteattr(one.name)} x="{role.x + one.x}" y="{role.y + one.y}" '
            f'width="{one.width}" height="{one.height}" href={_link(one)}/>'
        )
    yield "</g>"


def _link(picture: _Picture) -> str:
    return f'"data:image/png;base64,{base64.b64encode(picture.data).decode()}"'
