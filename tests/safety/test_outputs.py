# SPDX-License-Identifier: MIT
"""gid-cluster with several outputs: each shows what is meant for it, whatever the others do."""

import os
import signal
import time

import numpy
import pytest
from lib.cockpit import GIDCTL, Cockpit
from lib.display import (
    DISPLAY,
    HEIGHT,
    ROLE,
    WIDTH,
    Display,
    start_telltale,
    telltale_picture,
    with_deadline,
)
from lib.program import BUILD, Program, wait_for
from PIL import Image

from lab.domains.configuration import section

SIZES = {"centre": (1920, 720), "cluster": (1920, 720), "head-up": (800, 480)}
# The same place on each: what was meant for another output would be seen.
PLACES = {"centre": (200, 100), "cluster": (40, 20), "head-up": (40, 20)}
STATES = {"centre": 10, "cluster": 5, "head-up": 15}


def outputs(sizes: dict[str, tuple[int, int]]) -> str:
    return "[display]\nworst-frame=0\n" + "".join(
        f"[output {name}]\nwidth={width}\nheight={height}\nrefresh=60\nstream={name}\n"
        for name, (width, height) in sizes.items()
    )


def role(name: str, output: str) -> str:
    x, y = PLACES[name]
    return (
        f"[role {name}]\ndomain=open\noutput={output}\nx={x}\ny={y}\n"
        f"width={WIDTH}\nheight={HEIGHT}\ndeadline-ms=10000\nfallback=blank\n"
    )


ROLES = "".join(role(name, name) for name in SIZES)


def start_role(cockpit: Cockpit, name: str) -> Program:
    stream = f"--stream=safety/{name}"
    return start_telltale(cockpit, stream, "--state", str(STATES[name]), "--cycle", "0")


def expected(cockpit: Cockpit, name: str, is_live: bool = True) -> numpy.ndarray:
    """All pixels of the output."""
    width, height = SIZES[name]
    picture = numpy.zeros((height, width, 3), numpy.uint8)
    if is_live:
        x, y = PLACES[name]
        drawn = telltale_picture(cockpit.folder, STATES[name])
        picture[y : y + HEIGHT, x : x + WIDTH] = drawn
    return picture


def by_name(display: Display) -> dict[str, dict]:
    return {one["name"]: one for one in display.status()["outputs"]}


def layer(output: str, x: int, y: int) -> str:
    """Of the stream `movie`, as large as its pictures."""
    place = f"x={x}\ny={y}\nwidth={WIDTH}\nheight={HEIGHT}\n"
    return f"[layer on {output}]\ndomain=open\nstream=movie\noutput={output}\n{place}"


def test_no_wrong_pixel_on_any_of_three(cockpit: Cockpit) -> None:
    display = Display(cockpit, ROLES, display=outputs(SIZES))
    lights = {name: start_role(cockpit, name) for name in SIZES}
    for name in SIZES:
        display.wait_role("live", name=name)
    status = display.status()
    assert [one["output"] for one in status["outputs"]] == list(SIZES)
    assert [(one["width"], one["height"]) for one in status["outputs"]] == list(SIZES.values())
    assert status["output"] == "centre" and status["width"] == 1920
    assert [one["output"] for one in status["roles"]] == list(SIZES)
    for name in SIZES:
        assert numpy.array_equal(display.screenshot(name), expected(cockpit, name)), name
    lights["cluster"].kill()
    display.wait_role("lost", name="cluster")
    for name in SIZES:
        picture = expected(cockpit, name, is_live=name != "cluster")
        assert numpy.array_equal(display.screenshot(name), picture), name
    assert all(display.role(name)["state"] == "live" for name in ("centre", "head-up"))


