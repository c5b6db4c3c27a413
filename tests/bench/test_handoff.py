# SPDX-License-Identifier: MIT
"""The benchmark handoff runs, loses no frame and gives its results in the form of all benchmarks.

Whether the figures are good is not asserted: that takes a quiet machine.
"""

import sys

import pytest
from benches import bench, results
from program import TOP

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


def test_what_costs_no_more_than_waking_is_no_ratio() -> None:
    sys.path.insert(0, str(TOP / "bench"))
    import handoff

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
