# SPDX-License-Identifier: MIT
"""The refresh interval, late frames and their causes follow from the log by the stated rule."""

import logs
import pytest
from gid_timeline.refresh import Refresh, measure
from logs import MS, REFRESH, read, repaint


def of(text: str, **given: float) -> Refresh:
    (refresh,) = measure(read(text)[0], given)
    return refresh


def test_a_steady_run() -> None:
    refresh = of(logs.run(frames=100))
    assert (refresh.interval, refresh.steady, refresh.given) == (REFRESH, True, False)
    assert (refresh.frames, refresh.late, refresh.missed) == (100, 0, 0)


def test_late_frames_and_missed_refreshes() -> None:
    refresh = of(logs.run(frames=100, late={10, 11, 50}))
    assert (refresh.frames, refresh.late, refresh.missed) == (100, 3, 3)
    assert refresh.causes == {"began_late": 0, "repaint_long": 0, "gpu_long": 0, "after_posted": 3}


def test_half_of_all_frames_late_does_not_halve_the_refresh() -> None:
    refresh = of(logs.run(frames=100, late=set(range(0, 100, 2))))
    assert refresh.interval == REFRESH
    assert refresh.late == 50


def test_causes() -> None:
    text = logs.output(1)
    vblank = 100 * 10**9
    for number in range(40):
        late = {20: dict(begin=MS, cost=MS), 25: dict(begin=-4 * MS, cost=6 * MS), 30: {}}.get(
            number
        )
        text += repaint(vblank, late=late is not None, **(late or {}))
        if number == 30:
            end = vblank + 4 * MS
            for name, gpu in (("begin", end - 8 * MS), ("end", end)):
                text += logs.point(vblank + REFRESH + 30_000, f"renderer_gpu_{name}", gpu=gpu, wo=1)
        vblank += REFRESH * (2 if late is not None else 1)
    refresh = of(text)
    assert refresh.late == 3
    assert refresh.causes == {"began_late": 1, "repaint_long": 1, "gpu_long": 1, "after_posted": 0}


def test_the_first_frame_of_a_loop_is_due_at_the_next_refresh() -> None:
    text = logs.run(frames=20)
    start = 200 * 10**9
    for late in (0, 1, 2):
        # The loop starts from an old refresh; the frame has until the next one after its begin.
        text += logs.start_loop(start - 9 * MS, start - 100 * REFRESH)
        text += repaint(start, commit=-10 * MS, late=late)
        text += logs.point(start + 50 * MS, "core_repaint_exit_loop", wo=1)
        start += 10**9
    refresh = of(text)
    assert (refresh.frames, refresh.late, refresh.missed) == (23, 2, 3)


def test_an_output_without_a_steady_refresh() -> None:
    text, vblank = logs.output(1), 100 * 10**9
    for number in range(100):
        text += repaint(vblank)
        vblank += REFRESH + (number * 7919 % 13) * MS
    refresh = of(text)
    assert not refresh.steady and not refresh.judges
    assert (refresh.frames, refresh.late) == (0, 0)
    assert of(text, **{"DP-1": 60.0}).judges


def test_too_few_frames_tell_nothing() -> None:
    assert of(logs.run(frames=5)).interval is None


@pytest.mark.parametrize("rates", [{"": 30.0}, {"DP-1": 30.0}, {"DP-1": 30.0, "": 144.0}])
def test_a_given_rate_counts(rates: dict[str, float]) -> None:
    refresh = of(logs.run(frames=50), **rates)
    assert refresh.given
    assert refresh.interval == 33_333_333


def test_times_that_go_back_tell_no_refresh() -> None:
    """Found by the fuzzer: more than a tenth of the frames are shown before the one before them."""
    text = logs.output(1)
    for number in range(16):
        vblank = 100 * 10**9 + number * REFRESH
        frame = repaint(vblank)
        if number % 4 == 3:
            frame = frame.replace(f'monotonic":{logs.stamp(vblank)}', 'monotonic":[3, 5]')
        text += frame
    refresh = of(text)
    assert refresh.interval is None and not refresh.judges
