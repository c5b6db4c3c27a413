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
