# SPDX-License-Identifier: MIT
"""The benchmark isolation, once through: whatever happens in `open`, the cluster goes on.

That gid-cluster and its gidd survive, that the telltale is live again, and that the cluster's
frames flow meanwhile must hold on any machine. How many and how evenly holds where the cluster may
run before all others, as it does on a real display.
"""

import pytest
from benches import results
from lib.company import OF_CLAIM

pytestmark = pytest.mark.timeout(1000)
CASES = {"flood", "leak", "scribble", "restart", "stop", "messages", "link"}
CANVAS_CASES = {"lists-random", "lists-changing", "lists-endless", "lists-huge"}
CANVAS_CASES |= {"lists-endless-realtime"}
CASES |= CANVAS_CASES
KINDS = ("XR24", "XR30", "XR12", "Y216", "YUYV", "NV12")
COSTLY = {f"role-{kind}{turned}" for kind in KINDS for turned in ("", "-turned")}
COSTLY |= {f"layer-{kind}-turned-scaled" for kind in KINDS}
CASES |= COSTLY | {
    "traps",
    "sparse",
    "silent",
    "notes",
    "bells",
    "live",
    "status",
    "gpu",
    "crowded",
}

SECONDS = 2  # of each attack
# A display, or a canvas, that waits for the attack's end has nothing to show in these seconds but
# what was on its way when it began, and a gap as long as they are.
FLOWING = 5
STANDSTILL = SECONDS * 60 * 3 / 4  # refreshes


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict:
    size = ["--repetitions=1", f"--seconds={SECONDS}", f"--stop={SECONDS}"]
    return results("isolation", tmp_path_factory.mktemp("isolation"), *size)


def row(result: dict, case: str) -> dict:
    return next(row for row in result["rows"] if row["case"] == case)


def test_form(result: dict) -> None:
    assert {row["case"] for row in result["rows"]} == CASES | {"canvas", "undisturbed"}
    names = (
        "rate_{}_vs_undisturbed",
        "longest_gap_{}_refreshes",
        "commit_late_{}_refreshes",
        "compose_worst_vs_bound_{}",
    )
    assert set(result["ratios"]) == {name.format(case) for name in names for case in CASES}


@pytest.mark.parametrize("case", sorted(CASES))
def test_frames_flow(result: dict, case: str) -> None:
    """A display that waited for the other domain would stand still while it is attacked.

    Without a real-time class that is all that can be told: the cases compete with the display for
    the processor, and so do other programs of the machine. Of a canvas not even the gap: it is one
    between pictures in time, of which a slow machine has none.
    """
    found = row(result, case)
    late = found["machine_late_refreshes"]
    assert found["finished"] >= FLOWING
    if case not in CANVAS_CASES:
        assert found["longest_gap_refreshes"] <= STANDSTILL + late
    if found["scheduling"].startswith("SCHED_FIFO"):
        assert found["rate_vs_undisturbed_worst"] >= 1 - OF_CLAIM * 0.01
        assert found["longest_gap_refreshes"] <= OF_CLAIM * 2 + late


def test_a_frame_takes_no_more_than_its_bound(result: dict) -> None:
    """Of a processor, whatever the others send: half of the cases at least, for a hypervisor that
    runs others meanwhile takes that from the thread's own time. What it waited is told apart.
    """
    rows = [row for row in result["rows"] if row["compose_worst_vs_bound"] is not None]
    assert len(rows) == len(result["rows"])
    assert sum(row["compose_worst_vs_bound"] <= 1 for row in rows) > len(rows) / 2
    assert all(row["compose_worst_vs_bound"] > 0 and row["compose_wait_ms"] >= 0 for row in rows)


def test_what_was_done(result: dict) -> None:
    """The attacks were made, and none of them got at memory that is not its own."""
    assert row(result, "flood")["did"]["commits"] > 1000
    assert row(result, "flood")["did"]["frames"] > 1000
    leak = row(result, "leak")["did"]
    assert leak.get("status") == -9 or leak["refused"] > 0, "it hit its limit"
    scribble = row(result, "scribble")["did"]
    assert scribble["bytes"] > 10_000_000 and scribble["attempts"] > 0
    assert scribble["broken"] == 0
    messages = row(result, "messages")["did"]
    assert messages["gidd"]["messages"] > 1000 and messages["weston"]["messages"] > 1000
    assert row(result, "link")["did"]["connections"] > 0
    for case in ("notes", "live", "status", "sparse"):
        assert row(result, case)["did"]["sent"] > 0, case
    bells = row(result, "bells")["did"]
    assert bells["sent"] + bells["refused"] > 0
    traps = row(result, "traps")["did"]
    assert traps["display"]["sent"] + traps["display"]["refused"] > 0
    assert traps["gidd"]["sent"] > 0
    assert row(result, "gpu")["did"]["pictures"] > 0
    for case in COSTLY:
        assert row(result, case)["did"]["sent"] > 0, case
    for case in CANVAS_CASES:
        assert row(result, case)["did"]["sent"] > 0, case


@pytest.mark.parametrize("case", ["flood", "leak", "messages", "stop", "status", "gpu"])
def test_nobody_else_ends(result: dict, case: str) -> None:
    """Of `open` itself: what one of its programs does costs no other one its life."""
    assert row(result, case)["ended"] == []


def test_what_was_found(result: dict) -> None:
    """Every loss is named, and what came from the hostile programs was not shown."""
    assert row(result, "flood")["attacker"] == ["wrong: no-hash"]
    (scribbled,) = row(result, "scribble")["attacker"]
    assert scribbled.split(":")[0] in ("waiting", "wrong", "lost")
    for case in ("notes", "sparse"):
        (found,) = row(result, case)["attacker"]
        assert found.split(":")[0] in ("wrong", "lost"), case
    assert "late: deadline" in row(result, "stop")["telltale"]
    assert "lost: died" in row(result, "restart")["telltale"]
    assert "live: none" in row(result, "restart")["telltale"]
