# SPDX-License-Identifier: MIT
"""gid-meter: a picture for each refresh of the display that shows it; by a timer for who tells
nothing; and on, whoever holds its memory or dies.
"""

import ctypes
import json
import signal
import time
from collections.abc import Iterator

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import Display
from lib.program import BUILD, PATIENCE, Program, wait_for
from lib.stream_reader import Frame, StreamReader

LIBGID = BUILD / "libgid" / "libgid.so"
SLOTS = 5
CREDIT = 4  # of a reader that asks for no other
SIZE = (160, 60)
LAYER = "\n[layer meter]\nx=20\ny=10\nwidth=160\nheight=60\n"
CONFIG = "[display]\nwidth=320\nheight=120\nrefresh={refresh}\nworst-frame=0\n"


def start_meter(cockpit: Cockpit, *options: str) -> Program:
    size = "{}x{}".format(*SIZE)
    return cockpit.run(
        "cluster", [BUILD / "clients" / "gid-meter", "--stream=meter", f"--size={size}", *options]
    )


def report_of(meter: Program) -> dict:
    assert meter.stop() == 0, meter.stderr
    return json.loads(meter.stdout)


def show(cockpit: Cockpit, refresh: int = 60) -> Display:
    return Display(cockpit, LAYER, display=CONFIG.format(refresh=refresh))


def shown_by(display: Display) -> int:
    (layer,) = display.status()["layers"]
    return layer["shown_frames"]


def wait_shown(display: Display, count: int) -> None:
    wait_for(lambda: shown_by(display) >= count, f"{count} pictures")


@pytest.fixture
def reader(cockpit: Cockpit) -> Iterator[StreamReader]:
    """That is there before the meter."""
    with StreamReader(LIBGID, cockpit.socket("cluster"), "meter") as reader:
        yield reader


def report_of_three_seconds(cockpit: Cockpit, refresh: int) -> dict:
    display = show(cockpit, refresh)
    meter = start_meter(cockpit, "--rate=60")
    wait_shown(display, 3 * refresh)
    return report_of(meter)


@pytest.mark.parametrize("refresh", [60, 30])
def test_a_picture_for_each_refresh(cockpit: Cockpit, refresh: int) -> None:
    """Of the display, whatever the timer's rate is: also of half of it."""
    report = report_of_three_seconds(cockpit, refresh)
    assert report["measured"] == "shown"
    # A busy display is late; the timer's time would be half of that.
    assert report["interval_p50_us"] * refresh / 1e6 >= 0.95
    assert 0 < report["shown"] <= report["drawn"]
    assert report["interval_max_us"] >= report["interval_p99_us"] >= report["interval_p50_us"]
    assert report["rate"] == pytest.approx((report["shown"] - 1) / report["seconds"], rel=0.01)


def test_who_was_late(cockpit: Cockpit) -> None:
    """The meter, which stood still: the display had nothing new to show."""
    display = show(cockpit)
    meter = start_meter(cockpit)
    wait_shown(display, 30)
    meter.signal(signal.SIGSTOP)
    time.sleep(0.5)
    before = shown_by(display)
    meter.signal(signal.SIGCONT)
    wait_shown(display, before + 30)
    report = report_of(meter)
    assert report["late_max_us"] > 300000 and report["interval_max_us"] > 300000


def test_by_a_timer(cockpit: Cockpit, reader: StreamReader) -> None:
    """The reader has no display."""
    meter = start_meter(cockpit, "--rate=20")
    pictures = [reader.next() for _ in range(40)]
    report = report_of(meter)
    assert report["measured"] == "taken"
    assert report["interval_p50_us"] >= 45000
    assert 0 < report["shown"] <= report["drawn"]
    assert pictures[0].pixels.shape == (SIZE[1], SIZE[0], 3)
    assert not numpy.array_equal(pictures[0].pixels, pictures[-1].pixels), "the needles move"


def test_nobody_reads(cockpit: Cockpit) -> None:
    meter = start_meter(cockpit, "--seconds=1")
    assert meter.wait(PATIENCE) == 0, meter.stderr
    report = json.loads(meter.stdout)
    assert report["measured"] == "taken"
    assert report["shown"] == report["rate"] == report["interval_max_us"] == 0
    assert report["drawn"] > 0


def sent(cockpit: Cockpit) -> int:
    """Pictures, whoever got them."""
    rings = [one.get("producer_counts") for one in cockpit.status("cluster")["subscriptions"]]
    return sum(ring["frames"] for ring in rings if ring)


@pytest.mark.parametrize("renews", [False, True])
def test_it_gets_its_memory_back(cockpit: Cockpit, reader: StreamReader, renews: bool) -> None:
    """From a reader that holds all that it may, also if it says again and again that it lives."""
    meter = start_meter(cockpit)
    held = 0
    while held < CREDIT:
        assert reader.wait(PATIENCE)
        held += reader.lib.gid_consumer_receive(reader.consumer, ctypes.byref(Frame())) == 1

    def goes_on() -> bool:
        if renews:
            reader.check(reader.lib.gid_consumer_renew(reader.consumer))
        return sent(cockpit) > 2 * SLOTS

    wait_for(goes_on, "more pictures than there is memory for")
    report = report_of(meter)
    assert report["starved"] > 0
    assert report["drawn"] > SLOTS


def test_the_display_dies(cockpit: Cockpit) -> None:
    """The meter goes on, and follows the next one."""
    display = show(cockpit)
    meter = start_meter(cockpit)
    wait_shown(display, 30)
    before = display.status()["layers"][0]["shown_frames"]
    display.program.kill()
    display = show(cockpit)
    wait_shown(display, 20 * before)
    report = report_of(meter)
    assert report["measured"] == "shown"
    assert report["shown"] > before + 60, "by the second one, too"


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--stream=a b", "--stream"),
        ("--size=0x5", "--size"),
        ("--rate=0", "--rate"),
        ("--rate=501", "--rate"),
        ("--seconds=soon", "--seconds"),
        ("meter", "--stream"),
    ],
)
def test_wrong_options(cockpit: Cockpit, option: str, words: str) -> None:
    meter = cockpit.run("cluster", [BUILD / "clients" / "gid-meter", option])
    assert meter.wait() == 2
    assert words in meter.stderr


@pytest.mark.cockpit("[domain cluster]\nnumber=2\nlocal=other\n")
def test_what_is_wrong_is_said(cockpit: Cockpit) -> None:
    meter = start_meter(cockpit)
    assert meter.wait() == 1
    assert "meter" in meter.stderr and "local=" in meter.stderr
    assert meter.stdout == ""
