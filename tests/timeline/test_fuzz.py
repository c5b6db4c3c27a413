# SPDX-License-Identifier: MIT
"""Damaged logs never stop the reader or the report: seeded, so that a failure can be repeated."""

import random

import logs
import pytest
from gid_timeline import data, html, report, text
from gid_timeline.terminal import Paint
from logs import point, read
from test_join import gid_line

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
_PIECES = [b'"', b"\\", b"{ ", b" }", b"\n", b"[", b"],", b"-1", b"9" * 30, b"\xff", b"\0", b"null"]


def mutate(rng, data):
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


@pytest.mark.parametrize("seed", range(40))
def test_mutated_logs(seed):
    rng = random.Random(seed)
    for _ in range(25):
        log = mutate(rng, _SEED_LOG)
        trace, reader = read(log, chunk=rng.choice([None, 1, 33, 4096]))
        built = report.build(trace, reader, "fuzz", {"": 60.0} if rng.random() < 0.5 else {})
        text.render(built, Paint(None))
        text.processing(built, Paint(None))
        data.to_json(built)
        list(data.figures_csv(built))
        list(data.frames_csv(built))
        list(data.frames_of_streams_csv(built.streams))
        if rng.random() < 0.2:
            html.render(built)


@pytest.mark.parametrize("seed", range(10))
def test_rubbish(seed):
    rng = random.Random(seed)
    read(rng.randbytes(100_000), chunk=1000)


def test_damage_to_one_line_costs_no_other():
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
