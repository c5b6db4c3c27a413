# SPDX-License-Identifier: MIT
"""`./run bench engine` measures what it names."""

from pathlib import Path

from benches import results


def test_engine(tmp_path: Path) -> None:
    arguments = ["--repetitions=1", "--frames=2", "--words", "1000", "--layers", "2"]
    arguments.append("--seconds=1")
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
        "first_frame_drop_n2",
        "first_frame_drop_n2_private",
        "later_frame_drop_n2",
        "woken_frame_drop_n2",
        "fresh_frame_drop_n2",
        "fresh_frame_drop_n2_private",
        "import_further_slot_us",
        "compose_vs_gst_compositor",
    }
    for row in found["rows"][:2]:
        assert 10 < row["line_ns"] < 1e6, row
    assert found["rows"][2]["later_engine_cpu_us"] > 0
    by_compositor = found["rows"].pop()
    assert by_compositor["who"] == "gstreamer" and by_compositor["cpu_us"] > 0
    assert found["rows"][-1]["copies"] == 0
    for row in found["rows"]:
        times = [value for key, value in row.items() if key.endswith(("_us", "wall_ms"))]
        assert times and all(value > 0 for value in times), row