def test_two_roles_of_one_stream(cockpit: Cockpit) -> None:
    """Its producer stands still: one output shows the fallback, and the other one the picture."""
    roles = role("centre", "centre").replace("deadline-ms=10000", "deadline-ms=300")
    roles += role("cluster", "cluster") + "stream=safety/centre\n"
    display = Display(cockpit, roles, display=outputs(SIZES))
    light = start_role(cockpit, "centre")
    for name in ("centre", "cluster"):
        display.wait_role("live", name=name)
    light.signal(signal.SIGSTOP)
    try:
        display.wait_role("late", "deadline", name="centre")
        blank = expected(cockpit, "centre", is_live=False)
        assert numpy.array_equal(display.screenshot("centre"), blank)
        lit = expected(cockpit, "cluster", is_live=False)
        x, y = PLACES["cluster"]
        lit[y : y + HEIGHT, x : x + WIDTH] = telltale_picture(cockpit.folder, STATES["centre"])
        assert numpy.array_equal(display.screenshot("cluster"), lit)
        assert display.role("cluster")["transition_count"] == 1
        display.wait_role("late", "deadline", name="cluster")
    finally:
        light.signal(signal.SIGCONT)
    for name in ("centre", "cluster"):
        display.wait_role("live", name=name)


def test_layers_are_where_the_configuration_says(cockpit: Cockpit) -> None:
    display = Display(cockpit, layer("cluster", 1000, 300), display=outputs(SIZES))
    start_telltale(cockpit, "--stream=movie", "--state=9", "--cycle=0")
    picture = expected(cockpit, "cluster", is_live=False)
    picture[300:380, 1000:1320] = telltale_picture(cockpit.folder, 9)
    wait_for(lambda: numpy.array_equal(display.screenshot("cluster"), picture), "the layer")
    assert not display.screenshot("centre").any() and not display.screenshot("head-up").any()


def test_gidctl_shows_each(cockpit: Cockpit) -> None:
    command = [BUILD / "cluster" / "gid-cluster", "--headless", "--config"]
    config = cockpit.folder / "three.conf"
    config.write_text(outputs(SIZES) + ROLES)
    cockpit.run("cluster", [*command, config]).wait_output("ready, with")
    program = cockpit.run("cluster", [GIDCTL, "top", "--once", "--interval", "0.2"])
    assert program.wait() == 0, program.stderr
    assert [f"Display {name}: " in program.stdout for name in SIZES] == [True] * 3


# --- the refreshes of a virtual one ---------------------------------------------------------------

# Such a refresh is no whole number of ns.
ODD = DISPLAY.replace("refresh=60", "refresh=59")
PERIOD_NS, PERIOD_60_NS = 1e9 / 59, 1e9 / 60
STOPPED_NS = 100_000_000


def off_refreshes(passed_ns: int) -> float:
    """What is missing to a whole number of refreshes, in ns."""
    return abs(passed_ns - round(passed_ns / PERIOD_NS) * PERIOD_NS)


def stop_a_while(program: Program) -> None:
    program.signal(signal.SIGSTOP)
    time.sleep(STOPPED_NS / 1e9)
    program.signal(signal.SIGCONT)


def test_a_virtual_screen_has_refreshes(cockpit: Cockpit) -> None:
    """At fixed times, also when the display is late by several: they are not moved."""
    display = Display(cockpit, with_deadline(200), display=ODD)
    light = start_telltale(cockpit, "--cycle", "5")
    for _ in range(4):
        display.wait_role("live")
        light.signal(signal.SIGSTOP)
        display.wait_role("late")
        light.signal(signal.SIGCONT)
        stop_a_while(display.program)
    role = display.wait_role("live")
    changes = [one for one in role["transitions"] if "live" in (one["from"], one["to"])]
    shown = [one["shown_ns"] for one in changes]
    assert len(shown) >= 8
    assert max(off_refreshes(at - shown[0]) for at in shown) < 2, shown
    assert all(one["shown_ns"] > one["decided_ns"] for one in changes)


# Each passes in a refresh of its own, or shares one with the next: so there is always news.
DEADLINES = "".join(
    section(
        f"role {number}",
        f"domain=open stream=safety/telltale x={8 * number} width=8 height=8 fallback=blank "
        f"deadline-ms={1000 + 10 * number}",
    )
    for number in range(30)
)


