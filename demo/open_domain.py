# SPDX-License-Identifier: MIT
"""The domain open: stock Weston with gid-buffer.so, which shows a film, a camera and a telltale."""

import os
import shutil
from pathlib import Path

import backdrop
import streams
from cockpit import Cockpit
from panel import Panel
from place import DemoError, Place, Program
from streams import Producers

SOCKET = "gidway-open"

_CONFIGURATION = """\
[core]
idle-time=0

[shell]
background-image={backdrop}
background-type=scale
panel-position=none
locking=false
animation=none
startup-animation=none
close-animation=none

[gid-safety]
role=telltale
clients={telltale}
size={telltale_size}

[gid-safety]
role=camera
clients={view}
size={camera_size}
"""


class OpenDomain:
    """It can be killed as a whole, and started again: a `life` each.

    `logs`: Weston's of each life, with the timeline, as far as it was kept; `points`: those of all
    programs; `counts`: the statistics of each stream's producers, one after the other.
    """

    def __init__(self, cockpit: Cockpit, clip: Path) -> None:
        self._cockpit, self._clip = cockpit, clip
        self._scene = cockpit.scene
        self.tiles = backdrop.open_tiles(clip.name, self._scene.divisor)
        places = backdrop.cluster_tiles(clip.name, self._scene.divisor)
        self._telltale, self._camera = places["telltale"], places["camera"]
        self._panel = Panel(places["panel"])
        self._still = self._panel.draw(cockpit.folder)
        self._backdrop = cockpit.folder / "open.png"
        backdrop.draw_open(self._backdrop, self.tiles, self._scene.divisor)
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
        self._environment = {
            "WAYLAND_DISPLAY": SOCKET,
            "XDG_RUNTIME_DIR": str(self._place.folder),
        }
        self._start_weston()
        self._producers = Producers(self._place, self._clip, self.camera, self._still)
        self._producers.start()
        layout = self._place.write("panel.ini", self._panel.layout.encode())
        self._compose = self._start("gid-compose", ["gid-compose", str(layout)])
        self._views = [self._start_view(name) for name in self.tiles]
        telltale = ["gid-telltale", "--role=telltale", f"--cycle={self._scene.telltale_ms}"]
        telltale.append(f"--size={self._telltale.size}")
        self._start("telltale", telltale)

    def kill(self) -> None:
        """Everything in it, at once."""
        self._place.kill()

    def close(self) -> None:
        """In good order: views first, so that the producers count no drops of our going."""
        for view in self._views:
            if self._place.stop(view) != 0:
                raise DemoError(f"{view.name} failed:\n{view.last_words()}")
        if self._place.stop(self._compose) != 0:
            raise DemoError(f"gid-compose failed:\n{self._compose.last_words()}")
        self._producers.stop()
        self.keep()

    def keep(self) -> None:
        """What the programs of this life wrote down, before it is gone with them."""
        for kept, path in ((self.logs, self._log), (self.points, self._place.points)):
            copy = self._cockpit.folder / f"{path.stem}-{self.life}.log"
            copy.write_bytes(self._place.read(path))
            kept.append(copy)
        self._place.run(["rm", "-f", str(self._place.points)])
        self._before.append(self._producers.counts())

    def counts(self, stream: str) -> list[dict]:
        return [life[stream] for life in self._before if life[stream]]

    def view(self, name: str) -> dict:
        """The statistics of a gid-view of this life."""
        return self._place.read_json(self._stats(name))

    def screenshot(self, path: Path) -> None:
        shots = self._place.folder / "screenshot"
        self._place.run(["mkdir", "-p", str(shots)])
        into = {"XDG_PICTURES_DIR": str(shots), **self._environment}
        # It says nothing of the name, which has the time in it.
        self._place.run(["sh", "-c", f"cd {shots} && weston-screenshooter"], **into)
        names = self._place.run(["ls", str(shots)]).split()
        if not names:
            raise DemoError("Weston gave no screenshot")
        path.write_bytes(self._place.read(shots / sorted(names)[-1]))
        self._place.run(["rm", "-r", str(shots)])

    @property
    def _log(self) -> Path:
        return self._place.folder / "weston.log"

    def _start(self, name: str, command: list[str]) -> Program:
        return self._place.start(name, command, **self._environment)

    def _start_weston(self) -> None:
        for name in (SOCKET, self._log.name):
            self._place.run(["rm", "-f", str(self._place.folder / name)])
        configuration = _CONFIGURATION.format(
            backdrop=self._place.put(self._backdrop),
            telltale=_program("gid-telltale"),
            telltale_size=self._telltale.size,
            view=_program("gid-view"),
            camera_size=self._camera.size,
        )
        configuration = self._place.write("weston.ini", configuration.encode())
        width, height = backdrop.size(backdrop.OPEN, self._scene.divisor)
        self._start(
            "weston",
            [
                "weston",
                "--backend=headless",
                "--renderer=pixman",
                "--shell=desktop",
                f"--width={width}",
                f"--height={height}",
                f"--refresh-rate={self._scene.refresh_rate * 1000}",
                f"--socket={SOCKET}",
                f"--config={configuration}",
                "--modules=gid-buffer.so",
                "--debug",  # permits screenshots
                f"--log={self._log}",
                "--logger-scopes=log,timeline",
            ],
        )
        # Its socket is there sooner than what the module offers.
        self._place.wait_until(
            "Weston's start", lambda: b"gid: ready" in self._place.read(self._log)
        )

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
        return self._start(f"view-{name}", command)

    def _stats(self, name: str) -> Path:
        return self._place.folder / f"view-{name}.json"


def _program(name: str) -> str:
    """The file that Weston will find behind the client's process."""
    found = shutil.which(name)
    if found is None:
        raise DemoError(f"there is no {name}: is it built?")
    return os.path.realpath(found)
