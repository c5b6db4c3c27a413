# SPDX-License-Identifier: MIT
"""The case `fences` of the benchmark isolation, once through, in a guest whose kernel has vgem.

How many frames are shown is printed and not asserted: a translated guest on a busy machine shows
half of its refreshes by itself.
"""

from pathlib import Path

import pytest
from benches import bench, results
from gid_vm.own_kernel import why_no_kernel

pytestmark = pytest.mark.timeout(900)


@pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel()))
def test_fences(tmp_path: Path) -> None:
    result = results(
        "isolation", tmp_path, "--case=fences", "--repetitions=1", "--seconds=12", timeout=800
    )
    calm, attacked = result["rows"]
    assert (calm["case"], attacked["case"]) == ("undisturbed", "fences")
    assert set(result["ratios"]) == {
        "rate_fences_vs_undisturbed",
        "longest_gap_fences_refreshes",
        "commit_late_fences_refreshes",
        "compose_worst_vs_bound_fences",
    }
    assert attacked["frames"] > 10
    did = attacked["did"]
    assert did["never"] > 0 and did["others"] > 0 and did["sent"] > 100
    assert did["late"] > 1, "none was signalled late"
    (found,) = attacked["attacker"]
    # Without a hash: had its pixels been looked at, that would be the reason.
    assert found.split(":")[0] in ("waiting", "late") or found == "wrong: memory", found
    assert attacked["ended"] == []


def test_fences_are_alone() -> None:
    """What cannot run in one guest with it is refused before anything starts."""
    for other in ("--vm", "--case=flood"):
        run = bench("isolation", "--case=fences", other)
        assert run.returncode == 2 and "no other case" in run.stderr
