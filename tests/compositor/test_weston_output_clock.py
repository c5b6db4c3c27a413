# SPDX-License-Identifier: MIT
"""[gid-output]: when Weston draws its outputs that are streams: by the reader's display, by a rate
of their own, and after a pause."""

import time

import numpy
import pytest
from lib.painter import Painter
from lib.program import wait_for
from test_weston_outputs import LEFT, SECOND_NS, Outputs, outputs

__all__ = ["outputs"]  # a fixture

WINDOW_NS = 7_000_000  # Weston's own


def from_refresh(time: int | numpy.ndarray, refresh: int) -> int | numpy.ndarray:
    """How far it is from the nearest one."""
    return abs((time + refresh // 2) % refresh - refresh // 2)


@pytest.mark.parametrize("window", [0, 17_000_000])
def test_the_readers_display_sets_the_time(outputs: Outputs, window: int) -> None:
    """One of 50 refreshes a second, in which each picture is shown 1 ms after it came. They are
    drawn Weston's repaint window before it composes, which is half a refresh before it shows them
    if it does not tell.

    A machine that is busy leaves out refreshes, and keeps to them; a repaint that is late moves the
    clock, which goes back by steps of a sixteenth. So as many pictures as are needed: until most of
    40 in a row are near that time, which of those of another clock one in four is.
    """
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    refresh = SECOND_NS // 50
    step = refresh // 8
    before = (window or refresh // 2) + WINDOW_NS
    origin = time.monotonic_ns() + 3_000_000
    times: list[int] = []
    with outputs.read("screen/left") as reader:

        def most(values: numpy.ndarray) -> bool:
            return float(numpy.median(from_refresh(values, refresh))) <= step

        def are_near() -> bool:
            painter.paint(len(times))
            frame = reader.next().frame
            times.append(frame.capture_time)
            shown = origin + (time.monotonic_ns() - origin) // refresh * refresh
            reader.tell_shown(frame, shown, refresh, window)
            last = numpy.array(times[-40:])
            apart = numpy.diff(last)
            is_whole = len(last) == 40 and float(numpy.median(apart)) >= refresh - step
            return is_whole and most(apart) and most(last - origin + before)

        wait_for(are_near, lambda: f"40 pictures in time: {numpy.diff(times)}", pause=0)


def test_what_comes_after_a_pause_is_drawn_at_once(outputs: Outputs) -> None:
    """And not just before a refresh of the reader's display, which is half a second away."""
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    refresh = SECOND_NS // 2
    origin = time.monotonic_ns()
    with outputs.read("screen/left") as reader:

        def paint(seed: int) -> tuple[int, int]:
            """How long after it was committed it was drawn; and how far from a refresh of that
            display the time is that it is for."""
            # Until just after a refresh, when Weston has rested for one.
            gone = (time.monotonic_ns() - origin) % refresh
            time.sleep((3 * refresh - gone) / SECOND_NS)
            committed = time.monotonic_ns()
            frame = reader.wait_picture(painter.paint(seed))
            shown = origin + (time.monotonic_ns() - origin) // refresh * refresh
            reader.tell_shown(frame, shown, refresh)
            off = from_refresh(frame.present_time - origin, refresh)
            return frame.capture_time - committed, off

        painted = [paint(0), paint(1)]  # before it knows the display

        def is_at_once() -> bool:
            painted.append(paint(len(painted)))
            last = painted[2:][-4:]
            times, offs = zip(*last, strict=True)
            return len(last) == 4 and max(times) < refresh // 4 and max(offs) < refresh // 16

        wait_for(is_at_once, lambda: f"4 pictures at once: {painted}", pause=0)


def test_a_rate_of_its_own(outputs: Outputs) -> None:
    weston = outputs.start(LEFT.replace("480x270", "480x270@25"))
    painter = Painter(weston.socket, "left", (480, 270))
    times = []
    with outputs.read("screen/left") as reader:

        def shortest() -> int:
            painter.paint(len(times))
            times.append(reader.next().frame.present_time)
            return min(numpy.diff(times), default=2 * SECOND_NS)

        # Where the machine is late a refresh comes later, and none comes sooner.
        wait_for(lambda: shortest() < SECOND_NS // 25 + 1_000_000, lambda: f"a 25th: {times}")
        for _ in range(12):
            assert shortest() > SECOND_NS // 25 - 1_000_000
