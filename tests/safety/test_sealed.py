# SPDX-License-Identifier: MIT
"""A sealed cockpit: what runs goes on, fallbacks come and go, and nothing new is begun."""

import json
import re
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.cockpit import DEFAULT_CONFIG, GIDCTL, Cockpit
from lib.counted import GIVING_BACK, CountedCalls, by_object
from lib.display import ROLE, Display, start_telltale, stays, with_deadline
from lib.pipeline import gst_env
from lib.program import BUILD, CONFINE, wait_for

FREE = ("env",)  # under which a display is not confined
HOWS = ["confined", "free"] if CONFINE else ["free"]
LAYER = "[layer film]\ndomain=open\nx=0\ny=120\nwidth=320\nheight=80\n"
# A role whose frames are protected from end to end.
GUARDED = "[role guarded]\ndomain=open\nx=320\ny=120\nwidth=320\nheight=80\n"
GUARDED += "deadline-ms=10000\nprotection=crc64\n"
FRAMES = 1200  # of the display, while its calls are counted


def gidctl(cockpit: Cockpit, *words: str) -> None:
    done = cockpit.run("cluster", [GIDCTL, *words])
    assert done.wait() == 0, done.stderr


def seal(cockpit: Cockpit, display: Display) -> None:
    gidctl(cockpit, "seal")
    wait_for(lambda: display.status()["sealed"], "the display to hear of it")


def start_film(cockpit: Cockpit, display: Display) -> None:
    """Until it is shown: a sealed display takes no stream that is new."""
    start_telltale(cockpit, "--stream=film", "--cycle=20")
    wait_for(lambda: [one["state"] for one in display.status()["layers"]] == ["live"], "the film")


def ask_at_once(display: Display) -> None:
    """More connections than it answers, all closed at once."""
    peers = [socket.socket(socket.AF_UNIX) for _ in range(64)]
    for peer in peers:
        peer.connect(str(display.status_path))
    for peer in peers:
        peer.close()


def start_guarded(cockpit: Cockpit) -> None:
    pictures = "video/x-raw,format=BGRx,width=320,height=80,framerate=30/1"
    command = ["gst-launch-1.0", "-q", "videotestsrc", "is-live=true", "pattern=ball", "!"]
    command += [pictures, "!", "gidsink", "stream=safety/guarded", "protection=crc64"]
    cockpit.run("open", command, **gst_env({}, cockpit.folder / "registry.bin"))


def threads(display: Display) -> int:
    return len(list(Path(f"/proc/{display.program.pid}/task").iterdir()))


