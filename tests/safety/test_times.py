# SPDX-License-Identifier: MIT
"""What documents claim of times, on a machine that has nothing else to do. That what they are about
happens at all, and in order, is asked by the other tests, on any machine."""

import json
import signal
import statistics
import time

import numpy
import pytest
from lib.cockpit import GIDCTL, Cockpit
from lib.company import OF_CLAIM
from lib.display import REFRESH_MS, Display, start_telltale
from lib.forwarding import GID_VIEW, Forwarding
from lib.program import wait_for
from test_after_kill import back_after_kills
from test_costly import (
    COME_AND_GO,
    DISPLAY,
    HEIGHT,
    KINDS,
    ROLE,
    WIDTH,
    check_bound,
    come_and_go,
    cost_of_frames,
    seconds_of_others,
    start,
)
from test_fallback_time import OTHERS, fall_back
from test_forward import CLIENT_MS, HANG_DEADLINE_MS, change_to_light, hang_times
from test_map import fallback_times as map_fallback_times
from test_meter import report_of_three_seconds
from test_telltale import fallback_times

from lab.domains.configuration import section

# As docs/benchmarks.md claims, in ms; the first without what programs waited for others.
CHANGE_TO_LIGHT = {"p50": 18.9, "p99": 20.8}
KILL_TO_FALLBACK = 27.4
HEARTBEAT_MS = 50  # weston-gid-buffer(7)
BACK_AFTER_KILL, BACK_AT_THE_WORST = 199, 288

FILM = section(
    "layer dear", f"domain=open stream=safety/dear fit=fill width={WIDTH} height={HEIGHT}"
)


def test_from_change_to_light(cockpit: Cockpit, capsys: pytest.CaptureFixture[str]) -> None:
    """The aim is two refreshes for 99 of 100 changes. What others make later is not counted."""
    forwarding = Forwarding(cockpit)
    commits, waits = change_to_light(forwarding, changes=200)
    role = forwarding.display.role()
    commit = numpy.percentile(commits, [50, 99])
    waited = numpy.percentile(waits, [50, 99])
    shown = [role["latency_p50_ns"] / 1e6, role["latency_p99_ns"] / 1e6]
    for index, (name, claim) in enumerate(CHANGE_TO_LIGHT.items()):
        total = commit[index] + shown[index]
        with capsys.disabled():
            print(
                f"change to light, {name}: {total:.1f} ms, {total / REFRESH_MS:.2f} refreshes "
                f"(commit {commit[index]:.1f} ms; for others waited {waited[index]:.1f} ms)"
            )
        assert total - waited[index] < OF_CLAIM * claim, name


def test_from_kill_to_fallback(cockpit: Cockpit) -> None:
    """In time, 100 times of 100."""
    deadline_ms = 200
    times, own = fallback_times(cockpit, rounds=5, deadline_ms=deadline_ms)
    times.sort()
    print(f"kill to fallback, ms: median {times[50]:.1f}, worst five {times[-5:]}")
    assert max(own) <= deadline_ms + REFRESH_MS
    assert statistics.median(own) < OF_CLAIM * KILL_TO_FALLBACK


def test_from_kill_of_a_domain_to_fallback(cockpit: Cockpit) -> None:
    deadline_ms = 2000
    times = map_fallback_times(cockpit, kills=20, deadline_ms=deadline_ms)
    print(f"fallback after {statistics.median(times):.0f} ms (median), {max(times):.0f} (worst)")
    assert max(times) < deadline_ms + 100


def test_from_hang_of_a_client_to_fallback(cockpit: Cockpit) -> None:
    """As weston-gid-buffer(7) says. It may have read all there was a moment before."""
    times, own = hang_times(cockpit, hangs=5)
    print(f"hang to fallback, ms: {sorted(times)}; without waits for others {sorted(own)}")
    found_ms = CLIENT_MS * 1.25 + 2 * HEARTBEAT_MS
    assert max(own) < found_ms + HANG_DEADLINE_MS + 2 * REFRESH_MS


@pytest.mark.parametrize("others", OTHERS)
def test_the_promise_is_kept(cockpit: Cockpit, others: str) -> None:
    """But for what the display's thread waited for a processor that others had."""
    _, over = fall_back(cockpit, others, rounds=5)
    # The middle one: what a hypervisor takes from this machine, nobody in it can tell.
    assert statistics.median(over) <= 0


def test_back_after_a_kill(cockpit: Cockpit) -> None:
    times, own = back_after_kills(cockpit, kills=20)
    told = [f"{statistics.median(some):.0f} ms (median), {max(some):.0f}" for some in (times, own)]
    print(f"back after {told[0]} (worst); without waits for others {told[1]}")
    assert statistics.median(own) < OF_CLAIM * BACK_AFTER_KILL
    assert max(own) < OF_CLAIM * BACK_AT_THE_WORST