def test_refreshes_that_were_missed_are_counted(cockpit: Cockpit) -> None:
    """Where there was something to show, which is known of what the display decides itself: a light
    may be late on a busy machine, and who has nothing to show misses no refresh."""
    display = Display(cockpit, DEADLINES, display=ODD)
    light = start_telltale(cockpit, "--size=8x8", "--cycle", "5")
    before = display.status()
    missed = int(STOPPED_NS / PERIOD_NS) - 1  # one may have been given before

    def are(state: str) -> bool:
        return {role["state"] for role in display.status()["roles"]} == {state}

    def has_missed_them(eighths: int) -> bool:
        """Not where a frame was given already, which is not late then: for half of a refresh."""
        wait_for(lambda: are("live"), "all roles to be live")
        light.signal(signal.SIGSTOP)
        wait_for(lambda: not are("live"), "the first deadline", pause=0.001)
        time.sleep(eighths / 8 * PERIOD_NS / 1e9)
        stop_a_while(display.program)
        wait_for(lambda: are("late"), "the last deadline")
        light.signal(signal.SIGCONT)
        status = display.status()
        times = status["longest_gap_ns"], status["late_recent_max_ns"]
        return min(times) >= missed * PERIOD_NS

    assert any(map(has_missed_them, range(8))), "a gap as long as the display stood still"
    after = display.status()
    assert after["skipped_refreshes"] >= before["skipped_refreshes"] + missed
    assert off_refreshes(after["longest_gap_ns"]) < 2


def test_a_virtual_screen_is_paced(cockpit: Cockpit) -> None:
    display = Display(cockpit, display=DISPLAY + "pacing=on\n")
    start_telltale(cockpit, "--cycle", "5")
    display.wait_role("live")
    wait_for(lambda: display.status()["paced_frames"] > 30, "frames that teach it")
    assert display.status()["pacing"] not in ("off", "bound")


def test_what_comes_before_a_refresh_is_shown_by_it(cockpit: Cockpit) -> None:
    """Also while pictures follow each other: half of the fallbacks have half of a refresh left, and
    not all of it. Were frames composed right after a refresh, each would be shown a refresh later,
    unless the thread is late. A busy machine is late, but not for long."""
    display = Display(cockpit, with_deadline(20) + "good-frames=1\n")
    status = display.status()
    half, more = PERIOD_60_NS / 2, status["frame_bound_ns"] + PERIOD_60_NS / 8
    assert status["pacing"] == "bound"
    assert status["window_ns"] == pytest.approx(min(max(half, more), PERIOD_60_NS), abs=2)
    start_telltale(cockpit, "--cycle", "47")  # each picture but the first comes after a fallback

    def are_soon() -> bool:
        changes = [one for one in display.role()["transitions"] if one["reason"] == "deadline"]
        took = [one["shown_ns"] - one["due_ns"] for one in changes if one["shown_ns"]]
        return len(took) > 25 and sum(ns < PERIOD_60_NS for ns in took) > 0.4 * len(took)

    wait_for(are_soon, "fallbacks that are shown within a refresh")


def test_a_window_is_composed_at_once(cockpit: Cockpit) -> None:
    """Nobody knows how long before its refresh the compositor around it takes its picture."""
    _, display = two_in_windows(cockpit)
    display.wait_role("live", name="cluster")
    assert {one["pacing"] for one in display.status()["outputs"]} == {"off"}
    assert all(one["window_ns"] == one["refresh_ns"] for one in display.status()["outputs"])


def test_each_picture_that_is_shown_is_told(cockpit: Cockpit) -> None:
    """Though others have come until the refresh that shows it."""
    display = Display(cockpit, ROLE)
    start_telltale(cockpit, "--cycle", "3")
    display.wait_role("live")
    before = display.status()
    wait_for(lambda: display.status()["frames"] > before["frames"] + 60, "frames")
    after = display.status()
    frames = after["frames"] - before["frames"]
    told = after["roles"][0]["latency_count"] - before["roles"][0]["latency_count"]
    assert abs(told - frames) <= 2, (told, frames)


