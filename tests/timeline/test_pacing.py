# SPDX-License-Identifier: MIT
"""The pacing policy, gid_pacing_next(), called as the Weston module calls it."""

import random

import pytest
from gid_timeline.simulate.gidway import Gidway
from gid_timeline.simulate.scheduler import MS, NONE, Frame, simulate
from gid_timeline.simulate.workloads import REFRESH, make

CEILING = (REFRESH - MS) // MS


def frame(
    due: int,
    window: int,
    need: int,
    *,
    shown: int | None = None,
    arrival: int = NONE,
    content_class: int = 1,
    refresh: int = REFRESH,
) -> Frame:
    done = due - window * MS + need
    return Frame(
        refresh,
        due,
        window,
        due - window * MS,
        done,
        due if shown is None else shown,
        arrival,
        content_class,
    )


def drive(
    policy: Gidway,
    needs: list[tuple[int, int]],
    deadline: int = 0,
    due: int = 10**12,
    window: int = 7,
    phase: int | None = None,
) -> tuple[list[int], int]:
    """Shows a frame each refresh; returns the windows and how many frames were late."""
    windows, late = [], 0
    for need, content_class in needs:
        missed = need + deadline > window * MS
        late += missed
        arrival = NONE if phase is None else due - REFRESH - phase
        shown = due + REFRESH * missed
        told = frame(due, window, need, shown=shown, arrival=arrival, content_class=content_class)
        window = policy.next(told)
        windows.append(window)
        due = shown + REFRESH
    return windows, late


def test_it_starts_with_westons_window() -> None:
    policy = Gidway(0.001)
    assert policy.next(None) == 7
    windows, _ = drive(policy, [(2 * MS, 1)] * 60)
    assert set(windows) == {7}


def test_it_learns_a_short_window() -> None:
    windows, late = drive(Gidway(0.001), [(2 * MS, 1)] * 5000, deadline=MS // 2)
    assert windows[-1] == 3
    assert late <= 5


def test_a_cost_beyond_the_first_window_is_learned_at_once() -> None:
    windows, late = drive(Gidway(0.001), [(12 * MS, 1)] * 300)
    assert late <= 2
    assert windows[-1] >= 13


def test_a_repaint_that_fits_in_no_window_gets_the_longest() -> None:
    windows, _ = drive(Gidway(0.001), [(20 * MS, 1)] * 300)
    assert windows[-1] == CEILING


def test_frames_that_no_window_makes_in_time_teach_nothing() -> None:
    """The first pictures of a program that has just started; the others are quick."""
    windows, late = drive(Gidway(0.001), [(98 * MS, 1), (68 * MS, 1), *[(MS // 3, 1)] * 1400])
    assert windows[400] <= 3
    assert windows[-1] == 1  # nor do they slow down how the margin shrinks
    assert late == 2


def test_a_load_that_becomes_too_heavy_gets_the_longest_window() -> None:
    windows, _ = drive(Gidway(0.001), [(2 * MS, 1)] * 300 + [(20 * MS, 1)] * 400)
    assert windows[-1] == CEILING


def test_the_deadline_of_the_display_is_learned() -> None:
    """Frames that were done in time, as far as can be seen, but were shown late."""
    windows, late = drive(Gidway(0.001), [(2 * MS, 1)] * 20000, deadline=4 * MS)
    assert sum(window < 6 for window in windows[1000:]) <= 19
    assert late <= 20


def test_a_class_that_foretells_the_next_frame_is_used() -> None:
    """Every frame of class 1 is followed by a heavy one of class 2, and the other way round."""
    needs = [(2 * MS, 1) if i % 2 else (9 * MS, 2) for i in range(8000)]
    windows, late = drive(Gidway(0.001), needs)
    after_light = [w for (_, c), w in list(zip(needs, windows, strict=True))[6000:] if c == 1]
    after_heavy = [w for (_, c), w in list(zip(needs, windows, strict=True))[6000:] if c == 2]
    assert max(after_heavy) <= 4
    assert min(after_light) >= 9
    assert late <= 8


def test_a_window_in_which_nothing_arrives_is_left_to_the_repaint() -> None:
    """A camera that is locked to the display: what comes 10 ms before a refresh waits no longer."""
    windows, late = drive(Gidway(0.001), [(2 * MS, 1)] * 3000, phase=10 * MS)
    assert windows[-1] == 8  # 10 ms less a guard of 1 ms, by phases of a 64th of a refresh
    assert late == 0


def test_an_output_without_a_refresh_of_its_own_repaints_at_once() -> None:
    """Headless Weston 14 shows a frame 16 ms after its repaint, whatever the window."""
    policy = Gidway(0.001)
    window, due = 7, 10**12
    for _ in range(100):
        begin = due - window * MS
        shown = begin + 16 * MS
        window = policy.next(frame(due, window, MS // 5, shown=shown))
        due = shown + REFRESH
    assert window == CEILING


def test_another_refresh_rate_is_learned_anew() -> None:
    policy = Gidway(0.001)
    drive(policy, [(2 * MS, 1)] * 3000)
    told = frame(10**12, 7, 2 * MS, refresh=6_944_444)
    assert policy.next(told) == 5  # Weston's 7 ms do not fit into 6.9


@pytest.mark.parametrize("refresh", [0, -1, 1000, 10**12, -(2**63)])
def test_no_usable_refresh_gives_westons_window(refresh: int) -> None:
    policy = Gidway(0.001)
    assert policy.next(frame(10**12, 7, 2 * MS, refresh=refresh)) == 7
    assert policy.next(None) == 7


def test_any_frame_gives_a_window_within_bounds() -> None:
    rng = random.Random(1)
    policy = Gidway(0.001)
    extremes = [0, 1, -1, 2**63 - 1, -(2**63), 10**12, 10**18]

    def any_time() -> int:
        return rng.choice([rng.choice(extremes), 10**12 + rng.randrange(-(10**8), 10**8)])

    for _ in range(20000):
        told = Frame(
            rng.choice([REFRESH] * 20 + [6_944_444, 41_666_667]),
            any_time(),
            rng.choice([7, 0, -5, 15, 2**31 - 1, -(2**31)]),
            0,
            any_time(),
            any_time(),
            rng.choice([NONE, any_time()]),
            rng.choice([0, 1, 2, 7, 8, 2**32 - 1]),
        )
        window = policy.next(told if rng.random() < 0.9 else None)
        assert 1 <= window <= 40
        if told.refresh == REFRESH:
            assert window <= 40


def test_it_is_a_pure_function() -> None:
    """The same frames give the same windows, also with another policy in between."""
    workload = make("rare_spikes", 5, 3000)
    first, other, second = Gidway(0.001), Gidway(0.01), Gidway(0.001)
    once = simulate(workload, first)
    simulate(workload, other)
    assert simulate(workload, second).latencies == once.latencies
