# SPDX-License-Identifier: MIT
"""The benchmark handoff runs, loses no frame and gives its results in the form of all benchmarks.

Whether the figures are good is not asserted: that takes a quiet machine.
"""

from pathlib import Path

import pytest
from benches import bench, module, results

pytestmark = pytest.mark.timeout(1000)
RATIOS = {
    "transport_cpu_1080p_vs_best_peer",
    "transport_cpu_1080p_fast_vs_best_peer",
    "transport_cpu_2160p_vs_720p",
    "bare_wake_1080p_vs_best_peer",
    "woken_source_1080p_vs_best_peer",
    "above_wake_fast_vs_best_peer",
    "read_all_1080p_vs_private",
    "latency_p50_vs_best_peer",
    "came_of_sent_worst",
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict:
    size = ["--format=BGRx", "--seconds=0.5", "--repetitions=1"]
    return results("handoff", tmp_path_factory.mktemp("handoff"), *size)


def test_form(result: dict) -> None:
    assert (
        set(result["ratios"]) <= RATIOS
    )  # noise can leave a difference, and so a ratio, undefined
    assert all(row["bench"] == "handoff" for row in result["rows"])
    assert {row["who"] for row in result["rows"]} - {"refused"} == {"gid", "unixfd", "shm", "limit"}
    assert result["machine"]["cores"] >= 1


@pytest.mark.parametrize("who", ["gid", "unixfd", "shm"])
def test_figures(result: dict, who: str) -> None:
    rows = [row for row in result["rows"] if row["who"] == who]
    assert {(row["size"], row["read_all"]) for row in rows} == {
        (size, read) for size in ("720p", "1080p", "2160p") for read in (False, True)
    }
    for row in rows:
        assert row["frames"] >= 15
        assert row["receiver_cpu_us"] > 0 and row["sender_cpu_us"] > 0
        assert 0 < row["latency_p50_us"] <= row["latency_p99_us"]


def test_bare_wakes(result: dict) -> None:
    found = {
        (row["what"], row["rate"])
        for row in result["rows"]
        if row["who"] == "limit" and "transport_cpu_us" in row
    }
    kinds = ("a bare wake-up", "waking a GStreamer source")
    assert found == {(kind, rate) for kind in kinds for rate in (60, 1000)}


def test_ratio_is_of_the_rows(result: dict) -> None:
    def reading(who: str, key: str) -> float:
        (row,) = [
            row
            for row in result["rows"]
            if row["who"] == who
            and row.get("size") == "1080p"
            and row.get("read_all", True)
            and key in row
        ]
        return row[key]

    expected = reading("gid", "receiver_cpu_us") / reading("limit", "read_cpu_us")
    assert result["ratios"]["read_all_1080p_vs_private"] == pytest.approx(expected, abs=0.001)


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
    monkeypatch.setattr(handoff.common, "tell_again", told.append)
    bench = handoff.Bench(Path(), 2)
    run = {"receive": {"frames": frames}, "send": {"frames": 2 * rate}}
    monkeypatch.setattr(bench, "_transport", lambda *words: run)
    case = handoff.Case("1080p", "BGRx", rate)
    if tries == 1:
        assert bench.transport("gid", case, False) == run and told == []
    else:
        with pytest.raises(handoff.common.BenchError, match="frames came, 3 times"):
            bench.transport("gid", case, False)
        assert len(told) == tries - 1


def test_one_that_crashed_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    handoff = module("handoff")
    bench, calls = handoff.Bench(Path(), 2), []

    def crash(*words: object) -> dict:
        calls.append(words)
        raise handoff.common.BenchError("signal 11")

    monkeypatch.setattr(bench, "_transport", crash)
    with pytest.raises(handoff.common.BenchError, match="signal 11"):
        bench.transport("gid", handoff.Case("1080p", "BGRx"), False)
    assert len(calls) == 1


def test_frames_that_are_lost_cost_what_others_cost() -> None:
    handoff = module("handoff")

    def run(came: int) -> dict:
        return {"send": {"frames": 100, "cpu_us": 30}, "receive": {"frames": came, "cpu_us": 7}}

    assert handoff.cost_of_one_that_came(run(100), 10) == 27
    assert handoff.cost_of_one_that_came(run(50), 10) == 47
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
