# SPDX-License-Identifier: MIT
"""The benchmark pacing runs on a display with a real vblank, in a guest, by either compositor.

Whether the figures are good is not asserted: that takes a quiet machine.
"""

from pathlib import Path

import pytest
from benches import results
from gid_vm.guest import why_not
from gid_vm.initramfs import CannotBoot, find_kernel
from gid_vm.modules import module_files

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(900),
]


@pytest.mark.parametrize("compositor", ["weston", "gid-cluster"])
def test_form(tmp_path: Path, compositor: str) -> None:
    try:
        module_files(find_kernel()[1].parent, ["vkms"])
    except CannotBoot as error:
        pytest.skip(str(error))
    options = ("--display=vkms", f"--compositor={compositor}", "--rounds=1", "--seconds=4")
    result = results("pacing", tmp_path, *options, "30@60")
    off, on = result["rows"]
    assert (off["who"], on["who"]) == ("off", "on")
    for row in (off, on):
        assert row["frames"] > 0
        assert 0 < row["p50_ms"] <= row["p99_ms"]
    assert on["judged"] > 0
    assert result["ratios"] == {
        "commit_to_scanout_p50_on_vs_off": pytest.approx(on["p50_ms"] / off["p50_ms"]),
        "misses_on": pytest.approx(on["late"] / on["judged"]),
    }
