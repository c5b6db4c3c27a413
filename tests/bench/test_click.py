# SPDX-License-Identifier: MIT
"""From a click to its pixel: that each way works, and what is made of the figures."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from benches import bench, module, results

from lab.domains.program import LabError

WAYS = ("direct", "gidway", "gidway-lent", "waypipe")


@pytest.mark.parametrize(
    "changes",
    [("button",), pytest.param(("button", "whole"), marks=pytest.mark.at_length)],
    ids=" ".join,
)
def test_each_way(tmp_path: Path, changes: tuple[str, ...]) -> None:
    """No click is lost, and what stands between takes time of a processor."""
    words = ["--clicks=5", "--rounds=1", "--sizes=720p", "--changes", *changes]
    result = results("click", tmp_path, *words, "--ways", *WAYS)
    rows = result["rows"]
    assert {(row["who"], row["what"]) for row in rows} == {
        (way, f"720p {change}") for way in WAYS for change in changes
    }
    for row in rows:
        assert row["clicks"] == 5 and row["lost"] == 0, row
        assert row["p99_ms"] >= row["p50_ms"] >= 0 and row["cpu_ms"] > 0, row
    assert set(result["ratios"]) == {
        "click_p50_refreshes",
        "click_p50_vs_best_peer",
        "click_cpu_vs_best_peer",
    }


def test_stages(tmp_path: Path) -> None:
    """Each of a click's, in their order, and a picture that is drawn once on each side."""
    words = ["--clicks=5", "--rounds=1", "--sizes=720p", "--changes=button", "--ways=gidway"]
    rows = [row for row in results("click", tmp_path, *words, "--stages")["rows"] if "stage" in row]
    assert [row["stage"] for row in rows][0] == "the viewer's seat has it"
    assert [row["stage"] for row in rows][-1] == "light"
    times = [row["since_press_ms"] for row in rows]
    assert times == sorted(times) and times[0] > 0


def test_stages_follow_each_other() -> None:
    """Of points that come too soon, or are of another stream, none counts."""
    stages = module("click_stages")
    points = [(5, "gid_submit", "input/desk"), (10, "gid_receive", "desk")]
    points += [
        (20 + number, stage.point, stage.stream) for number, stage in enumerate(stages.STAGES)
    ]
    times = stages.way_of(10, 10_000_010, points)
    assert times == [
        *(pytest.approx((10 + number) / 1e6) for number in range(len(stages.STAGES))),
        pytest.approx(10),
    ]
    assert len(stages.way_of(10, 20, points[:4])) < len(stages.STAGES)


def test_who_only_starts_the_program_counts() -> None:
    """As waypipe does, whose words name what it starts."""
    click = module("click")
    with (
        subprocess.Popen([sys.executable, "-c", "input()", "x.py"], stdin=subprocess.PIPE) as one,
        subprocess.Popen(["sh", "-c", "read a", "x.py"], stdin=subprocess.PIPE) as other,
    ):
        assert not click.is_script(one.pid, "x.py")
        assert not click.is_script(other.pid, "x.py")
        one.communicate(b"\n")
        other.communicate(b"\n")


def test_what_is_not_here_is_named() -> None:
    ways = module("click_ways")
    assert ways.why_not("direct") is None
    ways.NEEDS["telepathy"] = ((("no-such-program",),), ("telepathy-utils",))
    assert "no-such-program" in ways.why_not("telepathy")
    assert "./run shell --with telepathy-utils" in ways.why_not("telepathy")


def test_the_worst_is_told() -> None:
    """Of all that is changed, and beside the peer that is best there, which direct is not."""

    def row(who: str, what: str, p50: float, cpu: float) -> dict:
        return {"who": who, "what": what, "p50_ms": p50, "cpu_ms": cpu}

    ratios = module("click").ratios_of(
        [
            row("direct", "a", 1, 1),
            row("gidway", "a", 50, 2),
            row("waypipe", "a", 100, 20),
            row("wayvnc", "a", 25, 40),
            row("gidway", "b", 20, 9),
            row("waypipe", "b", 20, 18),
        ]
    )
    assert ratios == {
        "click_p50_refreshes": pytest.approx(3),
        "click_p50_vs_best_peer": pytest.approx(2),
        "click_cpu_vs_best_peer": pytest.approx(0.5),
    }


def test_all_is_stopped_where_one_part_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    click, stopped = module("click"), []

    def fail() -> None:
        raise LabError("it does not end")

    scene = SimpleNamespace(
        desk=SimpleNamespace(stop_others=fail),
        viewer=SimpleNamespace(stop_others=lambda: stopped.append("viewer")),
        parts=SimpleNamespace(close=lambda: stopped.append("parts")),
    )
    monkeypatch.setattr(click, "kiosk", lambda *_: None)
    with pytest.raises(LabError), click.scene_of(lambda *_: scene, (1, 1), "button"):
        pass
    assert stopped == ["viewer", "parts"]


def test_what_was_measured_is_told_and_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though the next way breaks."""
    click, file = module("click"), tmp_path / "click.json"

    def measure(_make: object, way: str, *_: object) -> object:
        if way != "direct":
            raise LabError("it broke")
        assert capsys.readouterr().out == ""
        return click.Run([(0, 7_000_000)], 0, {"open/gidd": 0.5})

    monkeypatch.setattr(click, "measure", measure)
    monkeypatch.setattr(click, "domains", lambda *_: contextlib.nullcontext((None, None)))
    monkeypatch.setattr(click, "there", lambda ways, _: ways)
    words = ["--rounds=1", "--sizes=720p", "--changes=button", "--ways", "direct", "gidway"]
    monkeypatch.setattr(sys, "argv", ["click", f"--json={file}", *words])
    with pytest.raises(LabError, match="it broke"):
        click.main()
    assert "720p button        direct     this time p50    7.0 ms" in capsys.readouterr().out
    assert [row["who"] for row in json.loads(file.read_text())["rows"]] == ["direct"]


def test_ways_are_known() -> None:
    assert bench("click", "--ways", "telepathy").returncode == 2
