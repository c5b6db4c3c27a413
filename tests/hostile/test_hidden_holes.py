# SPDX-License-Identifier: MIT
"""Memory that lacks pages, and has as many behind its end: who reads it would make them, and pay
for them for as long as its owner keeps the file. No reader makes any; all goes on but its pictures.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lib import hollow
from lib.cockpit import Cockpit
from lib.engine import start_engine
from lib.pipeline import send, watch
from lib.program import BUILD, PATIENCE, wait_for
from lib.session import Session
from lib.weston import Weston

pytestmark = pytest.mark.skipif(not hollow.is_told(), reason="the kernel does not tell of pages")

GIDCTL = BUILD / "tools/gidctl/gidctl"
RESTLESS = BUILD / "tests/hostile/programs/hostile-restless"
HOLES = "memory with holes: its owner must write all of it first"
CAMERA = "videotestsrc is-live=true ! video/x-raw,format=BGRx,width=64,height=48,framerate=30/1"
ENGINE = "[canvas panel]\ndomain=open\nmemory=16M\nslots=6\nlist-ms=60000\nlease-ms=60000\n"
COMPOSED = "[canvas]\nengine=cluster\nname=panel\nwidth=64\nheight=48\n"
SENT = 60  # frames, in 24 slabs


class Hollow:
    """A producer of such memory."""

    def __init__(
        self,
        cockpit: Cockpit,
        stream: str,
        domain: str = "open",
        mode: str = "hollow",
        size: tuple[int, int] = (640, 360),
    ) -> None:
        self._cockpit, self._domain, self._stream = cockpit, domain, stream
        command = [RESTLESS, mode, stream, *map(str, size)]
        self.program = cockpit.run(domain, command, "hollow")

    def _sent(self) -> int:
        subscriptions = self._cockpit.status(self._domain)["subscriptions"]
        counts = [one for one in subscriptions if one["stream"] == self._stream]
        return sum(one.get("producer_counts", {}).get("frames", 0) for one in counts)

    def filled(self) -> int:
        """How many bytes of pages others made of what it sent."""
        wait_for(lambda: self._sent() >= SENT, f"{SENT} frames to be sent")
        self.program.signal(signal.SIGTERM)
        assert self.program.wait() == 0, self.program.stderr
        return int(json.loads(self.program.stdout)["filled"])


@pytest.mark.parametrize("then", ["", "! videoconvert ! video/x-raw,format=I420", "! queue"])
def test_gidsrc(cockpit: Cockpit, then: str) -> None:
    """It leaves them out, says so once, and goes on with the next producer."""
    receiver = watch(cockpit, "", then)
    assert Hollow(cockpit, "movie").filled() == 0
    assert receiver.frames == []
    said = [m["text"] for m in receiver.lines("bus") if m["bus"] == "warning"]
    assert sum("its memory has holes" in text for text in said) == 1
    send(cockpit, CAMERA, "")
    receiver.wait_frames(5)


def test_weston(cockpit: Cockpit, tmp_path: Path) -> None:
    """What it draws, where a program names such memory."""
    session = Session(cockpit, tmp_path)
    try:
        command = [BUILD / "clients/gid-view", "--domain=open", "--stream=movie"]
        view = session.weston.client(command)
        assert Hollow(cockpit, "movie").filled() == 0
        view.wait_output(HOLES)
        send(cockpit, CAMERA, "")
        view.wait_output("showing movie")
        assert view.stop() == 0
    finally:
        session.finish()


def test_input(cockpit: Cockpit, tmp_path: Path) -> None:
    """What Weston takes keys of."""
    weston = Weston(tmp_path, cockpit.env("cluster"), "pixman", options=["--no-outputs"])
    weston.configure("[gid-output]\nname=left\nstream=left\nmode=64x48\ninput=open\n")
    weston.start()
    try:
        sender = Hollow(cockpit, "input/left", mode="hollow-bytes", size=(4096, 32))
        assert sender.filled() == 0
        weston.wait_log(HOLES)
    finally:
        assert weston.stop() == 0, weston.read_log()


def test_gidctl_snap(cockpit: Cockpit, tmp_path: Path) -> None:
    """It says so at once: what was out of date was tried again, for a minute."""
    command = [GIDCTL, "snap", "open", "movie", "-o", tmp_path / "shot.png"]
    cockpit.run("open", [RESTLESS, "hollow", "movie", "640", "360"], "hollow")
    env = cockpit.env("cluster")
    shot = subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert shot.returncode == 1
    assert shot.stderr == f"gidctl: no picture of movie of domain open: {HOLES}\n"


@pytest.mark.parametrize("domain", ["open", "cluster"])
def test_gid_compose(cockpit: Cockpit, domain: str) -> None:
    """A layer of its own domain, and of another one. The other layer is there still."""
    start_engine(cockpit, ENGINE)
    send(cockpit, CAMERA, "", "good")
    path, stats = cockpit.folder / "panel.ini", cockpit.folder / "stats.json"
    path.write_text(f"{COMPOSED}[layer a]\ndomain={domain}\nstream=bad\n[layer b]\nstream=good\n")
    command = [BUILD / "tools/gid-compose/gid-compose", "--domain=open", f"--stats={stats}", path]
    composing = cockpit.run("open", command)
    assert Hollow(cockpit, "bad", domain).filled() == 0
    composing.wait_output(f"[layer a] is not shown: {HOLES}")

    def pictures() -> int:
        return json.loads(stats.read_text())["pictures"] if stats.exists() else 0

    before = pictures()
    wait_for(lambda: pictures() > before + 10, "pictures of the other layer")
    assert composing.stop() == 0


READ = """
import sys, gid
with gid.Domain() as domain, domain.consumer("movie", "open") as consumer:
    while True:
        try:
            with consumer.frame(60) as picture:
                print("a picture", picture.sum() > 0, flush=True)
        except gid.GidError as error:
            print(error, flush=True)
"""


def test_python(cockpit: Cockpit) -> None:
    reader = cockpit.run("cluster", [sys.executable, "-c", READ])
    sender = Hollow(cockpit, "movie")
    reader.wait_output(HOLES)
    assert sender.filled() == 0
    assert "a picture" not in reader.stdout
    send(cockpit, CAMERA, "")
    reader.wait_output("a picture True")
