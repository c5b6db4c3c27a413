# SPDX-License-Identifier: MIT
"""What gid-cluster needs to watch over a design: roles, pictures, their hashes."""

import contextlib
import hashlib
import itertools
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy

from .design import Design, Role, State
from .errors import DesignError
from .native import Monitor
from .renderers import REFERENCE, Layers, renderer
from .svg import Picture, channels, write_png

CONFIG, SUMMARY, DRAWING, SHOW = "monitor.conf", "monitor.json", "design.svg", "show.sh"

_ROWS_MAX = 32767  # that cairo can write, and gid-telltale read
_PIXELS_MAX = 1 << 26  # of each renderer

_SHOW = """#!/bin/sh
# Made by gid-monitor. Sends all pictures of all roles, one after the other, until it is ended:
# show.sh [MS], each for so long. For the domain that draws them.
cd "$(dirname "$0")" || exit
trap 'kill $programs 2>/dev/null' EXIT
trap exit INT TERM
"""


@dataclass(frozen=True)
class Limits:
    """What is the same for all roles. `tolerance`: of a colour, 0 to 255."""

    x: int = 0
    y: int = 0
    domain: str | None = None
    output: str | None = None
    deadline_ms: int = 200
    good_frames: int = 3
    tolerance: int = 2


@dataclass(frozen=True)
class Made:
    """Of a role: each state by each renderer, which have `versions`."""

    role: Role
    pictures: dict[str, dict[State, Picture]]
    versions: dict[str, str]

    def furthest(self, name: str) -> int:
        """How far a colour of the renderer's is from that of the reference, at most."""
        return max(
            _distance(self.pictures[name][state], picture)
            for state, picture in self.pictures[REFERENCE].items()
        )


def _check_size(role: Role) -> None:
    """Of the sheet with its pictures, and of the memory that they take."""
    rows = role.box.height * len(role.states)
    if rows > _ROWS_MAX or rows * role.box.width > _PIXELS_MAX:
        raise DesignError(
            f"role-{role.name}: it has {len(role.states)} pictures of {role.box.width}x"
            f"{role.box.height}, and all of them may have {_ROWS_MAX} rows and {_PIXELS_MAX >> 20} "
            "Mi pixels: have less lamps, or name the states that there are by data-states"
        )


def draw(design: Design, role: Role, names: Sequence[str], tolerance: int) -> Made:
    _check_size(role)
    layers = Layers(design, role)
    for part in role.parts:
        layers.middle(part)  # each can be seen
    renderers = [renderer(name, layers) for name in names]
    made = Made(
        role,
        {one.name: {state: one.draw(state) for state in role.states} for one in renderers},
        {one.name: one.version for one in renderers},
    )
    for name in names:
        if made.furthest(name) > tolerance:
            raise DesignError(
                f"role-{role.name}: {name} draws colours that are {made.furthest(name)} away from "
                f"those of {REFERENCE}, of 255: --tolerance is {tolerance}"
            )
    for one, other in itertools.combinations(role.states, 2):
        if _distance(*(made.pictures[REFERENCE][state] for state in (one, other))) <= 2 * tolerance:
            raise DesignError(
                f"role-{role.name}: {role.name_of(one)} and {role.name_of(other)} look the same, "
                f"with --tolerance {tolerance}"
            )
    return made


def notes(role: Role) -> list[str]:
    """What the monitor will not see."""
    dark = {part.lamp for part in role.parts if not part.is_lit}
    return [
        f"role-{role.name}: without unlit-{lamp}, a lamp {lamp} that is missing looks like one "
        "that is not lit"
        for lamp in role.lamps
        if lamp not in dark
    ]


def _distance(one: Picture, other: Picture) -> int:
    return int(numpy.abs(channels(one) - channels(other)).max())


def digest(picture: Picture) -> str:
    """As gid-cluster has it, of an opaque picture."""
    return hashlib.sha256(numpy.ascontiguousarray(picture).astype("<u4")).hexdigest()


