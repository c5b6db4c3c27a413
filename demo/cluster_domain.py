# SPDX-License-Identifier: MIT
"""The domain cluster: gid-cluster with layers (the film, the meter, the panel that the engine
composes), and above them the safety surfaces of open.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from demo import backdrop, desktops
from demo.backdrop import Tile
from demo.cockpit import Cockpit, points
from demo.panel import CANVAS, ENGINE, Panel
from demo.streams import Check
from lab.domains import priority
from lab.domains.configuration import section
from lab.domains.display import Display
from lab.domains.program import LabError

_SCREEN = "screen"  # the stream of what is shown
# Their domains and streams. Without a picture of its own a layer whose stream is gone is greyed.
_LAYERS = (
    ("movie", "open", "movie"),
    ("meter", "cluster", "meter"),
    ("panel", "cluster", f"canvas/{CANVAS}"),
)
_UNAVAILABLE = ("camera", "panel")  # what says so in a picture when it is gone
ROLES = ("telltale", "camera")


def _place(tile: Tile) -> str:
    return f"x={tile.x} y={tile.y} width={tile.width} height={tile.height}"


class ClusterDomain(Display):
    """It lives from the demo's begin to its end.

    `window`: its display is a window of the desktop, to look on. `more`: its other displays, of
    which there are none with a screen or a window.
    """

    def __init__(
        self,
        cockpit: Cockpit,
        clip: Path,
        seconds: float,
        window: bool,
        more: Iterable[desktops.Display],
    ) -> None:
        super().__init__(cockpit.start("cluster"))
        self._scene, self.more = cockpit.scene, tuple(more)
        self._folder = cockpit.folder
        self.tiles = backdrop.cluster_tiles(clip.name, self._scene.divisor)
        self.check = Check(self.place, clip, seconds)
        self.fallbacks = {name: cockpit.folder / f"no-{name}.png" for name in _UNAVAILABLE}
        self.meter: dict = {}  # what it reports at its end
        headless = [] if self.place.screen or window else ["--headless"]
        self.launch(self._configuration(), *headless, "--realtime")
        engine = self.place.write("engine.conf", ENGINE.encode())
        self.place.start("gid-engine", ["gid-engine", f"--config={engine}"])

    def show(self) -> None:
        """The domain's own instruments; all else comes from open."""
        size = f"--size={self.tiles['meter'].size}"
        meter = [*priority.before_others(), "gid-meter", "--stream=meter", size]
        self._meter = self.place.start("gid-meter", meter)

    @property
    def screen(self) -> Path | None:
        return self.place.screen

    @property
    def points(self) -> bytes:
        return self.place.read(points(self.place))

    @property
    def panel(self) -> Panel:
        return Panel(self.tiles["panel"])

    def are_live(self) -> bool:
        """All safety surfaces, on the display as well."""
        return all(self.is_live(role) for role in self.roles().values())

    @staticmethod
    def is_live(role: dict) -> bool:
        return bool(role["state"] == "live" and role["transitions"][-1]["shown_ns"])

    def are_lost(self) -> bool:
        """None is shown, on the display as well; nor does a layer show open as if it lived."""
        status = self.status()
        others = [one["state"] for one in status["layers"] if one["name"] != "meter"]
        marked = [state in ("stale", "hidden") for state in others]
        return all(marked) and all(
            role["state"] != "live" and role["transitions"][-1]["shown_ns"]
            for role in status["roles"]
        )

    def copies(self) -> dict[str, int]:
        """Frames of each safety stream that had to be copied, as its producer counts them."""
        command = ["gidctl", "--domain=cluster", "--json", "list", "subscriptions"]
        return {
            one["stream"]: one.get("producer_counts", {}).get("copied_frames", 0)
            for one in json.loads(self.place.run(command))["subscriptions"]
        }

    def take_picture(self, path: Path, stream: str = _SCREEN) -> None:
        """Of the first display, or of that whose stream this is."""
        self.photograph(path, stream, self._scene.patience / 2)

    def take_sent(self, path: Path, stream: str) -> None:
        """A picture of what a stream of open has."""
        self.snap(path, "open", stream, self._scene.patience / 2)

    def close_others(self) -> None:
        """The display stays, to be asked."""
        self.check.stop()
        if self.place.stop("gid-meter") != 0:
            raise LabError(f"the meter failed:\n{self._meter.last_words()}")
        self.meter = json.loads(self._meter.printed().strip().splitlines()[-1])

    def _configuration(self) -> str:
        background = self._folder / "background.png"
        fallbacks: dict[str, object] = {"telltale": "pattern"}
        for name, path in self.fallbacks.items():
            backdrop.draw_unavailable(path, self.tiles[name])
            fallbacks[name] = self.place.put(path)
        backdrop.draw_cluster(background, self.tiles, self._scene.divisor, self.fallbacks)
        width, height = backdrop.size(backdrop.CLUSTER, self._scene.divisor)
        output = f"width={width} height={height} refresh=60"
        output += f" background={self.place.put(background)}"
        if not self.place.screen:
            output += f" stream={_SCREEN}"
        if self.more:
            text = section("display", "worst-frame=0") + section("output cluster", output)
        else:
            text = section("display", f"worst-frame=0 {output}")
        for name, domain, stream in _LAYERS:
            where = f"domain={domain} stream={stream} {_place(self.tiles[name])}"
            text += section(f"layer {name}", f"{where} fallback={fallbacks.get(name, 'grey')}")
        frozen = {"telltale": 0, "camera": self._scene.frozen_ms}
        for name in ROLES:
            limits = f"deadline-ms={self._scene.deadline_ms} frozen-ms={frozen[name]}"
            where = f"domain=open {_place(self.tiles[name])}"
            text += section(f"role {name}", f"{where} {limits} fallback={fallbacks[name]}")
        return text + "".join(display.configuration for display in self.more)
