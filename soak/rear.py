# SPDX-License-Identifier: MIT
"""The soak's cockpit: that of `bench isolation`, and a third domain, `rear`, which nothing befalls.

`rear` has a film, a camera and Weston, which live from the begin to the end: so what grows in them
is seen, too. The cluster shows its film, and its camera as a safety surface.
"""

import json
import os
import subprocess
from pathlib import Path

import clip
import film
from common import BenchError
from domains import ROLE, Cluster, Open, program
from pair import Cockpit
from processes import PATIENCE, Process, wait_for

_PLAY = Path(__file__).resolve().parents[1] / "demo" / "play.py"
_DOMAIN = """

[domain rear]
number=3
memory=256M
local=camera

[share rear cluster]
streams=safety/*
"""
_LAYERS = """
[layer meter]
x=0
y=260
width=640
height=220

[layer film]
domain=rear
stream=safety/movie
x=640
y=260
width=352
height=198
"""
_WESTON = """\
[core]
idle-time=0
[shell]
panel-position=none
locking=false
animation=none
startup-animation=none
[gid-safety]
role=camera
clients={view}
"""
_MOVIE = "safety/movie"
_FILM_DIVISOR = 2  # of the film's size, so that two cores have time for all of it


class Rear(Open):
    name = "rear"

    def __init__(self, folder: Path, configuration: Path, core: int) -> None:
        super().__init__(folder, configuration, core)
        self._film = clip.shrink(clip.find(None), _FILM_DIVISOR, folder)

    def weston_ini(self) -> str:
        return _WESTON.format(view=program("gid-view"))

    def start(self) -> None:
        """All of it, once."""
        self.start_desktop()
        start = self.processes.start
        sink = f"video/x-raw,format=BGRx ! gidsink name=sink stream={_MOVIE}"
        start("film", "python3", str(_PLAY), "--loop", f"{film.decode(self._film)} ! {sink}")
        caps = "video/x-raw,format=BGRx,width=320,height=80,framerate=30/1"
        camera = f"videotestsrc is-live=true pattern=ball ! {caps} ! gidsink stream=camera"
        start("camera", "gst-launch-1.0", "-q", *camera.split())
        start("film-view", "gid-view", f"--stream={_MOVIE}")
        start("camera-view", "gid-view", "--stream=camera", "--role=camera")

    def restart_gidd(self) -> None:
        self.processes["gidd"].kill()
        self.processes.start_gidd(self._configuration)


class SoakCluster(Cluster):
    size, more = (1280, 480), ""

    def display_conf(self) -> str:
        camera = ROLE.format(name="camera", x=440, y=140, deadline=200).replace(
            "=open", f"={Rear.name}"
        )
        return super().display_conf() + camera + _LAYERS

    def film(self) -> tuple[int, int]:
        """How many frames of the film gid-cluster got so far, and the sum of their ages in ns."""
        words = ["gidctl", "--domain=cluster", "--json", "list", "subscriptions"]
        env = os.environ | {"GID_RUNTIME_DIR": str(self.folder)}
        result = subprocess.run(words, env=env, capture_output=True, text=True, timeout=PATIENCE)
        if result.returncode != 0:
            raise BenchError(f"gidctl: {result.stderr.strip()}")
        for one in json.loads(result.stdout)["subscriptions"]:
            if one["stream"] == _MOVIE and (counts := one.get("consumer_counts")):
                return counts["received"], counts["latency_sum_ns"]
        return 0, 0


class SoakCockpit(Cockpit):
    cluster_class = SoakCluster

    def __init__(self, folder: Path, guest: bool) -> None:
        super().__init__(folder, guest)
        self.rear = Rear(folder, self.configuration, self.open_core)
        # A guest's agent serves one at a time, and that is us.
        self.reloaded = ["cluster", "rear", "host" if guest else "open"]

    def more_conf(self) -> str:
        return _DOMAIN

    def __enter__(self) -> "SoakCockpit":
        super().__enter__()
        try:
            self.rear.start()
            self.wait_rear()
        except BaseException as error:
            self.__exit__(type(error), error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *rest
    ) -> None:
        self.rear.processes.kill_all()
        super().__exit__(kind, error, *rest)

    def wait_rear(self) -> None:
        """Until what `rear` shows in the cluster is there, and moves."""
        self.cluster.wait_live("camera")
        before, _ = self.cluster.film()
        wait_for("the film of rear to go on", lambda: self.cluster.film()[0] > before)

    def living(self) -> dict[str, Process]:
        """All that must live from the begin to the end. Raises if one has ended."""
        found = {
            "gid-cluster": self.cluster.processes["display"],
            "gidd of cluster": self.cluster.processes["gidd"],
            "Weston of rear": self.rear.processes["weston"],
            "gidsink: film": self.rear.processes["film"],
            "gidsink: camera": self.rear.processes["camera"],
            "film's view in rear": self.rear.processes["film-view"],
            "camera's view in rear": self.rear.processes["camera-view"],
        }
        for name, process in found.items():
            if not process.is_running():
                raise BenchError(f"{name} ended, with {process.process.returncode}")
        return found
