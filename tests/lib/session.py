# SPDX-License-Identifier: MIT
"""What the tests work with: an owner of slabs in `open`, Weston and its clients in `cluster`."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy
from lib.cockpit import Cockpit
from lib.program import BUILD, wait_for
from lib.weston import HEIGHT, WIDTH, XRGB8888, Client, Weston, lit
from lib.wlroots_screen import WlrootsScreen

from lab.domains.wayland import Display, protocol_files

CLUSTER = 2  # the number of the domain that Weston runs in


class OwnerProcess:
    """owner.py, in the domain of `environment`. A test may kill it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("owner.py"), str(BUILD / "libgid/libgid.so")],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.read() == "connected"

    def read(self) -> Any:
        line = self.process.stdout.readline()
        assert line, "the owner ended"
        answer = json.loads(line)
        if isinstance(answer, dict):
            raise OSError(answer["error"], os.strerror(answer["error"]))
        return answer

    def call(self, name: str, *args: Any) -> Any:
        self.process.stdin.write(json.dumps([name, *args]) + "\n")
        self.process.stdin.flush()
        return self.read()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Slab:
    """A slab of the owner. In its slots are random pictures where it is XRGB8888."""

    def __init__(self, session: "Session", fourcc: int, slots: int, slot_size: int) -> None:
        self.session = session
        self.index, *self.gids = session.owner.call(
            "create", fourcc, WIDTH, HEIGHT, slots, slot_size
        )
        self.inode = session.owner.call("inode", self.index)
        self.pictures: list[numpy.ndarray] = [None] * slots
        if fourcc == XRGB8888:
            for slot in range(slots):
                self.draw(slot, seed=self.index * 100 + slot)

    def draw(self, slot: int, seed: int) -> None:
        """Fills the slot with a random picture."""
        shape = (HEIGHT, WIDTH, 4)
        self.pictures[slot] = numpy.random.default_rng(seed).integers(0, 256, shape, numpy.uint8)
        self.write(slot, self.pictures[slot].tobytes())

    def write(self, slot: int, data: bytes) -> None:
        with tempfile.NamedTemporaryFile(dir=self.session.folder) as file:
            file.write(data)
            file.flush()
            self.session.owner.call("write", self.index, slot, file.name)


class Session:
    def __init__(self, cockpit: Cockpit, folder: Path, renderer: str = "pixman") -> None:
        self.cockpit, self.folder = cockpit, folder
        self.owner = OwnerProcess(cockpit.env("open"))
        self.screen = self.weston = Weston(folder, cockpit.env("cluster"), renderer)
        self.weston.start()

    def finish(self) -> None:
        self.owner.stop()
        if self.weston.is_running():
            assert self.weston.stop() == 0, self.weston.read_log()

    def restart(self, config: str = "", renderer: str = "pixman") -> None:
        """Weston again, otherwise configured."""
        self.weston.stop()
        self.screen = self.weston = Weston(self.folder, self.cockpit.env("cluster"), renderer)
        self.weston.configure(config)
        self.weston.start()

    def slab(
        self, slots: int, slot_size: int = 0, fourcc: int = XRGB8888, grant: bool = True
    ) -> Slab:
        slab = Slab(self, fourcc, slots, slot_size)
        if grant:
            self.owner.call("grant", slab.index, CLUSTER)
        return slab

    def client(self) -> Client:
        return Client(Display(self.screen.socket, protocol_files()))

    @contextmanager
    def stopped_gidd(self) -> Iterator[None]:
        """The gidd of Weston's domain does nothing meanwhile."""
        self.cockpit.gidds["cluster"].signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.cockpit.gidds["cluster"].signal(signal.SIGCONT)

    def screenshot(self) -> numpy.ndarray:
        return self.screen.screenshot()

    def shows(self, picture: numpy.ndarray) -> bool:
        """Whether the output shows the picture, wherever the shell put it, and nothing else."""
        return numpy.array_equal(lit(self.screenshot()), picture[..., :3])

    def wait_shown(self, picture: numpy.ndarray) -> None:
        wait_for(lambda: self.shows(picture), "the picture to be shown")


class WlrootsSession(Session):
    """The same with a compositor on wlroots."""

    def __init__(self, cockpit: Cockpit, folder: Path, renderer: str = "pixman") -> None:
        self.cockpit, self.folder = cockpit, folder
        self.owner = OwnerProcess(cockpit.env("open"))
        self.screen = WlrootsScreen(cockpit, cockpit.folder, renderer, size=(WIDTH, HEIGHT))
        self.screen.wait_ready()

    def finish(self) -> None:
        self.owner.stop()
        self.screen.close()


# What one of them shows, all must. In tests/vm there is wlroots' GL, too, which wants a card.
SCREENS = ("weston-pixman", "weston-gl", "wlroots-pixman")


def open_session(cockpit: Cockpit, folder: Path, screen: str) -> Session:
    compositor, renderer = screen.split("-")
    of = {"weston": Session, "wlroots": WlrootsSession}
    return of[compositor](cockpit, folder, renderer)