def hashes(made: Made) -> str:
    """The file of `allowed=`: a picture that renderers draw alike is there once."""
    lines = ["# SHA-256 of every picture that may be shown; gid-monitor(1)"]
    for state in made.role.states:
        by: dict[str, list[str]] = {}
        for name, pictures in made.pictures.items():
            by.setdefault(digest(pictures[state]), []).append(name)
        lines += [
            f"{found} # {made.role.name_of(state)} by {', '.join(names)}"
            for found, names in by.items()
        ]
    return "\n".join(lines) + "\n"


def hashes_name(role: Role) -> str:
    return f"{role.name}.hashes"


def section(role: Role, limits: Limits) -> str:
    """Of the configuration of gid-cluster."""
    box = role.box
    values = {
        "domain": limits.domain,
        "output": limits.output,
        "x": box.x + limits.x,
        "y": box.y + limits.y,
        "width": box.width,
        "height": box.height,
        "deadline-ms": limits.deadline_ms,
        "good-frames": limits.good_frames,
        "allowed": hashes_name(role),
    }
    lines = [f"{key}={value}" for key, value in values.items() if value is not None]
    return "\n".join([f"[role {role.name}]", *lines, ""])


def write(path: Path, out: Path, names: Sequence[str], limits: Limits) -> list[str]:
    """Returns what is to be said about it. Nothing is written if anything is wrong."""
    design = Design(path)
    all_made = [draw(design, role, names, limits.tolerance) for role in design.roles]
    is_new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".new-", dir=out) as new:
            said = _write_all(design, Path(new), all_made, limits)
            for file in sorted(Path(new).iterdir()):
                file.replace(out / file.name)
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):
                out.rmdir()
        raise
    return [line.format(out=out) for line in said]


def _write_all(design: Design, out: Path, all_made: Sequence[Made], limits: Limits) -> list[str]:
    """What is to be said has {out} where the folder is."""
    (out / DRAWING).write_bytes(design.text)
    said = []
    for made in all_made:
        role = made.role
        sheet = f"{role.name}.png"
        (out / hashes_name(role)).write_text(hashes(made), encoding="utf-8")
        write_png(numpy.vstack(list(made.pictures[REFERENCE].values())), out / sheet)
        size = f"{role.box.width}x{role.box.height}"
        said += [f"{{out}}/{sheet}: {len(role.states)} pictures of {size}"]
        said += [f"note: {note}" for note in notes(role)]
    _check_config(out, design.roles, limits)
    _write_config(out, design.roles, limits)
    _write_show(out / SHOW, design.roles)
    _write_summary(out / SUMMARY, all_made, limits)
    return said


def _check_config(out: Path, roles: Sequence[Role], limits: Limits) -> None:
    """Whether gid-cluster takes it, but for outputs, which are described elsewhere: names and
    places are its own to judge, and what is wrong with them it says on standard error."""
    _write_config(out, roles, replace(limits, output=None))
    for role in roles:
        Monitor(out / CONFIG, role.name, 0)


def _write_config(out: Path, roles: Sequence[Role], limits: Limits) -> None:
    head = "# Made by gid-monitor: make it anew instead of changing it.\n"
    sections = [section(role, limits) for role in roles]
    (out / CONFIG).write_text("\n".join([head, *sections]), encoding="utf-8")


def _write_show(path: Path, roles: Sequence[Role]) -> None:
    lines = [
        f"gid-telltale --stream safety/{role.name} --sheet {role.name}.png --state 0 "
        f'--size {role.box.width}x{role.box.height} --cycle "${{1:-500}}" &\n'
        'programs="$programs $!"\n'
        for role in roles
    ]
    path.write_text(_SHOW + "".join(lines) + "wait\n", encoding="utf-8")
    path.chmod(0o755)


def _write_summary(path: Path, all_made: Sequence[Made], limits: Limits) -> None:
    roles = [
        {
            "name": made.role.name,
            "states": [made.role.name_of(state) for state in made.role.states],
            "furthest": {name: made.furthest(name) for name in made.pictures},
        }
        for made in all_made
    ]
    summary = {"renderers": all_made[0].versions, "tolerance": limits.tolerance, "roles": roles}
    path.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
