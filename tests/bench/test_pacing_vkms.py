# SPDX-License-Identifier: MIT
"""The benchmark pacing runs on a display with a real vblank, in a guest, by either compositor.

Whether the figures are good is not asserted: that takes a quiet machine.
"""

from pathlib import Path

import pytest
from benches import results
from gid_vm.own_kernel import why_no_kernel

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module", autouse=True)
def vkms() -> None:
    if (why := why_no_kernel(["vkms"])) is not None:
        pytest.skip(why)


@pytest.mark.parametrize("compositor", ["weston", "gid-cluster"])
def test_form(tmp_path: Path, compositor: str) -> None:
    options = ("--display=vkms", f"--compositor={compositor}", "--rounds=1", "--seconds=4")
    result = results("pacing", tmp_path, *options, "30@60")
    off, on = result["rows"]
    assert (off["who"], on["who"]) == ("off", "on")
    for row in (off, on):
        assert row["frames"] > 0
        assert 0 < row["p50_ms"] <= row["p99_ms"]
    assert on["judged"] > 0
    ratios = {
        "commit_to_scanout_p50_on_vs_off": on["p50_ms"] / off["p50_ms"],
        "misses_on": on["late"] / on["judged"],
    }
    if compositor == "weston":  # gid-view tells when a frame was captured
        to_light = on["capture_p50_ms"] / off["capture_p50_ms"]
        ratios["capture_to_light_p50_on_vs_off_30@60"] = to_light
    assert result["ratios"] == pytest.approx(ratios)


def test_display_clock(tmp_path: Path) -> None:
    options = ("--display=vkms", "--compositor=gid-cluster", "--compare=display-clock")
    result = results("pacing", tmp_path, *options, "--rounds=1", "--seconds=4", "60@60")
    off, on = result["rows"]
    assert 0 < off["p50_ms"] and 0 < on["p50_ms"]
    assert on["frames"] > 0 and off["frames"] > 0
    assert result["ratios"] == {
        "capture_to_scanout_p50_clock_on_vs_off": pytest.approx(on["p50_ms"] / off["p50_ms"]),
        "capture_to_scanout_p50_lower_refreshes": pytest.approx(
            (off["p50_ms"] - on["p50_ms"]) * 60 / 1000
        ),
    }
