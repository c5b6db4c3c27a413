# SPDX-License-Identifier: MIT
"""The trace keeps to the Trace Event Format, and says what the log says."""

import json
import random
from collections import defaultdict
from pathlib import Path

import logs
import pytest
from gid_timeline.cli import main
from logs import MS, point

PHASES = set("XiCMstfbe")


def trace_of(tmp_path: Path, log: str | bytes) -> list[dict]:
    (tmp_path / "tl.log").write_bytes(log if isinstance(log, bytes) else log.encode())
    out = tmp_path / "out.json"
    assert main(["perfetto", str(tmp_path / "tl.log"), "-o", str(out)]) == 0
    document = json.loads(out.read_bytes())
    check(document)
    return document["traceEvents"]


def check(document: dict) -> None:
    """What the format asks of events, one by one and together."""
    slices, flows, spans = defaultdict(list), defaultdict(list), defaultdict(list)
    for event in document["traceEvents"]:
        assert event["ph"] in PHASES
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        if event["ph"] == "M":
            assert set(event["args"]) <= {"name", "sort_index"}
            continue
        assert isinstance(event["ts"], int | float) and event["ts"] >= 0
        track = event["pid"], event.get("tid")
        if event["ph"] == "X":
            assert event["dur"] >= 0
            slices[track].append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] in "stf":
            flows[event["cat"], event["id"]].append((event["ph"], event["ts"], track))
        elif event["ph"] in "be":
            spans[event["cat"], event["id"], event["name"]].append((event["ph"], event["ts"]))
        elif event["ph"] == "i":
            assert event["s"] in "gpt"
        elif event["ph"] == "C":
            assert all(isinstance(value, int | float) for value in event["args"].values())
    for parts in slices.values():
        parts.sort()
        for (_, end), (start, _) in zip(parts, parts[1:], strict=False):
            assert start >= end - 0.01  # µs are no whole numbers of ns
    for parts in flows.values():
        assert [phase for phase, _, _ in parts] == ["s", "t", "f"]
        assert sorted(time for _, time, _ in parts) == [time for _, time, _ in parts]
        for _, time, track in parts:
            assert any(start <= time <= end + 0.01 for start, end in slices[track])
    for parts in spans.values():
        assert [phase for phase, _ in parts] == ["b", "e"]
        assert parts[0][1] <= parts[1][1]


def test_a_run(tmp_path: Path) -> None:
    events = trace_of(tmp_path, logs.run(frames=50, late={9}))
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert names.count("repaint") == names.count("posted → shown") == names.count("damaged") == 50
    assert all(e["dur"] == 2000 for e in events if e["name"] == "repaint")
    (late,) = [event for event in events if event["ph"] == "i"]
    assert late["args"] == {"refreshes missed": 1}
    assert sum(event["ph"] == "f" for event in events) == 50
    labels = {event["args"].get("name") for event in events if event["ph"] == "M"}
    assert {"output DP-1", "repaint", "film", "surfaces"} <= labels


def test_gpu_and_several_runs(tmp_path: Path) -> None:
    time = 100 * 10**9
    log = logs.run(frames=5) + point(time + 10**9, "renderer_gpu_begin", gpu=time, wo=1)
    log += point(time + 10**9, "renderer_gpu_end", gpu=time + MS, wo=1)
    log += logs.run(frames=5, start=300 * 10**9)
    events = trace_of(tmp_path, log)
    (gpu,) = [event for event in events if event["name"] == "GPU"]
    assert gpu["dur"] == 1000
    processes = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert {"run 1, output DP-1", "run 2, output DP-1", "run 2, surfaces"} <= processes


@pytest.mark.parametrize("seed", range(20))
def test_damaged_logs_still_give_a_right_trace(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    lines = (logs.run(frames=10, late={3}) + logs.run(frames=5, name="HDMI")).splitlines()
    for _ in range(rng.randrange(1, 30)):
        lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
    trace_of(tmp_path, "\n".join(lines))


def test_a_log_without_frames(tmp_path: Path) -> None:
    assert trace_of(tmp_path, logs.seat(1)) == []
