# SPDX-License-Identifier: MIT
"""Makes timeline logs of known content, line by line, in Weston's own form."""

import json
from collections.abc import Container

from gid_timeline.reader import Reader
from gid_timeline.table import Table
from gid_timeline.trace import Trace

REFRESH = 16_666_667
MS = 1_000_000


def stamp(time: int) -> str:
    return f"[{time // 10**9}, {time % 10**9}]"


def output(number: int, name: str = "DP-1") -> str:
    return f'{{ "id":{number}, "type":"weston_output", "name":"{name}" }}\n'


def seat(number: int, name: str = "seat0") -> str:
    return f'{{ "id":{number}, "type":"weston_seat", "name":"{name}" }}\n'


def surface(number: int, label: str | None, main: int | None = None) -> str:
    more = f', "main_surface":{main}' if main is not None else ""
    label = "null" if label is None else f'"{label}"'
    return f'{{ "id":{number}, "type":"weston_surface", "desc":{label}{more} }}\n'


def point(
    time: int,
    name: str,
    *,
    ws: int | None = None,
    wo: int | None = None,
    vblank: int | None = None,
    gpu: int | None = None,
    seat: int | None = None,
    event: int | None = None,
) -> str:
    parts = [f'"T":{stamp(time)}, "N":"{name}"']
    if gpu is not None:
        parts.append(f'"gpu":{stamp(gpu)}')
    if ws is not None:
        parts.append(f'"ws":{ws}')
    if wo is not None:
        parts.append(f'"wo":{wo}')
    if vblank is not None:
        parts.append(f'"vblank_monotonic":{stamp(vblank)}')
    if seat is not None:
        parts.append(f'"seat":{seat}, "event ts":{stamp(event)}')
    return "{ " + ", ".join(parts) + " }\n"


def repaint(
    vblank: int,
    *,
    begin: int = -7 * MS,
    cost: int = 2 * MS,
    commit: int = -12 * MS,
    late: int = 0,
    wo: int = 1,
    ws: int = 2,
) -> str:
    """The lines of one frame that is due at `vblank`; times are relative to that."""
    start = vblank + begin
    shown = vblank + late * REFRESH
    return (
        point(vblank + commit, "core_commit_damage", ws=ws)
        + point(vblank + commit + 5000, "core_repaint_req", wo=wo)
        + point(start, "core_repaint_begin", wo=wo)
        + point(start + 50_000, "core_flush_damage", ws=ws, wo=wo)
        + point(start + cost, "core_repaint_posted", wo=wo)
        + point(max(shown, start + cost) + 20_000, "core_repaint_finished", wo=wo, vblank=shown)
    )


def start_loop(time: int, vblank: int, wo: int = 1) -> str:
    return point(time, "core_repaint_enter_loop", wo=wo) + point(
        time + 9000, "core_repaint_finished", wo=wo, vblank=vblank
    )


def run(
    frames: int = 20, start: int = 100 * 10**9, late: Container[int] = (), name: str = "DP-1"
) -> str:
    """A whole run at 60 Hz; the frames with numbers in `late` are one refresh late."""
    text = output(1, name) + surface(2, "film")
    text += start_loop(start - 15 * MS, start - REFRESH)
    vblank = start
    for number in range(frames):
        is_late = number in late
        text += repaint(vblank, late=is_late)
        vblank += REFRESH * (1 + is_late)
    return text + point(vblank + MS, "core_repaint_exit_loop", wo=1)


# How JSON tools write what they have read.
FORMS = {
    "jq -c": lambda found: json.dumps(found, separators=(",", ":"), ensure_ascii=False),
    "json.dumps": json.dumps,
    "another order": lambda found: json.dumps(found, sort_keys=True),
    "jq": lambda found: json.dumps(found, indent=2),
    "no indent": lambda found: json.dumps(found, indent=0),
    "in a list": lambda found: f"  {json.dumps(found)},",
}


def rewritten(log: bytes, form: str) -> bytes:
    """The log, with each line that is a point or a declaration as a JSON tool writes it."""
    lines = []
    for line in log.splitlines(keepends=True):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and found.keys() & {"N", "type"}:
            line = FORMS[form](found).encode() + b"\n"
        lines.append(line)
    return b"".join(lines)


def read(text: str | bytes, chunk: int | None = None) -> tuple[Trace, Reader]:
    """The trace of a log, and its reader; `chunk`: fed in pieces of so many bytes."""
    data = text.encode() if isinstance(text, str) else text
    reader = Reader(Trace())
    step = chunk or max(len(data), 1)
    for begin in range(0, len(data), step):
        reader.feed(data[begin : begin + step])
    reader.close()
    return reader.trace, reader


def rows(table: Table) -> list[dict]:
    """All rows of a table as dictionaries."""
    return [
        dict(zip(chunk, values, strict=True))
        for chunk in table.chunks()
        for values in zip(*(column.tolist() for column in chunk.values()), strict=True)
    ]
