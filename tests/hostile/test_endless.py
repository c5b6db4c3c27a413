# SPDX-License-Identifier: MIT
"""A producer that is faster than its readers: each does the other things that it has to do."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.engine import start_engine
from lib.pipeline import send, watch
from lib.program import BUILD, PATIENCE, Program, wait_for
from lib.session import Session

ENDLESS = BUILD / "tests/lib/programs/endless.so"
CAMERA = "videotestsrc is-live=true ! video/x-raw,format=BGRx,width=64,height=48,framerate=30/1"
ENGINE = "[canvas panel]\ndomain=open\nmemory=16M\nslots=6\nlist-ms=60000\nlease-ms=60000\n"
LAYOUT = "[canvas]\nengine=cluster\nname=panel\nwidth=64\nheight=48\n[layer a]\nstream=movie\n"
# More entries than anybody has to keep, and far less than there were in a second without a bound.
GROWTH = 100 << 20


class Flood:
    """What the readers are told that are started with its environment."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "endless"
        self._preload = Preload(ENDLESS)
        self.environment = self._preload.env | {"ENDLESS": str(self._file)}

    def touch(self) -> None:
        self._file.touch()

    def begin(self) -> None:
        self.touch()
        wait_for(lambda: self._file.read_text() == "begun", "entries without end")


@pytest.fixture
def flood(cockpit: Cockpit) -> Flood:
    return Flood(cockpit.folder)


def memory_of(program: Program) -> int:
    """Bytes that it has, shared ones too."""
    return int(Path(f"/proc/{program.pid}/statm").read_text().split()[1]) * 4096


def test_gid_view(cockpit: Cockpit, flood: Flood, tmp_path: Path) -> None:
    """Whoever looks at it can close it, or let the pointer and the keys go."""
    session = Session(cockpit, tmp_path)
    stats = tmp_path / "stats.json"
    try:
        send(cockpit, CAMERA, "")
        view = session.weston.client(
            [BUILD / "clients/gid-view", "--domain=open", "--stream=movie", f"--stats={stats}"],
            **flood.environment,
        )
        view.wait_output("showing movie")
        flood.begin()
        stats.unlink(missing_ok=True)
        wait_for(stats.exists, "what it does each second")
        assert view.stop() == 0
    finally:
        session.finish()


def test_gid_compose(cockpit: Cockpit, flood: Flood) -> None:
    """There are other layers, and a file that may change."""
    start_engine(cockpit, ENGINE)
    send(cockpit, CAMERA, "")
    path, stats = cockpit.folder / "panel.ini", cockpit.folder / "stats.json"
    path.write_text(LAYOUT)
    command = [BUILD / "tools/gid-compose/gid-compose", "--domain=open", f"--stats={stats}", path]
    composing = cockpit.run("open", command, **flood.environment)
    wait_for(stats.exists, "pictures")
    flood.begin()
    stats.unlink()
    wait_for(stats.exists, "what it does each second")
    assert composing.stop() == 0


READ = """
import sys, gid
with gid.Domain() as domain, domain.consumer("movie", "open") as consumer:
    consumer.frame(60).release()
    print("reads", flush=True)
    sys.stdin.readline()
    for _ in range(2):
        try:
            while True:
                consumer.frame(0.2).release()
        except gid.GidTimeoutError:
            print("in time", flush=True)
"""


def test_python(cockpit: Cockpit, flood: Flood) -> None:
    """A limit of time is one."""
    sender = send(cockpit, CAMERA, "")
    environment = cockpit.env("cluster") | flood.environment
    with subprocess.Popen(
        [sys.executable, "-c", READ],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        try:
            assert reader.stdout.readline() == "reads\n"
            sender.kill()
            flood.touch()
            assert reader.communicate("\n", PATIENCE)[0] == "in time\n" * 2
        finally:
            reader.kill()


def test_gidsrc_ends(cockpit: Cockpit, flood: Flood) -> None:
    receiver = watch(cockpit, **flood.environment)
    send(cockpit, CAMERA, "")
    receiver.wait_frames(5)
    flood.begin()
    receiver.tell("state ready")  # which waits for the element's thread
    receiver.tell("state paused")
    receiver.wait_changes("PAUSED", 2)
    receiver.tell("quit")
    receiver.finish()


def test_gidsrc_keeps_a_few(cockpit: Cockpit, flood: Flood) -> None:
    """What waits for an element that is slow, or does not move, is bounded."""
    receiver = watch(cockpit, "", "! identity name=gate", **flood.environment)
    receiver.tell("pass 5")
    send(cockpit, CAMERA, "")
    receiver.wait_frames(5)
    before = memory_of(receiver)
    flood.begin()
    for _ in range(20):
        time.sleep(0.05)
        assert memory_of(receiver) < before + GROWTH
    assert receiver.stats("src")["waiting"] < 1000
    receiver.tell("quit")
    receiver.finish()


METADATA = """
import time, gid
with gid.Domain() as domain, domain.producer("movie", "R8", 64, 16) as producer:
    for number in range(1, 1 << 30):
        with producer.slot(60, metadata=bytes(16000)) as picture:
            picture[...] = number % 200
        if number % 500 == 0:
            print("many", flush=True)
        time.sleep(0.002)
"""


def test_gidsrc_counts_all_that_waits(cockpit: Cockpit) -> None:
    """Pictures of a kilobyte, with sixteen times as much beside each."""
    receiver = watch(cockpit, "max-size-bytes=1000000", "! identity name=gate")
    receiver.tell("pass 5")
    sender = cockpit.run("open", [sys.executable, "-c", METADATA])
    receiver.wait_frames(5)

    def has_settled() -> bool:
        """Whether no more of them wait, though there were many more."""
        before, sent = receiver.stats("src")["waiting"], sender.said().count("many")
        wait_for(lambda: sender.said().count("many") > sent, "many frames to be sent")
        return 0 < receiver.stats("src")["waiting"] == before

    wait_for(has_settled, "no more to wait")
    assert 20 < receiver.stats("src")["waiting"] <= 1000000 // 17000
    receiver.tell("quit")
    receiver.finish()
