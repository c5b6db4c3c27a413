# SPDX-License-Identifier: MIT
"""The domains: `open`, where everything may happen, and `cluster`, which must not notice."""

import json
import os
import shutil
import socket
from pathlib import Path

import clip
import film
import priority
from common import DEMO, BenchError
from limit import Limit
from processes import Process, Processes, wait_for

LEAK_LIMIT = 400 << 20  # bytes: four seconds of it, beside the slabs
CLUSTER = """\
[display]
width={width}
height={height}
refresh={refresh}
worst-frame=0
"""
# The meter, and what costs most, below it on the screen.
FULL_SIZE = """\
[layer meter]
width=1280
height=480

[role costly]
domain=open
y=480
width={costly[0]}
height={costly[1]}
deadline-ms={deadline}
formats=any
transform=any

[layer costly]
domain=open
stream=safety/film-costly
y=1200
width={costly[0]}
height={costly[1]}
"""
ROLE = """
[role {name}]
domain=open
x={x}
y={y}
width=320
height=80
deadline-ms={deadline}
"""
# The telltale's, and those of the hostile programs: their streams, and a surface that is forwarded.
ROLES = ("telltale", "flood", "scribble", "rings", "surface")
COSTLY = (1280, 720)  # of a role and a layer whose pictures cost their reader most
WESTON = """\
[core]
idle-time=0
[shell]
panel-position=none
locking=false
animation=none
startup-animation=none
[gid-safety]
role=telltale
clients={telltale}
[gid-safety]
role=surface
clients={flood}
"""


def program(name: str) -> str:
    """The file that Weston will find behind a client's process."""
    return os.path.realpath(shutil.which(name) or name)


class Open:
    """The domain that is attacked from within: Weston, a telltale, a film and its view. What stands
    for the film is a live test picture, unless play_film() was called before the start."""

    name = "open"
    film = "video/x-raw,format=BGRx,width=640,height=360,framerate=30/1"

    def __init__(self, folder: Path, configuration: Path, core: int) -> None:
        self.folder = folder
        self.processes = Processes(self.name, folder, core)
        self._configuration = configuration
        self._film_file: Path | None = None

    def play_film(self) -> None:
        """A film of H.264 with sound, decoded again and again."""
        self._film_file = clip.with_sound(clip.find(None), 2, self.folder, 30)

    def _film_command(self) -> list[str]:
        sink = f"{self.film} ! gidsink name=sink stream=safety/film"
        if self._film_file is None:
            return ["gst-launch-1.0", "-q", *f"videotestsrc is-live=true ! {sink}".split()]
        both = film.decode_both(self._film_file)
        return ["python3", str(DEMO / "play.py"), "--loop", f"{both} ! {sink}"]

    def weston_ini(self) -> str:
        return WESTON.format(telltale=program("gid-telltale"), flood=program("hostile-flood"))

    @property
    def gidd_socket(self) -> Path:
        return self.folder / self.name / "gidd.sock"

    @property
    def link_socket(self) -> Path:
        return self.folder / self.name / "link" / "cluster.sock"

    @property
    def wayland_socket(self) -> Path:
        return self.folder / f"{self.name}.wayland"

    def start(self) -> None:
        """Everything that does not run."""
        self.start_desktop()
        start, is_running = self.processes.start, self.processes.is_running
        if not is_running("telltale"):
            # 5.82 refreshes: changes come to all phases of one. After 100 ms it was always one.
            start("telltale", "gid-telltale", "--role=telltale", "--cycle=97")
        if not is_running("film"):
            start("film", *self._film_command())
        if not is_running("view"):
            start("view", "gid-view", "--stream=safety/film")

    def start_desktop(self) -> None:
        """gidd and Weston, where they do not run."""
        if not self.processes.is_running("gidd"):
            self.processes.start_gidd(self._configuration)
        if not self.processes.is_running("weston"):
            self._start_weston()

    def limit(self) -> Limit:
        """Of memory, for one hostile program."""
        return Limit(LEAK_LIMIT)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def _start_weston(self) -> None:
        configuration = self.write(f"{self.name}.ini", self.weston_ini())
        weston = self.processes.start(
            "weston",
            "weston",
            "--backend=headless",
            "--renderer=pixman",
            "--shell=desktop",
            f"--socket={self.wayland_socket.name}",
            f"--config={configuration}",
            "--modules=gid-buffer.so",
        )
        wait_for("Weston with its module", lambda: "gid: ready" in weston.said())


class Cluster:
    """gid-cluster with the meter, before all other programs where that is allowed, if it is
    protected."""

    size, refresh, roles = (1280, 1920), 60, ROLES
    more = FULL_SIZE  # of the configuration
    meter: tuple[str, ...] = ()  # more options of gid-meter

    def __init__(
        self,
        folder: Path,
        configuration: Path,
        core: int,
        deadline_ms: int = 200,
        is_protected: bool = True,
    ) -> None:
        self.folder = folder
        self.processes = Processes("cluster", folder, core)
        self._deadline_ms = deadline_ms
        self._status = folder / "cluster.status"
        self._configuration = configuration
        self._is_protected = is_protected
        self._before_others = priority.before_others() if is_protected else []

    @property
    def scheduling(self) -> str:
        """What gid-cluster really got."""
        return priority.scheduling(self.processes["display"].pid)

    def display_conf(self) -> str:
        width, height = self.size
        display = CLUSTER.format(width=width, height=height, refresh=self.refresh)
        display += self.more.format(costly=COSTLY, deadline=self._deadline_ms)
        return display + "".join(
            ROLE.format(
                name=name,
                x=40 + 400 * (number % 3),
                y=20 + 120 * (number // 3),
                deadline=self._deadline_ms,
            )
            for number, name in enumerate(self.roles)
        )

    def start(self) -> None:
        self.processes.start_gidd(self._configuration)
        configuration = self.folder / "display.conf"
        configuration.write_text(self.display_conf())
        self.processes.start(
            "display",
            *self._before_others,
            "gid-cluster",
            "--headless",
            *(["--realtime"] if self._is_protected else []),
            f"--config={configuration}",
            f"--status={self._status}",
        )
        wait_for("gid-cluster", self._is_up)

    def _is_up(self) -> bool:
        if not self.processes.is_running("display"):
            log = self.processes["display"].log
            raise BenchError(f"gid-cluster does not start:\n{log.read_text()}")
        return self._status.exists()

    def start_meter(self, seconds: float) -> Process:
        """Its own frame rate, as gid-cluster tells it. 0 seconds: until it is stopped."""
        command = [*self._before_others, "gid-meter", f"--seconds={seconds:.0f}", *self.meter]
        return self.processes.start("meter", *command)

    def start_stall(self) -> Process:
        """What the machine itself can do on this core, before even the display."""
        return self.processes.start("stall", *priority.before_others(20), "gid-bench-stall")

    def status(self) -> dict:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(self._status))
            with connection.makefile("rb") as answer:
                return json.load(answer)

    def role(self, name: str) -> dict:
        return next(role for role in self.status()["roles"] if role["name"] == name)

    def wait_live(self, role: str = "telltale") -> None:
        wait_for(f"the {role} to be live", lambda: self.role(role)["state"] == "live")
