# SPDX-License-Identifier: MIT
"""Guests of ARM64 and a host that is not: frames arrive as they were sent, in both directions."""

import signal
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from gid_vm.architecture import OWN, by_name
from gid_vm.system import System, build_of, why_no_system
from guests import SECONDS, Machines, Running
from kills import Victim
from lib.display import DISPLAY, HEIGHT, ROLE, WIDTH, Display, telltale_picture
from lib.pipeline import LOSSLESS
from lib.program import BUILD, wait_for
from lib.snapshot import snap

from lab.domains.configuration import configuration

FRAMES = 60
PAGES = {"arm64": 4096, "arm64-16k": 16384}  # in bytes
REASON = next(filter(None, (why_no_system(by_name(name)) for name in PAGES)), None)
REASON = "that is this machine's own" if by_name("arm64").is_own else REASON

pytestmark = [
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.timeout(1800),
]


class Mixed(Machines):
    """Its guest's programs are those of the other build."""

    there = System(build=build_of(by_name("arm64")))

    def start(self, domain: str, *words: str | Path, **options: object) -> Running:
        if domain != "host":
            words = tuple(self.there.translate(str(word)) for word in words)
        return super().start(domain, *words, **options)


@pytest.fixture(scope="module", params=PAGES)
def machines(request: pytest.FixtureRequest) -> Iterator[Mixed]:
    guest = f"kind=guest vm-arch={request.param} window=32M vm-memory=768M"
    domains = {"open": guest, "host": "kind=host window=32M"}
    config = configuration(domains, {"open host": "*", "host open": "*"}, runtime="/run/gidway")
    machines = Mixed(config + f"[link open host]\nkind=ivshmem\nsilence={int(SECONDS)}\n")
    try:
        machines.boot("open")
        machines.pages = PAGES[request.param]
        yield machines
    finally:
        machines.close()


def test_it_is_of_another_kind(machines: Mixed) -> None:
    ask = "import os; print(os.uname().machine, os.sysconf('SC_PAGESIZE'))"
    said = machines.run("open", "python3", "-c", ask).out.split()
    assert said == ["aarch64", str(machines.pages)]
    assert said[0] != OWN.linux


def test_its_windows_are_no_memory_of_a_device(machines: Mixed) -> None:
    """Else a read that is not aligned would end a program."""

    def opened() -> list[str]:
        log = machines.run("open", "cat", "/var/log/gidd.log").out
        return [line for line in log.splitlines() if ": /sys/" in line and "window" in line]

    lines = wait_for(opened, "a window to be opened", SECONDS)
    assert all("/resource2_wc," in line for line in lines), lines


@pytest.mark.parametrize(("owner", "reader"), [("open", "host"), ("host", "open")])
@pytest.mark.parametrize("caps", ["I420,width=322,height=242", "BGRx,width=320,height=240"])
def test_frames(machines: Mixed, owner: str, reader: str, caps: str) -> None:
    watch = f"gidsrc domain={owner} stream=movie ! fakesink name=watch sync=false"
    receiver = machines.play(reader, watch, "--video-meta", "1")
    source = f"videotestsrc pattern=ball num-buffers={FRAMES} ! video/x-raw,format={caps}"
    source += ",framerate=60/1 ! identity name=watch"
    sender = machines.play(owner, f"{source} ! gidsink name=sink stream=movie {LOSSLESS}")
    for end in (sender, receiver):
        result = end.finish()
        assert result.code == 0, f"{result.out[-2000:]}\n{result.err[-2000:]}"
    sent, received = ([frame["sum"] for frame in end.lines("frame")] for end in (sender, receiver))
    assert len(received) == FRAMES and received == sent
    assert len(set(sent)) > FRAMES // 3
    stats = [m["fields"] for m in sender.lines("bus") if m.get("name") == "gid-sink-stats"][-1]
    assert (stats["copied-frames"], stats["copied-bytes"], stats["dropped"]) == (0, 0, 0)


def test_a_telltale_on_the_hosts_display(machines: Mixed, tmp_path: Path) -> None:
    display = Display(machines.host, ROLE, domain="host")
    telltale = machines.start("open", BUILD / "clients/gid-telltale", "--state", "5")
    wait_for(lambda: display.role()["state"] == "live", "the telltale", SECONDS)
    picture = telltale_picture(tmp_path, 5)
    wait_for(lambda: numpy.array_equal(display.region(), picture), "its picture", SECONDS)
    display.program.stop()
    telltale.signal(signal.SIGTERM)
    telltale.finish()


def test_the_hosts_telltale_on_its_display(machines: Mixed, tmp_path: Path) -> None:
    """The host has its screen as a stream. It is confined, for its kernel has other calls than
    x86-64's: one that is forgotten would end it.
    """
    shows = DISPLAY + ROLE.replace("domain=open", "domain=host")
    machines.run("open", "sh", "-c", "cat >/run/display.conf", stdin=shows.encode())
    words = [BUILD / "cluster/gid-cluster", "--headless", "--confine"]
    display = machines.start("open", *words, "--config", "/run/display.conf")
    picture = telltale_picture(tmp_path, 5)

    def is_shown() -> bool:
        assert display.is_running, display.err
        screen = snap(machines.host, "host", "open", "screen")
        return numpy.array_equal(screen[20 : 20 + HEIGHT, 40 : 40 + WIDTH], picture)

    wait_for(lambda: "confined to" in display.err, "it to be confined", SECONDS)
    assert not is_shown()
    for _ in range(2):
        telltale = machines.start("host", BUILD / "clients/gid-telltale", "--state", "5")
        wait_for(is_shown, "its picture", SECONDS)
        telltale.signal(signal.SIGKILL)
        wait_for(lambda: not is_shown(), "its fallback", SECONDS)
    display.signal(signal.SIGTERM)
    result = display.finish()
    assert result.code == 0, f"{result.code}: {result.err[-2000:]}"


def test_killed_and_back(machines: Mixed) -> None:
    """The last test: what the guest held of the host's comes back, and so does its stream."""
    victim = Victim(machines, "open", 36)
    victim.stream()
    victim.die_and_come_back()
    assert victim.consumers[0].lines("torn")[-1]["torn"] == 0
