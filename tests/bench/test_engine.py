# SPDX-License-Identifier: MIT
"""`./run bench engine` measures what it names."""

from pathlib import Path

from benches import module, results


def test_what_the_engine_takes_of_a_processor_counts() -> None:
    """The paper's figure is all time of one processor: a wall beside two processors flatters."""
    engine = module("engine")

    row = {"clip": "quarter", "words": 100, "ratio": 1.3, "drawn_ratio": 2.4}
    # By the clock it took longer: something else ran meanwhile, which is no merit of the engine.
    row |= {"direct_ms": 4.8, "direct_cpu_ms": 1.6, "cpu_ms": 2.2, "engine_cpu_ms": 2.6}
    found = engine.ratios([row])
    assert found.pop("points_100_vs_function") == 2.4
    assert found == {"points_100_vs_direct": 1.3, "points_100_cpu_vs_direct": 3.0}
    found = engine.ratios([row], one_processor=True)
    assert found == {"points_100_one_processor_vs_direct": 3.0}
    assert "helpers=0\n" in engine.engine_text(0, spin_us=1, slots=3, realtime="off")
    assert "helpers" not in engine.engine_text(None, spin_us=1, slots=3, realtime="off")


def test_passes_are_told_by_how_far_apart_the_processors_were() -> None:
    engine = module("engine")

    passes = [[50, 1.9], [110, 1.0], [120, 1.2], [130, 1.6], [500, 1.25], [9e6, 4.0]]
    near = {"line": "near", "passes": 3, "quarters": [1.0, 1.2, 1.6], "above": 1}
    found = engine.by_distance(passes)
    assert [(one["line"], one["passes"], one["above"]) for one in found] == [
        ("two threads of one core", 1, 1),
        ("near", 3, 1),
        ("far", 1, 0),
        ("one processor for both", 1, 1),
    ]
    assert found[1] == near
    assert engine.by_distance([]) == []


def test_engine(tmp_path: Path) -> None:
    arguments = ["--repetitions=1", "--frames=2", "--words", "1000", "--layers", "2"]
    arguments += ["--seconds=1", "--ordinary"]
    found = results("engine", tmp_path, *arguments)
    measured = [row["what"] for row in found["rows"]]
    assert measured == [
        "points 1000 whole",
        "points 1000 quarter",
        "layers 2",
        "imports",
        "compose 4x720p60",
        "compose 4x720p60",
    ]
    assert set(found["ratios"]) == {
        "points_1000_vs_direct",
        "points_1000_vs_function",
        "points_1000_cpu_vs_direct",
        "first_frame_drop_n2",
        "first_frame_drop_n2_private",
        "first_frame_cpu_vs_private_n2",
        "later_frame_drop_n2",
        "later_frame_cpu_vs_direct_n2",
        "woken_frame_drop_n2",
        "fresh_frame_drop_n2",
        "fresh_frame_drop_n2_private",
        "fresh_frame_cpu_vs_private_n2",
        "export_us",
        "import_first_slot_us",
        "import_further_slot_us",
        "compose_vs_gst_compositor",
    }
    for row in found["rows"][:2]:
        assert 10 < row["line_ns"] < 1e6, row
        assert row["drawn_ms"] > 0 and row["drawn_ratio"] > 0, row
        assert len(row["passes"]) == 11 and all(line > 0 for line, _ in row["passes"])
    layers = found["rows"][2]
    assert layers["later_engine_cpu_us"] > 0
    # Each of the two layers has 8 MB, in pages of 4 KiB.
    assert layers["fresh_private_faults"] > 2 * 2025 and layers["first_private_tables_kb"] > 0
    both = layers["later_engine_cpu_us"] + layers["later_cpu_us"]
    assert abs(layers["later_cpu_ratio"] / (both / layers["later_direct_cpu_us"]) - 1) < 0.01
    by_compositor = found["rows"].pop()
    assert by_compositor["who"] == "gstreamer" and by_compositor["cpu_us"] > 0
    assert found["rows"][-1]["copies"] == 0
    for row in found["rows"]:
        times = [value for key, value in row.items() if key.endswith(("_us", "wall_ms"))]
        assert times and all(value > 0 for value in times), row


def test_one_processor_draws_points_alone(tmp_path: Path) -> None:
    arguments = ["--one-processor", "--repetitions=1", "--words", "1000"]
    found = results("engine", tmp_path, *arguments)
    assert [row["what"] for row in found["rows"]] == ["points 1000 whole", "points 1000 quarter"]
    (aim,) = found["aims"]
    assert aim["name"] == "points_1000_one_processor_vs_direct" and aim["goal"] == "≤ 1.6"
    assert aim["value"] == found["ratios"][aim["name"]] > 0
    for row in found["rows"]:
        assert 0 < row["direct_cpu_ms"] <= row["direct_ms"] * 1.05, row
