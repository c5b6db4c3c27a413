# SPDX-License-Identifier: MIT
"""[gid-output]: when Weston draws its outputs that are streams: by the reader's display, by a rate
of their own, and after a pause."""

import time

import numpy
from lib.painter import Painter
from lib.program import wait_for
from test_weston_outputs import LEFT, SECOND_NS, Outputs, outputs

__all__ = ["outputs"]  # a fixture


def from_refresh(time: int | numpy.ndarray, refresh: int) -> int | numpy.ndarray:
    """How far it is from the nearest one."""
    return abs((time + refresh // 2) % refresh - refresh // 2)


def test_the_readers_display_sets_the_time(outputs: Outputs) -> None:
    """One of 50 refreshes a second, in which each picture is shown 1 ms after it came.

    A machine that is busy leaves out refreshes, and keeps to them; a repaint that is late moves the
    clock, which goes back by steps of a sixteenth. So as many pictures as are needed: until most of
    40 in a row are near a refresh, which of those of another clock one in eight is.
    """
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    refresh = SECOND_NS // 50
    step = refresh // 16 + 1000
    origin = time.monotonic_ns() + 3_000_000
    times: list[int] = []
    with outputs.read("screen/left") as reader:

        def most(values: numpy.ndarray) -> bool:
            return float(numpy.median(from_refresh(values, refresh))) <= step

        def are_near() -> bool:
            painter.paint(len(times))
            frame = reader.next().frame
            times.append(frame.present_time)
            shown = origin + (time.monotonic_ns() - origin) // refresh * refresh
            reader.tell_shown(frame, shown, refresh)
            last = numpy.array(times[-40:])
            apart = numpy.diff(last)
            is_whole = len(last) == 40 and float(numpy.median(apart)) >= refresh - step
            return is_whole and most(apart) and most(last - origin)

        wait_for(are_near, lambda: f"40 pictures near refreshes: {numpy.diff(times)}", pause=0)


def test_what_comes_after_a_pause_is_drawn_for_the_next_refresh(outputs: Outputs) -> None:
    """Of the reader's display: the backend's own time begins anew with each first picture.

    Some pauses are too short for a machine that is busy, and some pictures too late: as many as are
    needed. Where Weston waits for a refresh before it draws none is in time, and where it begins
    anew one in eight is near a refresh, and hardly ever six of eight.
    """
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    refresh = SECOND_NS // 50
    origin = time.monotonic_ns()
    with outputs.read("screen/left") as reader:

        def paint(seed: int) -> tuple[int, int]:
            """How far from a refresh it is to be shown, and how long after it was committed."""
            # Until 5 ms before a refresh, by which time Weston has rested.
            gone = (time.monotonic_ns() - origin) % refresh
            time.sleep((6 * refresh - gone - 5_000_000) / SECOND_NS)
            committed = time.monotonic_ns()
            frame = reader.wait_picture(painter.paint(seed))
            shown = origin + (time.monotonic_ns() - origin) // refresh * refresh
            reader.tell_shown(frame, shown, refresh)
            assert 0 <= frame.present_time - frame.capture_time <= refresh
            off = from_refresh(frame.present_time - origin, refresh)
            return off, frame.present_time - committed

        painted = [paint(0), paint(1)]  # before it knows the display

        def is_kept() -> bool:
            painted.append(paint(len(painted)))
            last = painted[2:][-8:]
            near = sum(off <= refresh // 16 for off, _ in last)
            return near >= 6 and min(ahead for _, ahead in last) < refresh

        wait_for(is_kept, lambda: f"8 pictures for the next refresh: {painted}")


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
