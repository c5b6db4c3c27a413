# SPDX-License-Identifier: MIT
"""A telltale that `open` draws, on the display of `cluster`: bit for bit, and gone in time."""

import json
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.company import waited_ms
from lib.display import (
    ROLE,
    Display,
    snap_telltale,
    start_telltale,
    telltale_picture,
    with_deadline,
)
from lib.program import BUILD, wait_for

DEADLINE_MS = 200


def test_bit_exact_without_copies(cockpit: Cockpit) -> None:
    display = Display(cockpit)
    telltale = start_telltale(cockpit, "--state", "5")
    role = display.wait_role("live")
    assert role["shows"] == "frame"
    assert numpy.array_equal(display.region(), telltale_picture(cockpit.folder, 5))
    telltale.signal(signal.SIGUSR1)
    picture = telltale_picture(cockpit.folder, 6)
    wait_for(lambda: numpy.array_equal(display.region(), picture), "the next state")
    telltale.stop()
    report = json.loads(telltale.stdout)
    assert report["delivered"] > 2
    assert report["copied_frames"] == report["copied_bytes"] == 0


def test_every_state_follows(cockpit: Cockpit) -> None:
    """Fast changes: each frame is right, and none is refused."""
    display = Display(cockpit)
    start_telltale(cockpit, "--cycle", "40")
    display.wait_role("live")
    wait_for(lambda: display.role()["shown_frames"] > 60, "many changes")
    assert [change["reason"] for change in display.role()["transitions"]] == ["none"]


def test_fallback_until_it_comes(cockpit: Cockpit) -> None:
    display = Display(cockpit)
    red = display.region()
    assert display.role()["state"] == "waiting"
    assert (red[:, :, 0] > 150).any(), "the pattern is seen"
    start_telltale(cockpit)
    display.wait_role("live")
    assert not numpy.array_equal(display.region(), red)


@pytest.mark.parametrize("fallback", ["blank", "pattern", "last", "own.png"])
def test_fallbacks(cockpit: Cockpit, fallback: str) -> None:
    own = telltale_picture(cockpit.folder, 9)
    (cockpit.folder / "telltale-9.png").rename(cockpit.folder / "own.png")
    display = Display(cockpit, ROLE + f"fallback={fallback}\n")
    telltale = start_telltale(cockpit, "--state", "3")
    display.wait_role("live")
    live = display.region()
    telltale.kill()
    role = display.wait_role("lost", "died")
    assert role["shows"] == "fallback"
    shown = display.region()
    match fallback:
        case "blank":
            assert not shown.any()
        case "pattern":
            assert shown.any() and not numpy.array_equal(shown, live)
        case "last":
            assert numpy.array_equal(shown, live)
        case "own.png":
            assert numpy.array_equal(shown, own)


def test_last_of_pictures_that_move(cockpit: Cockpit) -> None:
    """A stream may end while its newest picture is not on the display yet: the one before is."""
    names = [f"light{number}" for number in range(8)]
    roles = "".join(
        f"[role {name}]\ndomain=open\nx={number * 80}\ny=0\nwidth=64\nheight=32\n"
        "deadline-ms=10000\nfallback=last\n"
        for number, name in enumerate(names)
    )
    display = Display(cockpit, roles)
    pattern = display.screenshot()
    lights = {
        name: start_telltale(cockpit, f"--stream=safety/{name}", "--size=64x32", "--cycle=16")
        for name in names
    }
    for name in names:
        display.wait_role("live", name=name)
    for light in lights.values():
        light.kill()
    for name in names:
        display.wait_role("lost", "died", name)
    shown = display.screenshot()
    for x in range(0, 640, 80):
        assert not numpy.array_equal(shown[:32, x : x + 64], pattern[:32, x : x + 64])


def test_who_comes_late_to_a_still_light_sees_it(cockpit: Cockpit) -> None:
    """Also where no heartbeat sends it again."""
    telltale = start_telltale(cockpit, "--heartbeat", "0", "--state", "5")
    wait_for(
        lambda: any(s["name"] == "safety/telltale" for s in cockpit.status("open")["streams"]),
        "the stream",
    )
    for _ in range(2):
        assert numpy.array_equal(snap_telltale(cockpit), telltale_picture(cockpit.folder, 5))
    telltale.stop()
    assert json.loads(telltale.stdout)["frames"] == 1


