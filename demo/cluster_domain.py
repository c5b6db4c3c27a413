# SPDX-License-Identifier: MIT
"""The domain cluster: gid-cluster with the meter, the film, and the safety surfaces of open."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import backdrop
import cockpit
from children import Child, Children, DemoError
from streams import Check, read_json

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))
import priority  # noqa: E402

_CONFIGURATION = """\
[display]
width={width}
height={height}
refresh=60
background={background}
"""
_CLIENT = """
[client {name}]
x={tile.x}
y={tile.y}
width={tile.width}
height={tile.height}
"""
_ROLE = """
[role {tile.name}]
domain=open
x={tile.x}
y={tile.y}
width={tile.width}
height={tile.height}
deadline-ms={deadline}
frozen-ms={frozen}
fallback={fallback}
"""

DEADLINE_MS = 300
ROLES = ("telltale", "camera")


class ClusterDomain:
    """It lives from the demo's begin to its end."""

    def __init__(
        self,
        children: Children,
        folder: Path,
        configuration: Path,
        clip: Path,
        seconds: float,
    ) -> None:
        self._children = children
        self._folder = folder
        self._cockpit = configuration
        self.tiles = backdrop.cluster_tiles(clip.name)
        self.check = Check(children, folder, clip, seconds)
        self._status = folder / "cluster.status"
        self._wayland = folder / "gidway-cluster"
        self.fallback = folder / "no-camera.png"
        self._environment = {"GID_DOMAIN": "cluster", "WAYLAND_DISPLAY": str(self._wayland)}
        self._display: Child | None = None
        self._view: Child | None = None
        self._meter: Child | None = None
        self.meter: dict = {}  # what it reports at its end

    def start(self) -> None:
        cockpit.start_gidd(self._children, self._cockpit, "cluster")
        command = [
            "gid-cluster",
            "--headless",
            "--realtime",
            f"--config={self._configure()}",
            f"--socket={self._wayland}",
            f"--status={self._status}",
        ]
        self._display = self._children.start("gid-cluster", command, **self._environment)
        self._children.wait_until("gid-cluster's start", self._status.exists)

    def show(self) -> None:
        """The meter, and a view of the film, which waits for it."""
        size = f"--size={self.tiles['meter'].size}"
        meter = [*priority.before_others(), "gid-meter", size]
        self._meter = self._children.start("gid-meter", meter, **self._environment)
        view = ["gid-view", "--domain=open", "--stream=movie", f"--stats={self._view_stats}"]
        self._view = self._children.start("gid-view", view, **self._environment)

    @property
    def scheduling(self) -> str:
        return priority.scheduling(self._display.process.pid)

    @property
    def _view_stats(self) -> Path:
        return self._folder / "view-movie.json"

    def view(self) -> dict:
        """The statistics of the film's view."""
        return read_json(self._view_stats)

    def status(self) -> dict:
        """What gid-cluster says of itself."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(self._status))
            with connection.makefile("rb") as answer:
                return json.load(answer)

    def roles(self) -> dict[str, dict]:
        return {role["name"]: role for role in self.status()["roles"]}

    def are_live(self) -> bool:
        """All safety surfaces, on the display as well."""
        return all(
            role["state"] == "live" and role["transitions"][-1]["shown_ns"]
            for role in self.roles().values()
        )

    def are_lost(self) -> bool:
        """None is shown, on the display as well."""
        return all(
            role["state"] != "live" and role["transitions"][-1]["shown_ns"]
            for role in self.roles().values()
        )

    def copies(self) -> dict[str, int]:
        """Frames of each safety stream that had to be copied, as its producer counts them."""
        result = subprocess.run(
            ["gidctl", "--domain=cluster", "--json", "list", "subscriptions"],
            capture_output=True,
            text=True,
            timeout=20,
        )
        if result.returncode != 0:
            raise DemoError(f"gidctl: {result.stderr.strip()}")
        return {
            one["stream"]: one.get("producer_counts", {}).get("copied_frames", 0)
            for one in json.loads(result.stdout)["subscriptions"]
        }

    def screenshot(self, path: Path) -> None:
        result = subprocess.run(
            ["grim", str(path)],
            env={**os.environ, **self._environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
        )
        if result.returncode != 0:
            raise DemoError(f"gid-cluster gave no screenshot: {result.stderr.strip()}")

    def close_clients(self) -> None:
        """The display stays, to be asked."""
        self.check.stop()
        if self._children.stop(self._view) != 0:
            raise DemoError(f"the view of the film failed:\n{self._view.said()}")
        if self._children.stop(self._meter) != 0:
            raise DemoError(f"the meter failed:\n{self._meter.said()}")
        self.meter = json.loads(self._meter.said().strip().splitlines()[-1])

    def _configure(self) -> Path:
        background = self._folder / "background.png"
        backdrop.draw_cluster(background, self.tiles)
        backdrop.draw_unavailable(self.fallback, self.tiles["camera"])
        text = _CONFIGURATION.format(
            width=backdrop.WIDTH, height=backdrop.HEIGHT, background=background
        )
        text += _CLIENT.format(name="gid-meter", tile=self.tiles["meter"])
        text += _CLIENT.format(name="gid-view", tile=self.tiles["movie"])
        fallbacks = {"telltale": "pattern", "camera": self.fallback}
        frozen = {"telltale": 0, "camera": 2000}
        for name in ROLES:
            text += _ROLE.format(
                tile=self.tiles[name],
                deadline=DEADLINE_MS,
                frozen=frozen[name],
                fallback=fallbacks[name],
            )
        configuration = self._folder / "cluster.conf"
        configuration.write_text(text)
        return configuration
