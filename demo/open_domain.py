# SPDX-License-Identifier: MIT
"""The domain open: stock Weston with gid-buffer.so, which shows a film, a camera and a telltale."""

from pathlib import Path

from demo import backdrop, desktops, streams
from demo.cockpit import Cockpit, points
from demo.panel import Panel
from demo.streams import Producers
from lab.domains.place import Place
from lab.domains.program import LabError, Program
from lab.domains.weston import Weston, role


class OpenDomain:
    """It can be killed as a whole, and started again: a `life` each.

    `logs`: Weston's of each life, with the timeline, as far as it was kept; `points`: those of all
    programs; `desktops`: whether cluster's other displays show its windows; `passenger`: by which
    compositor those of one are; `counts`: the statistics of each stream's producers, one after the
    other.
    """

    def __init__(self, cockpit: Cockpit, clip: Path, desktops: bool) -> None:
        self._cockpit, self._clip, self._desktops = cockpit, clip, desktops
        self._scene = cockpit.scene
        self.tiles = backdrop.open_tiles(clip.name, self._scene.divisor)
        places = backdrop.cluster_tiles(clip.name, self._scene.divisor)
        self._telltale, self._camera = places["telltale"], places["camera"]
        self._panel = Panel(places["panel"])
        self._still = self._panel.draw(cockpit.folder)
        self._backdrop = cockpit.folder / "open.png"
        backdrop.draw_open(self._backdrop, self.tiles, self._scene.divisor)
        self.passenger = ""
        self.life = 0
        self.logs: list[Path] = []
        self.points: list[Path] = []
        self._before: list[dict[str, dict]] = []  # counts of those that were killed

    @property
    def camera(self) -> str:
        return streams.camera(self._camera, self._scene.camera_rate)

    def start(self) -> None:
        self.life += 1
        self._place: Place = self._cockpit.start("open")
        self._weston = self._start_weston()
        if self._desktops:  # before the film begins: the start of all these takes the processors
            self.passenger = desktops.start(self._place, self._cockpit.folder)
        self._producers = Producers(self._place, self._clip, self.camera, self._still)
        self._producers.start()
        layout = self._place.write("panel.ini", self._panel.layout.encode())
        self._place.start("gid-compose", ["gid-compose", str(layout)])
        self._views = [self._start_view(name) for name in self.tiles]
        telltale = ["gid-telltale", "--role=telltale", f"--cycle={self._scene.telltale_ms}"]
        telltale.append(f"--size={self._telltale.size}")
        self._place.start("telltale", telltale)

    def kill(self) -> None:
        """Everything in it, at once."""
        self._place.kill()
        self._place.forget()

    def close(self) -> None:
        """In good order: views first, so that the producers count no drops of our going."""
        for name in (*(view.name for view in self._views), "gid-compose"):
            program = self._place[name]
            if self._place.stop(name) != 0:
                raise LabError(f"{name} failed:\n{program.last_words()}")
        self._producers.stop()
        self.keep()

    def keep(self) -> None:
        """What the programs of this life wrote down, before it is gone with them."""
        for kept, path in ((self.logs, self._log), (self.points, points(self._place))):
            copy = self._cockpit.folder / f"{path.stem}-{self.life}.log"
            copy.write_bytes(self._place.read(path))
            kept.append(copy)
        self._place.run(["rm", "-f", str(points(self._place))])
        self._before.append(self._producers.counts())

    def counts(self, stream: str) -> list[dict]:
        return [life[stream] for life in self._before if life[stream]]

    def view(self, name: str) -> dict:
        """The statistics of a gid-view of this life."""
        return self._place.read_json(self._stats(name))

    def screenshot(self, path: Path) -> None:
        self._weston.photograph(path)

    @property
    def _log(self) -> Path:
        return self._place.folder / "weston-timeline.log"

    def _start_weston(self) -> Weston:
        width, height = backdrop.size(backdrop.OPEN, self._scene.divisor)
        background = self._place.put(self._backdrop)
        return Weston(
            self._place,
            [
                role("telltale", "gid-telltale", f"size={self._telltale.size}"),
                role("camera", "gid-view", f"size={self._camera.size}"),
                *([desktops.MIRROR] if self._desktops else []),
            ],
            [
                f"--width={width}",
                f"--height={height}",
                f"--refresh-rate={self._scene.refresh_rate * 1000}",
                "--debug",  # permits screenshots
            ],
            shell=f"background-image={background}\nbackground-type=scale\n",
            log=self._log,
        ).start()

    def _start_view(self, name: str) -> Program:
        self._place.run(["rm", "-f", str(self._stats(name))])
        command = [
            "gid-view",
            f"--stream={name}",
            "--maximized",
            "--background=none",
            f"--place={self.tiles[name].place}",
            f"--stats={self._stats(name)}",
        ]
        if name == "camera":
            command.append("--role=camera")
        return self._place.start(f"view-{name}", command)

    def _stats(self, name: str) -> Path:
        return self._place.folder / f"view-{name}.json"