# --- one goes away --------------------------------------------------------------------------------

WINDOWS = {"WL-1": (640, 240), "WL-2": (480, 240)}


class Windows:
    """A compositor that each output is a window of."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.fifo, self.socket = cockpit.folder / "close", cockpit.folder / "windows.sock"
        os.mkfifo(self.fifo)
        command = [BUILD / "tests" / "safety" / "windows", self.socket, self.fifo]
        self.program = cockpit.run("cluster", command)
        self.program.wait_output("ready")

    def close(self, output: str) -> None:
        self._say(output)

    def resize(self, output: str, width: int, height: int) -> None:
        self._say(f"{output} {width}x{height}")

    def _say(self, line: str) -> None:
        with self.fifo.open("w") as fifo:
            fifo.write(line)


def two_in_windows(cockpit: Cockpit, count: int = 2, layers: str = "") -> tuple[Windows, Display]:
    windows = Windows(cockpit)
    roles = role("centre", "WL-1") + role("cluster", "WL-2") + layers
    inside = {"WAYLAND_DISPLAY": str(windows.socket), "WLR_BACKENDS": "wayland"}
    inside["WLR_WL_OUTPUTS"] = str(count)
    display = Display(cockpit, roles, display=outputs(WINDOWS), inside=inside)
    for name in ("centre", "cluster"):
        start_role(cockpit, name)
    return windows, display


def region(display: Display, name: str, output: str) -> numpy.ndarray:
    x, y = PLACES[name]
    return display.screenshot(output)[y : y + HEIGHT, x : x + WIDTH]


def is_shown(cockpit: Cockpit, display: Display, name: str, output: str) -> bool:
    drawn = telltale_picture(cockpit.folder, STATES[name])
    return numpy.array_equal(region(display, name, output), drawn)


def test_an_output_that_goes_away_leaves_the_others(cockpit: Cockpit) -> None:
    layers = layer("WL-1", 40, 120) + layer("WL-2", 40, 120)
    windows, display = two_in_windows(cockpit, layers=layers)
    for name in ("centre", "cluster"):
        display.wait_role("live", name=name)
    assert is_shown(cockpit, display, "cluster", "WL-2")
    windows.close("WL-1")
    wait_for(lambda: by_name(display)["WL-1"]["output"] == "", "the output to be gone")
    display.wait_said("output WL-1 is gone")
    frames = by_name(display)["WL-2"]["frames"]
    light = start_telltale(cockpit, "--stream=movie", "--state=3", "--cycle=20")
    wait_for(lambda: by_name(display)["WL-2"]["frames"] >= frames + 30, "the other to go on")
    assert is_shown(cockpit, display, "cluster", "WL-2")
    assert display.role("cluster")["state"] == "live"
    # Layers are read on, where they are seen and where they are not.
    wait_for(
        lambda: [one["state"] for one in display.status()["layers"]] == ["live", "live"],
        "both layers to be live",
    )
    # The light of the dark output is watched over still.
    assert display.role("centre")["state"] == "live"
    light.kill()
    transitions = [one["reason"] for one in display.role("cluster")["transitions"]]
    assert transitions == ["none"]
    assert display.program.stop() == 0


# On which is a part of its role, and nothing of it; and the upper part.
@pytest.mark.parametrize(("width", "height"), [(400, 240), (160, 240), (640, 140)])
def test_an_output_that_becomes_smaller(cockpit: Cockpit, width: int, height: int) -> None:
    """As if another display were plugged in: what it cannot show is not live, and stays so."""
    windows, display = two_in_windows(cockpit)
    for name in ("centre", "cluster"):
        display.wait_role("live", name=name)
    windows.resize("WL-1", width, height)

    def is_off_output() -> bool:  # and nothing of it may be shown any more
        role = display.role("centre")
        return (role["state"], role["reason"]) == ("wrong", "off-output")

    wait_for(is_off_output, "the role to be off its output")
    assert by_name(display)["WL-1"]["width"] == width
    assert by_name(display)["WL-1"]["height"] == height
    seen = display.role("centre")["refused_frames"]
    wait_for(
        lambda: display.role("centre")["refused_frames"] >= seen + 10, "more frames to be refused"
    )
    reasons = [one["reason"] for one in display.role("centre")["transitions"]]
    assert reasons == ["none", "off-output"]
    smaller = (height, width, 3)
    wait_for(lambda: display.screenshot("WL-1").shape == smaller, "the smaller picture")
    assert not display.screenshot("WL-1").any()
    assert display.role("cluster")["state"] == "live"
    assert is_shown(cockpit, display, "cluster", "WL-2")
    windows.resize("WL-1", *WINDOWS["WL-1"])
    display.wait_role("live", name="centre")
    wait_for(lambda: is_shown(cockpit, display, "centre", "WL-1"), "it to be shown again")
    assert display.program.stop() == 0


def test_a_background_follows_its_output(cockpit: Cockpit) -> None:
    """As another display may be larger than the one before: it is drawn anew, not cut off."""
    picture = cockpit.folder / "blue.png"
    Image.new("RGB", (8, 8), (0, 0, 255)).save(picture)
    layers = f"[output WL-1]\nbackground={picture}\n"
    windows, display = two_in_windows(cockpit, layers=layers)

    def is_blue(width: int, height: int) -> bool:
        shown = display.screenshot("WL-1")
        return shown.shape == (height, width, 3) and bool((shown[190:] == (0, 0, 255)).all())

    wait_for(lambda: is_blue(640, 240), "the background")
    for size in ((800, 400), (320, 200), (320, 220)):
        windows.resize("WL-1", *size)
        wait_for(lambda size=size: is_blue(*size), f"a background of {size}")
    assert display.program.stop() == 0


def test_an_output_that_is_not_there_at_the_start(cockpit: Cockpit) -> None:
    _, display = two_in_windows(cockpit, count=1)
    display.wait_said("output WL-2 is not there: dark until it comes")
    display.wait_role("live", name="centre")
    assert is_shown(cockpit, display, "centre", "WL-1")
    assert by_name(display)["WL-2"]["output"] == ""


def test_an_only_output_of_another_name(cockpit: Cockpit) -> None:
    """It ends, and says which outputs there are: nothing could be shown."""
    windows, config = Windows(cockpit), cockpit.folder / "other.conf"
    config.write_text("[display]\nworst-frame=0\noutput=HDMI-A-1\n")
    where = {"WAYLAND_DISPLAY": str(windows.socket), "WLR_BACKENDS": "wayland"}
    program = cockpit.run("cluster", [BUILD / "cluster/gid-cluster", "--config", config], **where)
    assert program.wait() == 1
    assert "output WL-1 stays dark: the configuration does not name it" in program.stderr
    assert "no screen to show anything on: output=HDMI-A-1" in program.stderr


def test_all_outputs_gone_and_it_lives(cockpit: Cockpit) -> None:
    windows, display = two_in_windows(cockpit)
    windows.close("WL-")
    wait_for(lambda: not any(o["output"] for o in display.status()["outputs"]), "all to be gone")
    time.sleep(0.5)  # timers of frames that were on their way
    assert display.program.is_running()
    assert display.program.stop() == 0


def test_the_device_of_the_screens_goes_away(cockpit: Cockpit) -> None:
    """It says so and ends, for whoever keeps it running: the next one finds what is there then."""
    windows, display = two_in_windows(cockpit)
    display.wait_role("live", name="cluster")
    windows.program.kill()
    assert display.program.wait() != 0
    said = "the device of the screen is gone: ending, to be started again"
    assert said in display.program.stderr
    windows.fifo.unlink()
    windows.socket.unlink()
    _, again = two_in_windows(cockpit)
    again.wait_role("live", name="cluster")
    assert is_shown(cockpit, again, "cluster", "WL-2")