def test_nothing_waits_long(cockpit: Cockpit) -> None:
    """Fast changes: all are sent and shown, none late, and nothing is taken back by force."""
    display = Display(cockpit)
    telltale = start_telltale(cockpit, "--cycle", "40")
    display.wait_role("live")
    wait_for(lambda: display.role()["shown_frames"] > 60, "many changes")
    assert display.role()["latency_p50_ns"] < 10 * REFRESH_MS * 1e6
    telltale.stop()
    report = json.loads(telltale.stdout)
    assert report["skipped"] == report["leases_expired"] == 0


def test_a_still_camera(cockpit: Cockpit) -> None:
    """Nobody loses a lease, of a second, in more than three seconds."""
    forwarding = Forwarding(
        cockpit, f"[gid-safety]\nrole=telltale\nclients={GID_VIEW}\n", deadline_ms=2000
    )
    camera = start_telltale(cockpit, "--stream", "camera/rear", "--state", "7")
    forwarding.client([GID_VIEW, "--stream", "camera/rear", "--role", "telltale"])
    forwarding.display.wait_role("live")
    time.sleep(3.5)
    role = forwarding.display.role()
    assert (role["state"], role["transition_count"]) == ("live", 1), role["transitions"]
    assert camera.stop() == 0
    assert json.loads(camera.stdout)["leases_expired"] == 0


def test_a_reader_that_hangs_makes_no_frame_late(cockpit: Cockpit) -> None:
    display = Display(cockpit)
    start_telltale(cockpit, "--cycle", "20")
    display.wait_role("live")
    watch = cockpit.run("cluster", [GIDCTL, "watch", "screen"])
    wait_for(lambda: cockpit.status("cluster")["subscriptions"], "the reader")
    before = display.status()
    watch.signal(signal.SIGSTOP)
    wait_for(lambda: display.status()["frames"] > before["frames"] + 120, "frames")
    assert display.status()["missed"] == before["missed"]


@pytest.mark.parametrize("refresh", [60, 30])
def test_a_picture_for_each_refresh(cockpit: Cockpit, refresh: int) -> None:
    """Of the display, whatever the timer's rate is: also of half of it."""
    report = report_of_three_seconds(cockpit, refresh)
    # A busy display is a bit late each time; the timer's time would be half of that, or twice.
    assert 0.95 <= report["interval_p50_us"] * refresh / 1e6 <= 1.5
    assert report["shown"] >= 2 * refresh
    # A second of the timer's at most, until the display has told what it shows.
    assert report["drawn"] <= 1.25 * report["shown"] + 60


def cost_of_a_frame(display: Display) -> tuple[float, float]:
    """Of the display's thread, in ms; and what all others take of a processor.

    The middle of some rows of frames: where a hypervisor runs others meanwhile, their time is said
    to be the thread's. What a stranger's pictures cost would be in each row, as each has some.
    """
    pid = display.program.pid
    others, begun = seconds_of_others(pid), time.monotonic()
    cost = statistics.median(cost_of_frames(display, 30) for _ in range(6))
    return cost, (seconds_of_others(pid) - others) / (time.monotonic() - begun)


def check_no_frame_takes_longer(status: dict) -> None:
    """Than its bound, in the thread's own time: what else this machine did is not its.

    But for one frame in a hundred: a virtual machine's kernel takes time in which it was not run
    for that of who runs. A loop of 6 ms was said to have taken 12 and 15 ms, twice in 1700 times,
    with no page that had to come and a wall clock of 140 and 230 ms; where the hypervisor was so
    busy that all frames took a third longer, 3 of 365 were beyond the bound. What strangers choose
    costs each frame of theirs, and there are a hundred of those.
    """
    assert status["frames"] > 100
    assert status["over_bound_frames"] <= status["frames"] // 100


@pytest.mark.parametrize(("kind", "transform"), KINDS)
@pytest.mark.parametrize("what", ["role", "layer"])
def test_the_display_does_not_pay(cockpit: Cockpit, what: str, kind: str, transform: int) -> None:
    display = Display(cockpit, ROLE if what == "role" else FILM, display=DISPLAY)

    def shown() -> dict:
        return display.status()[f"{what}s"][0]

    honest = start(cockpit, "XR24", 0)
    wait_for(lambda: shown()["state"] == "live", "cheap pictures")
    fair, _ = cost_of_a_frame(display)
    honest.kill()
    wait_for(lambda: shown()["state"] != "live", "their end")
    start(cockpit, kind, transform)
    wait_for(lambda: shown()["state"] == "live", "dear pictures")
    before = shown()["shown_frames"]
    cost, others = cost_of_a_frame(display)
    print(f"{what} {kind} {transform}: {cost:.2f} ms a frame, XR24 {fair:.2f}; others {others:.2f}")
    assert cost < 1.6 * fair + 0.5
    assert others < 0.75, "half a processor, and what is measured in ticks"
    wait_for(lambda: shown()["shown_frames"] > before + 10, "pictures all the same")
    check_no_frame_takes_longer(check_bound(display))


@pytest.mark.parametrize("what", COME_AND_GO)
def test_who_comes_and_goes_all_the_time(cockpit: Cockpit, what: str) -> None:
    check_no_frame_takes_longer(come_and_go(cockpit, what))
