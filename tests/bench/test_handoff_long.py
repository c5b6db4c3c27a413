# SPDX-License-Identifier: MIT
"""The benchmark handoff runs, and gives its results in the form of all benchmarks.

Where a machine is busy too few frames come in its half seconds.
"""

import pytest
from benches import results

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
