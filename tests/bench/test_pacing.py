# SPDX-License-Identifier: MIT
"""The benchmark pacing runs, and gives its results in the form of all benchmarks.

Whether the figures are good is not asserted: that takes a quiet machine.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest
from benches import bench, module, results


def test_pacing_is_compared_with_the_same_producer() -> None:
    """What moves the commit is no gain of the window, and is asked for by its name."""
    pacing = module("pacing")

    case = pacing.Case("film", 60)

    def ways(compare: str) -> list[str]:
        options = SimpleNamespace(compare=compare, display="vkms")
        return [pacing.way_to_play(case, setting, options) for setting in ("off", "on")]

    assert ways("pacing") == ["", ""]
    assert ways("display-sync") == ["", "display-sync=true"]


@pytest.mark.parametrize("display", ["headless", "vkms"])
def test_a_live_source_is_judged_from_capture_to_light(display: str) -> None:
    """A commit that comes later is no gain to who looks at a camera's picture."""
    pacing = module("pacing")
    case = pacing.Case("30", 60)
    options = SimpleNamespace(compare="pacing", display=display, cases=[case])
    off = {"p50_ms": 15.0, "capture_p50_ms": 20.0}
    on = {"p50_ms": 5.0, "capture_p50_ms": 19.0, "late": 1, "judged": 1000}
    found = pacing.ratios_of(case, off, on, options)
    assert found["capture_to_light_p50_on_vs_off_30@60"] == 0.95
    film = pacing.ratios_of(pacing.Case("film", 60), off, on, options)
    assert not any("capture" in name for name in film)


def test_a_live_source_has_its_way_to_light(tmp_path: Path) -> None:
    result = results("pacing", tmp_path, "30@60", "--rounds=1", "--seconds=1")
    off, on = result["rows"]
    ratio = on["capture_p50_ms"] / off["capture_p50_ms"]
    assert result["ratios"]["capture_to_light_p50_on_vs_off_30@60"] == pytest.approx(ratio)
    assert min(off["capture_p50_ms"], on["capture_p50_ms"]) > 0


@pytest.mark.at_length
def test_form(tmp_path: Path) -> None:
    result = results("pacing", tmp_path, "film@60", "--rounds=1", "--seconds=4")
    off, on = result["rows"]
    assert (off["who"], on["who"]) == ("off", "on")
    for row in (off, on):
        assert row["bench"] == "pacing" and row["case"] == "film@60"
        assert row["frames"] > 0
        assert 0 < row["p50_ms"] <= row["p99_ms"]
    ratio = on["p50_ms"] / off["p50_ms"]
    assert result["ratios"] == {"commit_to_shown_p50_film@60": pytest.approx(ratio)}


@pytest.mark.at_length
def test_length_in_refreshes(tmp_path: Path) -> None:
    """Of an output with 30 refreshes a second: no frame is shown more often."""
    options = ("60@30", "--rounds=1", "--refreshes=90", "--seconds=600")
    for row in results("pacing", tmp_path, *options)["rows"]:
        assert 0 < row["frames"] <= 5 * 90  # it runs on a little, until gid-view has ended


def test_longer_than_a_guest() -> None:
    run = bench("pacing", "--display=vkms", "--refreshes=50000")
    assert run.returncode == 2
    assert "more than the life of a guest" in run.stderr


@pytest.mark.parametrize("case", ["60", "fast@60"])
def test_unknown_case(case: str) -> None:
    run = bench("pacing", case)
    assert run.returncode == 2
    assert "must be like film@60" in run.stderr
