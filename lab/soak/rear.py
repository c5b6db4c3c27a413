# SPDX-License-Identifier: MIT
"""The soak's cockpit: that of `bench isolation`, and a third domain, `rear`, which is not attacked.

`rear` has a film, a camera and Weston, which live from start to end, so that their growth is seen,
too. The cluster shows the film, and the camera as a safety surface.
"""

import json
from collections.abc import Collection, Iterable
from pathlib import Path

from lab.domains.configuration import section
from lab.domains.place import Place
from lab.domains.program import LabError, Program, wait_for
from lab.domains.weston import role
from lab.film import clip, film
from lab.isolation.domains import Cluster, Open, role_of
from lab.isolation.pair import Cockpit

_MOVIE = "safety/movie"
_LAYERS = section("layer meter", "x=0 y=260 width=640 height=220") + section(
    "layer film", f"domain=rear stream={_MOVIE} x=640 y=260 width=352 height=198"
)
_FILM_DIVISOR = 2  # the film is smaller by this factor, so that two cores can do all of the work


class Rear(Open):
    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._film = clip.shrink(clip.find(None), _FILM_DIVISOR, place.folder)

    def roles(self) -> Iterable[str]:
        return [role("camera", "gid-view")]

    def start(self) -> None:
        """Starts all of its programs, once."""
        self.start_desktop()
        start = self.place.start
        sink = f"video/x-raw,format=BGRx ! gidsink name=sink stream={_MOVIE}"
        start("film", film.playing(f"{film.decode(self._film)} ! {sink}"))
        caps = "video/x-raw,format=BGRx,width=320,height=80,framerate=30/1"
        camera = f"videotestsrc is-live=true pattern=ball ! {caps} ! gidsink stream=camera"
        start("camera", ["gst-launch-1.0", "-q", *camera.split()])
        start("film-view", ["gid-view", f"--stream={_MOVIE}"])
        start("camera-view", ["gid-view", "--stream=camera", "--role=camera"])

    def restart_gidd(self) -> None:
        self.place["gidd"].kill()
        self.place.up()


class SoakCluster(Cluster):
    size, more = (1280, 480), ""

    def configuration(self) -> str:
        return super().configuration() + role_of("rear", "camera", 840, 140, 200) + _LAYERS

    def film(self) -> tuple[int, int]:
        """The number of the film's frames that gid-cluster has got, and the sum of their ages in
        ns.
        """
        told = self.place.run(["gidctl", "--domain=cluster", "--json", "list", "subscriptions"])
        for one in json.loads(told)["subscriptions"]:
            if one["stream"] == _MOVIE and (counts := one.get("consumer_counts")):
                return counts["received"], counts["latency_sum_ns"]
        return 0, 0


class SoakCockpit(Cockpit):
    cluster_class = SoakCluster
    more_domains = {"rear": "memory=256M local=camera"}
    more_shares = {"rear cluster": "safety/*"}

    def __init__(self, folder: Path, guest: bool, contained: Collection[str] = ()) -> None:
        super().__init__(folder, guest, contained=contained)
        self.rear = Rear(self.place("rear", self.open_core))
        # A guest's agent has one client at a time, and we are it.
        self.reloaded = ["cluster", "rear", "host" if guest else "open"]

    def __enter__(self) -> "SoakCockpit":
        super().__enter__()
        try:
            self.rear.start()
            self.wait_rear()
        except BaseException as error:
            self.__exit__(type(error), error)
            raise
        return self

    def wait_rear(self) -> None:
        """Waits until rear's streams are shown in the cluster, and change."""
        self.cluster.wait_live("camera")
        before, _ = self.cluster.film()
        wait_for("the film of rear to go on", lambda: self.cluster.film()[0] > before)

    def living(self) -> dict[str, Program]:
        """The programs that must live from start to end. Raises if one has ended."""
        found = {
            "gid-cluster": self.cluster.place["display"],
            "gidd of cluster": self.cluster.place["gidd"],
            "Weston of rear": self.rear.place["weston"],
            "gidsink: film": self.rear.place["film"],
            "gidsink: camera": self.rear.place["camera"],
            "film's view in rear": self.rear.place["film-view"],
            "camera's view in rear": self.rear.place["camera-view"],
        }
        for name, process in found.items():
            if not process.is_running():
                raise LabError(f"{name} ended, with {process.status()}")
        return found
