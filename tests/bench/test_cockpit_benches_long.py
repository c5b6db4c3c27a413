# SPDX-License-Identifier: MIT
"""The benchmarks of a cockpit (load, start, shown, together, drawing, bandwidth) count
what there is, and all of it: on a quiet machine, where it comes in time.
"""

import os
import shutil
from pathlib import Path

import pytest
from benches import results

pytestmark = pytest.mark.timeout(600)


def test_load_has_every_program_in_every_state(tmp_path: Path) -> None:
    result = results("load", tmp_path, "--seconds=1.5", "--film")
    cpu = {
        (row["state"], row["domain"], row["who"]): row
        for row in result["rows"]
        if row["what"] == "cpu"
    }
    idle = {(domain, who) for state, domain, who in cpu if state == "idle"}
    assert {
        ("open", "gidd"),
        ("open", "weston"),
        ("cluster", "gidd"),
        ("cluster", "display"),
    } < idle
    running = {(domain, who) for state, domain, who in cpu if state == "running"}
    assert running - idle == {
        *(("open", name) for name in ("telltale", "film", "view")),
        ("cluster", "meter"),
    }
    assert cpu["loaded", "open", "load"]["cpu_percent"] > 1
    drawn = cpu["running", "cluster", "meter"]["cpu_percent"]
    whole = cpu["running", "cluster", "all programs"]["cpu_percent"]
    assert 0 < drawn < whole
    memory = {row["who"]: row["pss_kib"] for row in result["rows"] if row["what"] == "memory"}
    assert memory["weston"] > memory["gidd"] > 100
    slabs = {row["domain"]: row for row in result["rows"] if row["what"] == "slabs"}
    assert slabs["open"]["slabs"] >= 2 and slabs["open"]["kib"] > 640 * 360 * 4 // 1024
    each = {row["who"]: row for row in result["rows"] if row["what"] == "slab"}
    assert each["python3"]["size"] == "640x360"
    assert each["gid-telltale"]["importers"] >= 1
    whole = sum(row["kib"] for row in result["rows"] if row["what"] == "slab")
    assert abs(whole - slabs["open"]["kib"]) <= len(each)
    (light,) = (row for row in result["rows"] if row["what"] == "latency")
    assert light["n"] > 3 and 0 < light["p50_ms"] <= light["p99_ms"] <= light["max_ms"]


def test_start_ends_with_a_light_and_a_film(tmp_path: Path) -> None:
    result = results("start", tmp_path, "--repetitions=1", "--film")
    times = result["ratios"]
    assert 0 < times["first_picture_s"] < 60 and 0 < times["light_s"] < 60
    assert 0 < times["light_after_open_s"] < times["film_after_open_s"] + 60
    assert {row["n"] for row in result["rows"]} == {1}


def test_shown_counts_the_whole_film(tmp_path: Path) -> None:
    options = ["--rate", "25", "--repetitions=1", "--seconds=1", "--display", "gid-cluster"]
    result = results("shown", tmp_path, *options)
    rows = {row["what"]: row for row in result["rows"] if row["what"] in ("film", "camera")}
    film = rows["film"]
    assert film["sent"] >= 100 and 0 < film["shown"] <= film["received"] <= film["sent"]
    assert film["shown"] + film["superseded"] + film["discarded"] <= film["sent"]
    assert rows["camera"]["sent"] == 60  # of the faster one, for a second
    name = "film_25_on_gid-cluster_shown_of_sent"
    assert result["ratios"][name] == pytest.approx(film["shown"] / film["sent"], abs=1e-4)
    assert result["ratios"]["decode_gid_vs_fakesink"] > 0
    decoded = [row for row in result["rows"] if row["what"] == "decode"]
    assert all(len(row["each"]) == row["n"] == 3 for row in decoded)


def test_each_flash_and_each_burst_is_found(tmp_path: Path) -> None:
    (row,) = results("together", tmp_path, "--seconds=4")["rows"]
    assert row["marks"] == row["flashes"] == 4 and row["n"] >= 3
    assert row["bursts"] >= 3 and row["gaps"] >= 0
    assert row["lag_ms_min"] <= row["lag_ms"] <= row["lag_ms_max"]
    assert abs(row["lag_ms"]) < 500 and row["to_light_ms"] > 0


@pytest.mark.skipif(shutil.which("glmark2-es2-wayland") is None, reason="there is no glmark2")
def test_drawing_takes_turns(tmp_path: Path) -> None:
    options = ["--repetitions=1", "--seconds=1", "--size=320x240", "--frames=100"]
    result = results("drawing", tmp_path, *options)
    *drawn, ratio, bare, ours = result["rows"]
    assert {row["who"]: row["n"] for row in drawn} == {"weston": 1, "gid": 1}
    assert all(row["frames_per_cpu_second"] > 0 for row in drawn)
    assert ratio["each"] == [result["ratios"]["frames_with_module_vs_without"]] and ratio["each"][0]
    assert bare["instructions"] > 10_000 and ours["instructions"] > 10_000
    assert result["ratios"]["frames_for_instructions_with_module_vs_without"] > 0.98


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the counter of copies is for x86_64")
def test_bandwidth_sees_each_copy(tmp_path: Path) -> None:
    """TCP has two for certain, each of the kernel's; shared memory has none."""
    result = results("bandwidth", tmp_path, "--frames=30")
    rows = {row["who"]: row for row in result["rows"]}
    assert rows["tcp"]["by_descriptors_per_frame"] == pytest.approx(2 * 1280 * 720 * 4, rel=0.01)
    assert rows["waypipe"]["copies_per_frame"] > 2
    assert rows["gid"]["copies_per_frame"] < 0.1 and rows["unixfd"]["copies_per_frame"] < 0.1
    assert rows["gid"]["mb_s"] < rows["tcp"]["mb_s"] < rows["waypipe"]["mb_s"]
