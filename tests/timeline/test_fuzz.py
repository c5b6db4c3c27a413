# SPDX-License-Identifier: MIT
"""Damaged logs never stop the reader or the report: seeded, so that a failure can be repeated.

GIDWAY_FUZZ_TRIES, GIDWAY_FUZZ_SECONDS and GIDWAY_FUZZ_SEED make the guided one try for longer, and
other logs.
"""

import os
import random
from pathlib import Path

import gid_timeline
import logs
import pytest
from gid_timeline import html, json_csv, reader, report, text
from gid_timeline.follow import Follower
from gid_timeline.reader import Loaded
from gid_timeline.terminal import Paint
from gid_timeline.trace import Trace
from lib.guided import Failure, Fuzzer
from lib.length import at_length_but
from logs import point, read, rows
from test_join import gid_line

TRIES = int(os.environ.get("GIDWAY_FUZZ_TRIES", 100))
SECONDS = float(os.environ.get("GIDWAY_FUZZ_SECONDS", 0))
SEED = int(os.environ.get("GIDWAY_FUZZ_SEED", 1))
PACKAGE = Path(gid_timeline.__file__).parent
RECORDED = Path(__file__).with_name("recorded.log")  # of Weston 14, gidsink and gid-view, a film

_TIME = 100 * 10**9
_WAY = [("submit", 1, "movie"), ("receive", 2, "movie"), ("commit", 2, None), ("shown", 2, None)]
_WAY += [("freed", 1, None)]
_SEED_LOG = (
    logs.run(frames=6, late={3})
    + '{ "id":4, "type":"weston_seat", "name":"default" }\n'
    + point(_TIME + 10**9, "event ts", seat=4, event=_TIME)
    + point(_TIME + 10**9, "renderer_gpu_begin", gpu=_TIME, wo=1)
    + point(_TIME + 10**9, "renderer_gpu_end", gpu=_TIME + 10**6, wo=1)
    + "".join(
        gid_line(_TIME + i * 10**6, name, 4 + i // 5, f"1:42.{i // 5}#7", domain, stream)
        for i, (name, domain, stream) in enumerate(_WAY * 3)
    )
    + logs.run(frames=4, start=300 * 10**9, name="HDMI-A-1")
).encode()
# A line of what looks like many, as labels can have it, and one of which each part is a line.
_GLUED = b'{ "T":[' * 500 + b"\n" + point(_TIME, "core_repaint_begin", wo=1).encode()[:-1] * 60
_GLUED += b'\n{ "id":1, "type":"weston_surface", "desc":"a\nb\n\n' + b"{\n" * 90
_PIECES = [b"{\n", b"\n}\n", b'{"T": [', b'"desc": "']
_PIECES += [
    b'"',
    b"\\",
    b"{ ",
    b" }",
    b"\n",
    b"[",
    b"],",
    b"-1",
    b"9" * 30,
    b"\xff",
    b"\0",
    b"null",
]


def mutate(rng: random.Random, data: bytes) -> bytes:
    data = bytearray(data)
    for _ in range(rng.randrange(1, 12)):
        if not data:
            break
        at = rng.randrange(len(data))
        end = at + rng.randrange(1, 80)
        match rng.randrange(6):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = data[rng.randrange(len(data)) :][: end - at]
            case 3:
                data[at:at] = rng.choice(_PIECES)
            case 4:
                data[at:end] = rng.choice(_PIECES)
            case 5:
                lines = data.splitlines(keepends=True)
                rng.shuffle(lines)
                data = bytearray(b"".join(lines))
    return bytes(data)


@pytest.mark.parametrize("seed", at_length_but(range(20), 0, 1))
def test_mutated_logs(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        log = mutate(rng, _SEED_LOG)
        trace, reader = read(log, chunk=rng.choice([None, 1, 33, 4096]))
        report_all(trace, reader, rng)


def report_all(trace: Trace, reader: reader.Reader, rng: random.Random) -> None:
    loaded = Loaded(trace, reader.lines, reader.other, reader.broken)
    built = report.build(loaded, "fuzz", {"": 60.0} if rng.random() < 0.5 else {})
    text.render(built, Paint(None))
    text.processing(built, Paint(None))
    json_csv.to_json(built)
    list(json_csv.figures_csv(built))
    list(json_csv.frames_csv(built))
    list(json_csv.frames_of_streams_csv(built.streams))
    if rng.random() < 0.2:
        html.render(built)


def follow(log: bytes) -> None:
    follower = Follower({})
    follower.feed(log)
    follower.lines(Paint(None))


@pytest.mark.parametrize("seed", at_length_but(range(10), 0, 1, 2))
def test_rubbish(seed: int) -> None:
    rng = random.Random(seed)
    read(rng.randbytes(100_000), chunk=1000)


def test_damage_to_one_line_costs_no_other() -> None:
    """Every line but the damaged one is still read: at most two frames and a run are lost."""
    rng = random.Random(1)
    whole = len(read(_SEED_LOG)[0].frames)
    lines = _SEED_LOG.splitlines(keepends=True)
    for _ in range(300):
        damaged = list(lines)
        number = rng.randrange(len(lines))
        damaged[number] = mutate(rng, damaged[number][:-1]).replace(b"\n", b" ") + b"\n"
        trace, _ = read(b"".join(damaged))
        assert whole - 2 <= len(trace.frames) <= whole + 2, damaged[number]


# --- guided by the branches that an input takes ---


def mutate_lines(rng: random.Random, log: bytes, other: bytes) -> bytes:
    """Bytes as above, or whole lines, also of another log, and numbers."""
    if rng.random() < 0.4:
        return mutate(rng, log)[:20_000]
    lines, others = log.splitlines(keepends=True), other.splitlines(keepends=True)
    for _ in range(rng.randrange(1, 6)):
        if not lines or not others:
            break
        at = rng.randrange(len(lines))
        match rng.randrange(5):
            case 0:
                lines.insert(at, rng.choice(others))
            case 1:
                del lines[at : at + rng.randrange(1, 6)]
            case 2:
                begin = rng.randrange(len(others))
                lines[at:at] = others[begin : begin + rng.randrange(1, 12)]
            case 3:
                end = rng.randrange(len(lines))
                lines[at], lines[end] = lines[end], lines[at]
            case 4:
                number = rng.choice([b"0", b"1", b"2", b"4", b"300", b"4294967295", b"-1", b""])
                digits = [i for i, byte in enumerate(lines[at]) if 48 <= byte < 58]
                if digits:
                    place = rng.choice(digits)
                    lines[at] = lines[at][:place] + number + lines[at][place + 1 :]
    return b"".join(lines)[:20_000]


def everything(trace: Trace, read: reader.Reader) -> tuple:
    """What a log was read as."""
    tables = (trace.frames, trace.updates, trace.gpu, trace.gid.points)
    return (
        [rows(table) for table in tables],
        [(output.name, output.run, output.loops, output.exits) for output in trace.outputs],
        [(surface.label, surface.run, surface.commits) for surface in trace.surfaces],
        [(run.first, run.last, run.seats, run.input_events) for run in trace.runs],
        (trace.unknown_names, read.lines, read.other, read.broken),
    )


def read_all_ways(log: bytes) -> None:
    """However it comes in pieces, and with no line known beforehand, it is the same log."""
    rng = random.Random(len(log))
    trace, whole = read(log)
    found = everything(trace, whole)
    assert everything(*read(log, chunk=rng.choice([1, 7, 100]))) == found
    known, reader._KNOWN_MAX = reader._KNOWN_MAX, 0
    try:
        assert everything(*read(log)) == found
    finally:
        reader._KNOWN_MAX = known
    report_all(trace, whole, rng)
    rewritten = logs.rewritten(log, rng.choice(list(logs.FORMS)))
    assert everything(*read(rewritten, chunk=100)) == everything(*read(rewritten))


@pytest.mark.timeout(600 + TRIES + SECONDS)
def test_guided() -> None:
    fuzzer = Fuzzer(read_all_ways, mutate_lines, [PACKAGE], SEED)
    tools = [logs.rewritten(_SEED_LOG, form) for form in logs.FORMS]
    fuzzer.run([_SEED_LOG, RECORDED.read_bytes(), *tools, _GLUED], 2)
    first = len(fuzzer.branches)
    fuzzer.run([], TRIES, SECONDS)
    print(
        f"seed {SEED}: {fuzzer.tries} logs, {first} branches taken by the first ones, "
        f"{len(fuzzer.branches)} by the {len(fuzzer.corpus)} that were kept"
    )
    assert len(fuzzer.branches) > first


def test_guided_finds_what_blind_tries_do_not() -> None:
    """A planted mistake, behind four steps that each have a branch of their own."""

    def planted(log: bytes) -> None:
        at = log.find(b'"desc":"')
        if at >= 0 and log[at + 8 : at + 9] == b"~":
            if log[at + 9 : at + 10] == b"{":
                if log[at + 10 : at + 11] == b"]":
                    raise ValueError("planted")

    def change_one_byte(rng: random.Random, log: bytes, other: bytes) -> bytes:
        at = log.find(b'"desc":"') + 8 + rng.randrange(3)
        return log[:at] + bytes([rng.randrange(32, 127)]) + log[at + 1 :]

    start = b'{ "id":2, "type":"weston_surface", "desc":"film" }'
    fuzzer = Fuzzer(planted, change_one_byte, [Path(__file__)])
    with pytest.raises(Failure) as failure:
        fuzzer.run([start], 20_000)
    assert b'"desc":"~{]' in failure.value.data
    assert isinstance(failure.value.__cause__, ValueError)


def test_guided_finds_a_mistake_in_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted one: pieces of a log are put together without what was left of the last one."""
    feed = reader.Reader.feed

    def forgetful(self: reader.Reader, piece: bytes) -> None:
        feed(self, piece)
        if len(self._rest) > 30:
            self._rest = self._rest[1:]

    monkeypatch.setattr(reader.Reader, "feed", forgetful)
    with pytest.raises(Failure):
        Fuzzer(read_all_ways, mutate_lines, [PACKAGE]).run([_SEED_LOG], 50)
