# SPDX-License-Identifier: MIT
"""The demo with the domain open as a QEMU guest: the same cockpit, and the guest is killed.

The guest is of this machine's architecture, and where there are programs for it, of ARM64.
"""

import pytest
from gid_vm.architecture import by_name
from gid_vm.guest import why_not
from gid_vm.system import why_no_system
from runs import Run, check_copies, run_demo

SECONDS = 1500
ARM64 = by_name("arm64")
NO_ARM64 = "that is this machine's own" if ARM64.is_own else why_no_system(ARM64)

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(SECONDS + 60),
]


@pytest.fixture(
    scope="module",
    params=[
        "--vm",
        pytest.param(
            "--arch=arm64", marks=pytest.mark.skipif(NO_ARM64 is not None, reason=str(NO_ARM64))
        ),
    ],
)
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("demo")
    run = run_demo(folder, request.param, "--seconds=2", timeout=SECONDS)
    assert run.status == 0, run.errors
    return run


def test_it_is_the_same_cockpit(demo: Run) -> None:
    report = demo.report
    assert report["link"] == "ivshmem"
    assert set(report["streams"]) == {"movie", "panel", "movie-i420", "camera", "telltale"}
    assert all(stream["frames"] > 0 for stream in report["streams"].values())
    assert {"cluster", "open", "open, after its return"} <= set(report["displays"])


def test_all_checks_passed(demo: Run) -> None:
    """Pictures bit-exact, each frame of the film, the fallbacks, and everything's return."""
    checks = demo.report["checks"]
    assert len(checks) == 10
    assert [check for check in checks if not check["passed"]] == []


@pytest.mark.parametrize(
    ("stream", "most"),
    [("movie", 0), ("panel", 0), ("movie-i420", 4), ("camera", 0), ("telltale", 0)],
)
def test_copies(demo: Run, stream: str, most: int) -> None:
    check_copies(demo, stream, most)


@pytest.mark.parametrize("role", ["telltale", "camera"])
def test_the_death_of_the_machine_was_seen(demo: Run, role: str) -> None:
    loss = demo.report["loss"][role]
    assert loss["fallback_after_ms"] > 0 and loss["live_after_ms"] > 0