def test_late_when_it_stops(cockpit: Cockpit) -> None:
    display = Display(cockpit, with_deadline(DEADLINE_MS))
    telltale = start_telltale(cockpit)
    display.wait_role("live")
    telltale.signal(signal.SIGSTOP)
    role = display.wait_role("late", "deadline")
    late = role["transitions"][-1]
    waited = (late["decided_ns"] - late["last_frame_ns"]) / 1e6
    assert waited >= DEADLINE_MS
    assert role["shows"] == "fallback"
    telltale.signal(signal.SIGCONT)
    display.wait_role("live")


def fallback_times(
    cockpit: Cockpit, rounds: int, deadline_ms: int
) -> tuple[list[float], list[float]]:
    """Of 20 telltales in each round, that are killed at random moments: how long it took from each
    loss to its fallback, in ms, which is less than 0 where this test had to wait; and the same
    without what all waited for others. They come back without a restart of the display, which has
    what a real one has: where it may, it runs before all others.
    """
    names = [f"light{number}" for number in range(20)]
    roles = "".join(
        f"[role {name}]\ndomain=open\nx={number % 8 * 80}\ny={number // 8 * 60}\n"
        f"width=64\nheight=32\ndeadline-ms={deadline_ms}\n"
        for number, name in enumerate(names)
    )
    display = Display(cockpit, roles, ("--realtime",))
    dice = random.Random(20)
    times, own = [], []
    programs = (*cockpit.gidds.values(), display.program)
    for _ in range(rounds):
        lights = {
            name: start_telltale(
                cockpit, f"--stream=safety/{name}", "--size=64x32", "--cycle=30", "--heartbeat=10"
            )
            for name in names
        }
        for name in names:
            display.wait_role("live", name=name)
        asked, killed, before = {}, {}, waited_ms(*programs)
        for name in dice.sample(names, len(names)):
            time.sleep(dice.uniform(0, 0.02))
            asked[name] = time.monotonic_ns()
            lights[name].signal(signal.SIGKILL)
            killed[name] = time.monotonic_ns()  # behind it: this test itself may have to wait
            lights[name].kill()
        taken = []
        for name in names:
            role = display.wait_role("lost", "died", name)
            assert role["shows"] == "fallback"
            gone = next(t for t in reversed(role["transitions"]) if t["from"] == "live")
            assert gone["shown_ns"] > asked[name]
            taken.append((gone["shown_ns"] - killed[name]) / 1e6)
        waited = waited_ms(*programs) - before
        own += [time - waited for time in taken]
        times += taken
    assert display.program.is_running()
    return times, own


def test_kills_at_random_moments(cockpit: Cockpit) -> None:
    """From loss to fallback each time; how soon is asked by test_times.py."""
    times, _ = fallback_times(cockpit, rounds=1, deadline_ms=10000)
    assert len(times) == 20


def test_both_daemons_die(cockpit: Cockpit) -> None:
    display = Display(cockpit)
    telltale = start_telltale(cockpit)
    display.wait_role("live")
    cockpit.restart("cluster")
    assert display.role()["state"] == "live", "frames need no gidd"
    telltale.kill()
    cockpit.restart("open")
    display.wait_role("lost")
    start_telltale(cockpit)
    display.wait_role("live")


def test_display_before_its_daemon(make_cockpit: Callable[..., Cockpit]) -> None:
    cockpit = make_cockpit()
    display = Display(cockpit)
    assert not display.status()["gidd"]
    cockpit.start_all()
    start_telltale(cockpit)
    display.wait_role("live")


def test_learns_what_is_allowed(cockpit: Cockpit) -> None:
    display = Display(cockpit)
    start_telltale(cockpit, "--cycle", "30")
    display.wait_role("live")
    hashes = cockpit.folder / "telltale.hashes"
    command: list[str | Path] = [BUILD / "cluster" / "gid-cluster", "--config", display.config]
    command += ["--learn", "telltale", "--output", hashes, "--seconds", "10"]
    learner = cockpit.run("cluster", command, "learner")
    assert learner.wait() == 0, learner.stderr
    learnt = [line for line in hashes.read_text().split("\n") if line and line[0] != "#"]
    assert len(learnt) == 16
