# SPDX-License-Identifier: MIT
"""Pacing in a real Weston, headless: what it does to the repaints, and what it says.

Times are judged by their tenth percentile, which a busy machine does not move: a timer is late
there now and then, but never early.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.program import wait_for
from paced import PacedWeston

from lab.domains.wayland import weston_major

FRAMES = 100
# From Weston 16 on, headless outputs keep a grid of refreshes while frames follow each other: there
# is something to wait for, as on a display.
HAS_REFRESHES = weston_major() > 14
only_without_refreshes = pytest.mark.skipif(HAS_REFRESHES, reason="this Weston has refreshes")
only_with_refreshes = pytest.mark.skipif(not HAS_REFRESHES, reason="this Weston has no refreshes")


@pytest.fixture
def paced(cockpit: Cockpit, tmp_path: Path) -> Iterator[Callable[..., PacedWeston]]:
    """Starts a Weston with the lines given in its section [gid], and has it repaint."""
    made: list[PacedWeston] = []

    def make(*lines: str) -> PacedWeston:
        made.append(PacedWeston(tmp_path, cockpit.env("cluster"), *lines))
        made[-1].play()
        made[-1].order("animate", "headless")
        return made[-1]

    yield make
    for weston in made:
        weston.finish()


def first_window(weston: PacedWeston) -> int:
    """The window in ms that it says it begins with."""
    pattern = r"gid: pacing: headless: repaint window (?:would be )?(\d+) ms, learning"
    found = wait_for(lambda: re.search(pattern, weston.read_log()), "the first report")
    return int(found[1])


def test_off_is_the_default(paced: Callable[..., PacedWeston]) -> None:
    weston = paced()
    assert weston.waits(FRAMES)[FRAMES // 10] >= 8
    assert "gid: pacing" not in weston.read_log()


@only_with_refreshes
def test_on_waits_for_the_refresh(paced: Callable[..., PacedWeston]) -> None:
    """Each of two outputs for its own: that of 20 Hz needs no more than half of it."""
    weston = paced("pacing=on")
    weston.plug("second")
    weston.order("refresh", "second", 20000)
    assert weston.waits(FRAMES, "second")[FRAMES // 10] >= 25
    assert first_window(weston) >= 7
    assert "free-running" not in weston.read_log()


@only_without_refreshes
def test_on_repaints_at_once(paced: Callable[..., PacedWeston]) -> None:
    """Headless Weston has no refresh to wait for, which is soon found out."""
    weston = paced("pacing=on")
    assert weston.waits(FRAMES)[FRAMES // 10] <= 3
    weston.wait_log("gid: pacing: on, with 1 of 1000 frames late at most")
    assert first_window(weston) >= 7  # more if its first frame was late


@only_without_refreshes
def test_each_output_has_its_own_window(paced: Callable[..., PacedWeston]) -> None:
    """What suits 60 Hz would let an output of 20 Hz wait for 35 ms."""
    weston = paced("pacing=on")
    weston.plug("second")
    weston.order("refresh", "second", 20000)
    assert weston.waits(FRAMES, "second")[FRAMES // 10] <= 3
    assert weston.waits(FRAMES)[FRAMES // 10] <= 3


def test_it_says_when_it_changes_its_mind(paced: Callable[..., PacedWeston]) -> None:
    """Once it has learned enough, but not sooner than ten seconds after its first word."""
    weston = paced("pacing=on")
    pattern = r"\[(\d+):(\d+):(\d+\.\d+)\] gid: pacing: headless: repaint window \d+ ms, (\w+)"

    def reports() -> list[tuple[str, ...]]:
        return re.findall(pattern, weston.read_log())

    wait_for(lambda: len(reports()) >= 2, "the second report")
    (*first, mode), (*second, other) = reports()[:2]
    assert mode == "learning" != other
    assert (seconds(second) - seconds(first)) % 86400 >= 9.9


def seconds(time: list[str]) -> float:
    hours, minutes, rest = time
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def test_observe_changes_nothing(paced: Callable[..., PacedWeston]) -> None:
    weston = paced("pacing=observe")
    assert weston.waits(FRAMES)[FRAMES // 10] >= 8
    assert first_window(weston) >= 7
    assert "headless: repaint window would be " in weston.read_log()


def test_the_configured_window_is_where_it_starts(paced: Callable[..., PacedWeston]) -> None:
    weston = paced("pacing=on", "pacing-miss-rate=0.01", "[core]", "repaint-window=9")
    assert first_window(weston) >= 9
    weston.wait_log("gid: pacing: on, with 10 of 1000 frames late at most")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("pacing=fast", "[gid] pacing=fast: must be off, observe or on"),
        ("pacing=", "[gid] pacing=: must be off, observe or on"),
        ("pacing-miss-rate=2", "[gid] pacing-miss-rate: must be from 0.00001 to 0.1"),
        ("pacing-miss-rate=nan", "[gid] pacing-miss-rate: must be from 0.00001 to 0.1"),
        ("pacing-miss-rate=few", "[gid] pacing-miss-rate: must be from 0.00001 to 0.1"),
    ],
)
def test_mistakes_in_the_configuration(
    cockpit: Cockpit, tmp_path: Path, line: str, error: str
) -> None:
    weston = PacedWeston(tmp_path, cockpit.env("cluster"), line, start=False)
    weston.launch()
    wait_for(lambda: not weston.is_running(), "weston to end")
    assert error in weston.read_log()
