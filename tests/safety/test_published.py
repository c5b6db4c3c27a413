# SPDX-License-Identifier: MIT
"""What gid-cluster shows, as a stream: for screenshots, recorders, and those who look on."""

import signal

import numpy
import pytest
from lib.cockpit import GIDCTL, Cockpit
from lib.display import ROLE, Display, start_telltale, telltale_picture
from lib.pipeline import gst_env
from lib.program import Program, wait_for

UNPUBLISHED = "[display]\nworst-frame=0\nwidth=640\nheight=240\nrefresh=60\n"


def with_lamp(cockpit: Cockpit, state: int) -> numpy.ndarray:
    """The whole output."""
    picture = numpy.zeros((240, 640, 3), numpy.uint8)
    picture[20:100, 40:360] = telltale_picture(cockpit.folder, state)
    return picture


@pytest.fixture
def display(cockpit: Cockpit) -> Display:
    return Display(cockpit)


def test_a_screenshot_of_what_stands_still(cockpit: Cockpit, display: Display) -> None:
    """Whoever comes gets the picture, though nothing is composed anew."""
    start_telltale(cockpit, "--state", "5", "--cycle", "0")
    display.wait_role("live")
    expected = with_lamp(cockpit, 5)
    assert numpy.array_equal(display.screenshot(), expected)
    assert numpy.array_equal(display.screenshot(), expected)


def test_the_newest_picture(cockpit: Cockpit, display: Display) -> None:
    telltale = start_telltale(cockpit, "--state", "5")
    display.wait_role("live")
    for state in range(5, 9):
        picture = with_lamp(cockpit, state)
        wait_for(lambda p=picture: numpy.array_equal(display.screenshot(), p), "the lamp")
        telltale.signal(signal.SIGUSR1)


def test_a_reader_that_hangs(cockpit: Cockpit, display: Display) -> None:
    """It has its frames, and the display goes on; another reader gets its own."""
    start_telltale(cockpit, "--cycle", "20")
    display.wait_role("live")
    watch: Program = cockpit.run("cluster", [GIDCTL, "watch", "screen"])
    wait_for(lambda: cockpit.status("cluster")["subscriptions"], "the reader")
    watch.signal(signal.SIGSTOP)
    before = display.status()["frames"]
    # For which it would take minutes, if each had to wait for a lease, of one second.
    wait_for(lambda: display.status()["frames"] > before + 300, "frames")
    assert display.role()["state"] == "live"
    assert display.screenshot().any()
    watch.signal(signal.SIGCONT)


def test_its_daemon_comes_back(cockpit: Cockpit, display: Display) -> None:
    expected = display.screenshot()
    assert expected.any(), "the stripes of the fallback"
    cockpit.restart("cluster")

    def is_there() -> bool:
        try:
            return numpy.array_equal(display.screenshot(), expected)
        except AssertionError:  # nobody publishes it yet
            return False

    wait_for(is_there, "the stream of the new daemon")


def test_a_name_that_another_program_has(cockpit: Cockpit) -> None:
    """For a while, and also while its daemon is started anew: the picture is there afterwards."""
    caps = "video/x-raw,format=BGRx,width=64,height=48,framerate=10/1"
    words = ["gst-launch-1.0", "-q", "videotestsrc", "is-live=true", "!", caps, "!"]
    words += ["gidsink", "stream=screen"]
    other = cockpit.run("cluster", words, **gst_env({}, cockpit.folder / "registry.bin"))
    wait_for(lambda: cockpit.status("cluster")["streams"], "the other program's stream")
    display = Display(cockpit)
    display.wait_said("stream screen: ")
    cockpit.restart("cluster")
    wait_for(lambda: cockpit.status("cluster")["streams"], "its stream, again")
    other.kill()

    def is_there() -> bool:
        try:
            return display.screenshot().shape == (240, 640, 3)
        except AssertionError:  # nobody publishes it yet
            return False

    wait_for(is_there, "the display's stream")


def test_nothing_is_published_without_being_asked_for(cockpit: Cockpit) -> None:
    Display(cockpit, ROLE, display=UNPUBLISHED)
    assert cockpit.status("cluster")["streams"] == []