@pytest.fixture
def cockpit(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(DEFAULT_CONFIG)
    cockpit.start_all()
    return cockpit


@pytest.mark.parametrize("how", HOWS)
def test_live_fallback_and_back(cockpit: Cockpit, how: str) -> None:
    """Of the streams that there are. A producer that dies is not replaced until the unseal."""
    under = () if how == "confined" else FREE
    display = Display(cockpit, with_deadline(1000) + LAYER, under=under)
    telltale = start_telltale(cockpit, "--cycle", "5")
    start_film(cockpit, display)
    display.wait_role("live")
    seal(cockpit, display)
    for _ in range(3):
        ask_at_once(display)
        telltale.signal(signal.SIGSTOP)
        display.wait_role("late")
        telltale.signal(signal.SIGCONT)
        display.wait_role("live")
    telltale.kill()
    display.wait_role("lost")
    start_telltale(cockpit, "--cycle", "5")
    wait_for(lambda: cockpit.status("open")["streams"], "another telltale")
    assert stays(lambda: display.role()["state"] == "lost", 2.5)
    frames = display.status()["frames"]
    wait_for(lambda: display.status()["frames"] > frames + 60, "the layer's frames")
    gidctl(cockpit, "unseal")
    if how == "confined":  # for good: whoever started it starts it again
        assert display.program.wait() == 1
        display.wait_said("confined for good")
        display = Display(cockpit, ROLE)
    display.wait_role("live")
    assert display.program.stop() == 0, display.program.stderr


@pytest.mark.parametrize("how", HOWS)
def test_gidd_dies_and_the_seal_with_it(cockpit: Cockpit, how: str) -> None:
    """Streams go on without it; the next one is not sealed, and the display hears that."""
    display = Display(cockpit, under=() if how == "confined" else FREE)
    telltale = start_telltale(cockpit, "--cycle", "5")
    display.wait_role("live")
    seal(cockpit, display)
    cockpit.kill("cluster")
    frames = display.role()["frames"]
    wait_for(lambda: display.role()["frames"] > frames + 120, "frames without gidd")
    assert display.status()["sealed"] and display.role()["state"] == "live"
    cockpit.start("cluster")
    if how == "confined":
        assert display.program.wait() == 1
        display.wait_said("confined for good")
        return
    wait_for(lambda: not display.status()["sealed"], "the display to hear of it")
    telltale.kill()
    display.wait_role("lost")
    start_telltale(cockpit, "--cycle", "5")
    display.wait_role("live")


def test_one_that_begins_in_a_sealed_domain_shows_its_fallback(cockpit: Cockpit) -> None:
    start_telltale(cockpit, "--cycle", "5")
    gidctl(cockpit, "seal")
    display = Display(cockpit, under=FREE)
    wait_for(lambda: display.status()["sealed"], "the display to hear of it")
    assert stays(lambda: display.role()["state"] == "waiting", 1.5)
    gidctl(cockpit, "unseal")
    display.wait_role("live")


def test_calls_after_the_seal(make_cockpit: Callable[..., Cockpit], tmp_path: Path) -> None:
    """For ./run assurance: neither gidd nor the display, with all their libraries, takes memory,
    opens or maps while the role is live, lost, and live again.
    """
    cockpit = make_cockpit(DEFAULT_CONFIG)
    counted = CountedCalls(tmp_path)
    cockpit.start("open")
    cockpit.start("cluster", counted.under)
    cockpit.wait_links()
    display = Display(cockpit, with_deadline(1000) + GUARDED + LAYER, under=counted.under)
    telltale = start_telltale(cockpit, "--cycle", "5")
    start_film(cockpit, display)
    start_guarded(cockpit)
    display.wait_role("live")
    display.wait_role("live", name="guarded")
    before = display.role()["transition_count"]
    seal(cockpit, display)
    told = threads(display)
    programs = {"gidd": cockpit.gidds["cluster"], "gid-cluster": display.program}
    tables = {name: counted.of(program) for name, program in programs.items()}
    frames, begin = display.status()["frames"], time.monotonic()
    start = {name: table.calls() for name, table in tables.items()}
    for _ in range(2):
        time.sleep(FRAMES / 60 / 4)
        telltale.signal(signal.SIGSTOP)
        time.sleep(FRAMES / 60 / 4)
        telltale.signal(signal.SIGCONT)
    end = {name: table.calls() for name, table in tables.items()}
    seconds, shown = time.monotonic() - begin, display.status()["frames"] - frames
    made = {name: by_object(end[name] - start[name], *GIVING_BACK) for name in tables}
    display.wait_role("live")
    assert display.role()["transition_count"] >= before + 4, "it was lost twice, and live again"
    assert display.role("guarded")["state"] == "live"
    (BUILD / "calls-after-seal.json").write_text(
        json.dumps(
            {
                "seconds": round(seconds, 1),
                "frames": shown,
                "gidd": sum(calls.total() for calls in made["gidd"].values()),
                "gid-cluster": sum(calls.total() for calls in made["gid-cluster"].values()),
            },
            indent=1,
        )
    )
    assert made["gidd"] == {}, made["gidd"]
    assert made["gid-cluster"] == {}, made["gid-cluster"]
    assert threads(display) <= told


def test_memory_is_known_before(cockpit: Cockpit) -> None:
    """The table of --check: the size of the pictures, and each thread that a sealed one has."""
    display = Display(cockpit, ROLE + LAYER, under=FREE)
    command = [display.command, "--check", "--config", display.config]
    check = cockpit.run("cluster", command, "check")
    assert check.wait() == 0, check.stderr
    (told,) = (line for line in check.stdout.splitlines() if line.startswith("memory: "))
    found = re.fullmatch(
        r"memory: ([\d.]+) MiB for pictures, ([\d.]+) for outputs, [\d.]+ for subscriptions, "
        r"[\d.]+ for (\d+) more threads, [\d.]+ for the first: ([\d.]+) MiB in all",
        told,
    )
    assert found is not None, told
    pictures, outputs = float(found[1]), float(found[2])
    assert pictures == pytest.approx(2 * 5 * 320 * 80 * 4 / 2**20, abs=0.1)
    assert outputs == pytest.approx(8 * 640 * 240 * 4 / 2**20, abs=0.1)
    start_telltale(cockpit)
    display.wait_role("live")
    seal(cockpit, display)
    others = threads(display) - 1
    assert others == int(found[3]) - 2, "all but those of the roles' state and of a device"
