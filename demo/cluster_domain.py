# SPDX-License-Identifier: MIT
"""The domain cluster: gid-cluster with layers (the film, the meter, the panel that the engine
composes), and above them the safety surfaces of open.
"""

import json
from pathlib import Path

import backdrop
import priority
from cockpit import Cockpit
from here import Process
from panel import CANVAS, ENGINE, Panel
from place import DemoError
from streams import Check

_CONFIGURATION = """\
[display]
worst-frame=0
width={width}
height={height}
refresh=60
background={background}
"""
_SCREEN = "screen"  # the stream of what is shown
_LAYER = """
[layer {tile.name}]
domain={domain}
stream={stream}
x={tile.x}
y={tile.y}
width={tile.width}
height={tile.height}
fallback={fallback}
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

# Their domains, streams, and what is shown when these are gone.
_LAYERS = (
    ("movie", "open", "movie", "grey"),
    ("meter", "cluster", "meter", "grey"),
    ("panel", "cluster", f"canvas/{CANVAS}", "blank"),
)
ROLES = ("telltale", "camera")
_TIMES = ("decided_ns", "shown_ns", "last_frame_ns")


class ClusterDomain:
    """It lives from the demo's begin to its end. All times are of this machine's clock.

    `window`: its display is a window of the desktop, to look on.
    """

    def __init__(self, cockpit: Cockpit, clip: Path, seconds: float, window: bool) -> None:
        self._scene = cockpit.scene
        self._place = cockpit.start("cluster")
        self._folder = cockpit.folder
        self.tiles = backdrop.cluster_tiles(clip.name, self._scene.divisor)
        self.check = Check(self._place, clip, seconds)
        self._status = self._place.folder / "cluster.status"
        self.fallback = cockpit.folder / "no-camera.png"
        self.meter: dict = {}  # what it reports at its end
        command = [
            "gid-cluster",
            *([] if self._place.screen or window else ["--headless"]),
            "--realtime",
            f"--config={self._configure()}",
            f"--status={self._status}",
        ]
        # Where it has a screen, nobody else is there to have it.
        self._display = self._place.start("gid-cluster", command, LIBSEAT_BACKEND="noop")
        self._place.wait_until("gid-cluster's start", lambda: self._place.ask(self._status))
        engine = self._place.write("engine.conf", ENGINE.encode())
        self._place.start("gid-engine", ["gid-engine", f"--config={engine}"])

    def show(self) -> None:
        """The domain's own instruments; all else comes from open."""
        size = f"--size={self.tiles['meter'].size}"
        meter = [*priority.before_others(), "gid-meter", "--stream=meter", size]
        self._meter = self._place.start("gid-meter", meter)

    @property
    def screen(self) -> Path | None:
        return self._place.screen

    @property
    def scheduling(self) -> str:
        if isinstance(self._display, Process):
            return priority.scheduling(self._display.process.pid)
        return "what its own machine gives it"

    @property
    def points(self) -> bytes:
        return self._place.read(self._place.points)

    @property
    def panel(self) -> Panel:
        return Panel(self.tiles["panel"])

    def status(self) -> dict:
        """What gid-cluster says of itself."""
        status = self._place.ask(self._status)
        if status is None:
            raise DemoError("gid-cluster does not report its status")
        for role in status["roles"]:
            for transition in role["transitions"]:
                for key in _TIMES:
                    if transition.get(key):
                        transition[key] = self._place.to_here(transition[key])
        return status

    def roles(self) -> dict[str, dict]:
        return {role["name"]: role for role in self.status()["roles"]}

    def are_live(self) -> bool:
        """All safety surfaces, on the display as well."""
        return all(self.is_live(role) for role in self.roles().values())

    @staticmethod
    def is_live(role: dict) -> bool:
        return bool(role["state"] == "live" and role["transitions"][-1]["shown_ns"])

    def are_lost(self) -> bool:
        """None is shown, on the display as well."""
        return all(
            role["state"] != "live" and role["transitions"][-1]["shown_ns"]
            for role in self.roles().values()
        )

    def copies(self) -> dict[str, int]:
        """Frames of each safety stream that had to be copied, as its producer counts them."""
        command = ["gidctl", "--domain=cluster", "--json", "list", "subscriptions"]
        return {
            one["stream"]: one.get("producer_counts", {}).get("copied_frames", 0)
            for one in json.loads(self._place.run(command))["subscriptions"]
        }

    def screenshot(self, path: Path) -> None:
        if self._place.screen:
            self._place.photograph(path)
            return
        shot = self._place.folder / "screenshot.png"
        wait = f"--wait={self._scene.patience / 2}"
        self._place.run(["gidctl", "--domain=cluster", "snap", _SCREEN, wait, "-o", str(shot)])
        path.write_bytes(self._place.read(shot))

    def close_others(self) -> None:
        """The display stays, to be asked."""
        self.check.stop()
        if self._place.stop(self._meter) != 0:
            raise DemoError(f"the meter failed:\n{self._meter.last_words()}")
        self.meter = json.loads(self._meter.said().strip().splitlines()[-1])

    def _configure(self) -> Path:
        background = self._folder / "background.png"
        backdrop.draw_cluster(background, self.tiles, self._scene.divisor)
        backdrop.draw_unavailable(self.fallback, self.tiles["camera"])
        width, height = backdrop.size(backdrop.CLUSTER, self._scene.divisor)
        text = _CONFIGURATION.format(
            width=width, height=height, background=self._place.put(background)
        )
        if not self._place.screen:
            text += f"stream={_SCREEN}\n"
        for name, domain, stream, fallback in _LAYERS:
            text += _LAYER.format(
                tile=self.tiles[name], domain=domain, stream=stream, fallback=fallback
            )
        fallbacks = {"telltale": "pattern", "camera": self._place.put(self.fallback)}
        frozen = {"telltale": 0, "camera": self._scene.frozen_ms}
        for name in ROLES:
            text += _ROLE.format(
                tile=self.tiles[name],
                deadline=self._scene.deadline_ms,
                frozen=frozen[name],
                fallback=fallbacks[name],
            )
        return self._place.write("cluster.conf", text.encode())
