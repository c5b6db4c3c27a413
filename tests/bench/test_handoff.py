# SPDX-License-Identifier: MIT
"""What the benchmark handoff makes of its runs, and that it refuses those that show nothing."""

import argparse
import os
from pathlib import Path

import pytest
from benches import bench, module
from lib.cockpit import Cockpit
from lib.pipeline import gst_env, make_registry
from lib.program import BUILD

from lab.domains.program import LabError

pytestmark = pytest.mark.timeout(1000)


class Told:
    """Runs with the figures that a test says."""

    def eventfd(self) -> dict:
        return {"p50_us": 5.0, "p99_us": 9.0}

    def generator(self, case: object) -> dict:
        return {"cpu_us": 10.0}

    def private(self, case: object) -> dict:
        return {"cpu_us": 400.0}

    def wake(self, who: str, case: object) -> dict:
        return {"cpu_us": 30.0}

    def transport(self, who: str, case: object, read_all: bool) -> dict:
        cost = {"gid": 40.0, "unixfd": 80.0, "shm": 160.0}[who]
        receive = {"cpu_us": cost + 380 * read_all, "p50_us": cost, "p99_us": 2 * cost}
        receive |= {"frames": 100, "lost": 0}
        return {"send": {"frames": 100, "cpu_us": 10 + cost}, "receive": receive}


def test_ratios_are_of_the_rows() -> None:
    handoff = module("handoff")
    options = argparse.Namespace(size=list(handoff.SIZES), format=["BGRx"], repetitions=2)
    rows = handoff.measure(Told(), options)
    for who in ("gid", "unixfd", "shm"):
        sizes = {(row["size"], row["read_all"]) for row in rows if row["who"] == who}
        assert sizes == {(size, read) for size in handoff.SIZES for read in (False, True)}
    wakes = {(row["what"], row["rate"]) for row in rows if "what" in row and "rate" in row}
    kinds = ("a bare wake-up", "waking a GStreamer source", "reading private memory")
    assert {what for what, _ in wakes} == set(kinds)
    assert handoff.ratios(rows) == {
        "transport_cpu_1080p_vs_best_peer": 0.5,
        "transport_cpu_1080p_fast_vs_best_peer": 0.5,
        "transport_cpu_2160p_vs_720p": 1.0,
        "bare_wake_1080p_vs_best_peer": 0.125,
        "woken_source_1080p_vs_best_peer": 0.125,
        "above_wake_fast_vs_best_peer": pytest.approx(60 / 140, abs=0.001),
        "read_all_1080p_vs_private": 1.05,
        "latency_p50_vs_best_peer": 0.5,
        "came_of_sent_worst": 1.0,
    }


def test_frames_cross(cockpit: Cockpit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they cost: each transport, with time to get going."""
    handoff = module("handoff")
    for key, value in gst_env(cockpit.env("open"), make_registry()).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("PATH", f"{BUILD / 'bench' / 'handoff'}:{os.environ['PATH']}")
    real = handoff.Bench(tmp_path, 4.0)
    for who in handoff.TRANSPORTS:
        run = real._transport(who, handoff.Case("720p", "BGRx"), False, 5.0)
        assert 0 < run["receive"]["frames"] and 0 < run["send"]["frames"]


def test_unknown_size() -> None:
    run = bench("handoff", "--size=480p")
    assert run.returncode == 2
    assert "480p" in run.stderr


@pytest.mark.parametrize(("rate", "frames", "tries"), [(60, 120, 1), (1000, 400, 3), (60, 20, 3)])
def test_one_that_does_not_get_going_is_told(
    monkeypatch: pytest.MonkeyPatch, rate: int, frames: int, tries: int
) -> None:
    """Half of the frames of its own rate: 97 of 100 of those of 1000 a second could be lost."""
    handoff = module("handoff")
    told: list[str] = []
    monkeypatch.setattr(handoff.common, "report_retry", told.append)
    bench = handoff.Bench(Path(), 2)
    run = {"receive": {"frames": frames}, "send": {"frames": 2 * rate}}
    monkeypatch.setattr(bench, "_transport", lambda *words: run)
    case = handoff.Case("1080p", "BGRx", rate)
    if tries == 1:
        assert bench.transport("gid", case, False) == run and told == []
    else:
        with pytest.raises(LabError, match="frames came, 3 times"):
            bench.transport("gid", case, False)
        assert len(told) == tries - 1


def test_one_that_crashed_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    handoff = module("handoff")
    bench, calls = handoff.Bench(Path(), 2), []

    def crash(*words: object) -> dict:
        calls.append(words)
        raise LabError("signal 11")

    monkeypatch.setattr(bench, "_transport", crash)
    with pytest.raises(LabError, match="signal 11"):
        bench.transport("gid", handoff.Case("1080p", "BGRx"), False)
    assert len(calls) == 1


def test_frames_that_are_lost_cost_what_others_cost() -> None:
    handoff = module("handoff")

    def run(came: int) -> dict:
        return {"send": {"frames": 100, "cpu_us": 30}, "receive": {"frames": came, "cpu_us": 7}}

    assert handoff.cost_of_one_received(run(100), 10) == 27
    assert handoff.cost_of_one_received(run(50), 10) == 47
    rows = [{"who": "gid", "came_of_sent": 0.5}, {"who": "shm", "came_of_sent": 0.1}]
    assert handoff.ratios(rows) == {"came_of_sent_worst": 0.5}


def test_what_costs_no_more_than_waking_is_no_ratio() -> None:
    handoff = module("handoff")

    def row(who: str, cost: float, **more: object) -> dict:
        base = {"size": "1080p", "format": "BGRx", "rate": 1000, "transport_cpu_us": cost}
        return {"who": who, **base, **more}

    wake = row("limit", 20.0, what="waking a GStreamer source")
    peers = [row("unixfd", 50.0, read_all=False), row("shm", 90.0, read_all=False)]
    rows = [wake, row("gid", 29.0, read_all=False), *peers]
    assert handoff.ratios(rows)["above_wake_fast_vs_best_peer"] == 0.3
    assert handoff.refusals(rows) == []
    rows[1]["transport_cpu_us"] = 19.0
    assert "above_wake_fast_vs_best_peer" not in handoff.ratios(rows)
    (refused,) = handoff.refusals(rows)
    assert refused["why"] == "gid takes 19.0 µs a frame, and waking a source alone 20.0 µs"
