# SPDX-License-Identifier: MIT
"""Makes timeline logs of known content, line by line, in Weston's own form."""

import json

REFRESH = 16_666_667
MS = 1_000_000


def stamp(time):
    return f"[{time // 10**9}, {time % 10**9}]"


def output(number, name="DP-1"):
    return f'{{ "id":{number}, "type":"weston_output", "name":"{name}" }}\n'


def seat(number, name="seat0"):
    return f'{{ "id":{number}, "type":"weston_seat", "name":"{name}" }}\n'


def surface(number, label, main=None):
    more = f', "main_surface":{main}' if main is not None else ""
    label = "null" if label is None else f'"{label}"'
    return f'{{ "id":{number}, "type":"weston_surface", "desc":{label}{more} }}\n'


def point(time, name, *, ws=None, wo=None, vblank=None, gpu=None, seat=None, event=None):
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


def repaint(vblank, *, begin=-7 * MS, cost=2 * MS, commit=-12 * MS, late=0, wo=1, ws=2):
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


def start_loop(time, vblank, wo=1):
    return point(time, "core_repaint_enter_loop", wo=wo) + point(
        time + 9000, "core_repaint_finished", wo=wo, vblank=vblank
    )


def run(frames=20, start=100 * 10**9, late=(), name="DP-1"):
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


def rewritten(log, form):
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


def read(text, chunk=None):
    """The trace of a log, and its reader; `chunk`: fed in pieces of so many bytes."""
    from gid_timeline.reader import Reader
    from gid_timeline.trace import Trace

    data = text.encode() if isinstance(text, str) else text
    reader = Reader(Trace())
    step = chunk or max(len(data), 1)
    for begin in range(0, len(data), step):
        reader.feed(data[begin : begin + step])
    reader.close()
    return reader.trace, reader


def rows(table):
    """All rows of a table as dictionaries."""
    return [
        dict(zip(chunk, values, strict=True))
        for chunk in table.chunks()
        for values in zip(*(column.tolist() for column in chunk.values()), strict=True)
    ]
