# SPDX-License-Identifier: MIT
"""Whatever happens to the outputs and the timeline, Weston with pacing goes on repainting."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from paced import PacedWeston


@pytest.fixture
def weston(cockpit: Cockpit, tmp_path: Path) -> Iterator[PacedWeston]:
    """With a client, and an output that repaints also where the client is on none."""
    made = PacedWeston(tmp_path, cockpit.env("cluster"), "pacing=on")
    made.play()
    made.order("animate", "headless")
    made.wait_frames(50)
    yield made
    made.finish()


def test_outputs_plugged_and_unplugged(weston: PacedWeston) -> None:
    for _ in range(5):
        weston.plug("second")
        weston.wait_frames(20)
        weston.wait_log("gid: pacing: second: ")
        weston.plug("third")
        weston.order("unplug", "second")
        weston.wait_frames(20)
        weston.order("unplug", "third")
        weston.wait_frames(20)


def test_no_output_for_a_while(weston: PacedWeston) -> None:
    for _ in range(5):
        weston.wait_frames(20)
        weston.order("unplug", "headless")
        weston.plug("headless")
    weston.wait_frames(20)


def test_resized(weston: PacedWeston) -> None:
    for turn in range(12):
        weston.order("scale", "headless", 1 + turn % 2)
        weston.order("transform", "headless", turn % 8)
        weston.wait_frames(10)


def test_other_refresh_rates(weston: PacedWeston) -> None:
    for millihertz in (30000, 144000, 24000, 1000000, 60000) * 2:
        weston.order("refresh", "headless", millihertz)
        weston.wait_frames(10)


def test_asleep_and_awake(weston: PacedWeston) -> None:
    for _ in range(6):
        weston.sleep_and_wake()
        weston.wait_frames(20)


def test_timeline_watched_by_others_meanwhile(weston: PacedWeston) -> None:
    for _ in range(6):
        watching = weston.watch_timeline()
        weston.wait_frames(20)
        watching.kill()
        weston.wait_frames(5)


def test_many_surfaces(weston: PacedWeston) -> None:
    """Dozens of clients that come and go."""
    for _ in range(6):
        clients = [weston.run_client("weston-simple-damage") for _ in range(8)]
        weston.wait_frames(30)
        for client in clients:
            client.kill()
    weston.wait_frames(100)


@pytest.mark.parametrize("seed", range(3))
def test_anything_in_any_order(weston: PacedWeston, seed: int) -> None:
    """But no outputs plugged in while clients are killed: desktop-shell can fall over that."""
    rng = random.Random(seed)
    weston.plug("second")
    for _ in range(60):
        output = rng.choice(["headless", "second"])
        match rng.choice(["shape", "refresh", "sleep", "watch", "client", "wait"]):
            case "shape":
                weston.order("transform", output, rng.randrange(8))
            case "refresh":
                weston.order("refresh", output, rng.choice([24000, 50000, 60000, 240000]))
            case "sleep":
                weston.sleep_and_wake()
            case "watch":
                weston.watch_timeline()
            case "client":
                weston.play()
            case "wait":
                weston.wait_frames(10)
        if len(weston.clients) > 6:
            weston.clients.pop(rng.randrange(1, 6)).kill()
    weston.wait_frames(50)
