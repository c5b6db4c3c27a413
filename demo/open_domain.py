# SPDX-License-Identifier: MIT
"""The domain open: stock Weston with gid-buffer.so, which shows a film, a camera and a telltale."""

import os
import shutil
import subprocess
from pathlib import Path

import backdrop
import cockpit
from children import Child, Children, DemoError
from streams import Producers, read_json

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
    """It can be killed as a whole, and started again: a `life` each."""

    def __init__(self, children: Children, folder: Path, configuration: Path, clip: Path) -> None:
        self._children = children
        self._folder = folder
        self._cockpit = configuration
        self.tiles = backdrop.open_tiles(clip.name)
        places = backdrop.cluster_tiles(clip.name)
        self._telltale = places["telltale"]
        self.producers = Producers(children, folder, clip, places["camera"])
        self._camera = places["camera"]
        self._environment = {
            "GID_DOMAIN": "open",
            "WAYLAND_DISPLAY": SOCKET,
            "XDG_RUNTIME_DIR": str(folder),
        }
        self._running: list[Child] = []
        self._views: list[Child] = []
        self.life = 0
        self._prepare()

    def _prepare(self) -> None:
        image = self._folder / "open.png"
        backdrop.draw_open(image, self.tiles)
        (self._folder / "weston.ini").write_text(
            _CONFIGURATION.format(
                backdrop=image,
                telltale=_program("gid-telltale"),
                telltale_size=self._telltale.size,
                view=_program("gid-view"),
                camera_size=self._camera.size,
            )
        )

    def log(self, life: int) -> Path:
        """Weston's log of that life, with the timeline."""
        return self._folder / f"weston-{life}.log"

    def start(self) -> None:
        self.life += 1
        self._running = [cockpit.start_gidd(self._children, self._cockpit, "open")]
        self._start_weston()
        self.producers.start()
        self._views = [self._start_view(name) for name in self.tiles]
        telltale = ["gid-telltale", "--role=telltale", "--cycle=250"]
        telltale.append(f"--size={self._telltale.size}")
        self._start("telltale", telltale)

    def kill(self) -> None:
        """Everything in it, at once."""
        self.producers.remember()
        for child in self._running + self.producers.running():
            self._children.kill(child)
        for child in self._running + self.producers.running():
            self._children.wait(child)

    def close(self) -> None:
        """In good order: views first, so that the producers count no drops of our going."""
        for view in self._views:
            if self._children.stop(view) != 0:
                raise DemoError(f"{view.name} failed:\n{view.said()}")
        self.producers.stop()
        for child in reversed(self._running):
            self._children.stop(child)

    def view(self, name: str) -> dict:
        """The statistics of a gid-view of this life."""
        return read_json(self._stats(name))

    def screenshot(self, path: Path) -> None:
        shots = self._folder / "screenshot"
        shots.mkdir(exist_ok=True)
        result = subprocess.run(
            ["weston-screenshooter"],
            cwd=shots,
            env={**os.environ, **self._environment, "XDG_PICTURES_DIR": str(shots)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
        )
        found = sorted(shots.glob("*.png"))
        if result.returncode != 0 or not found:
            raise DemoError(f"Weston gave no screenshot: {result.stderr.strip()}")
        path.write_bytes(found[-1].read_bytes())
        found[-1].unlink()

    def _start(self, name: str, command: list[str]) -> Child:
        child = self._children.start(name, command, **self._environment)
        self._running.append(child)
        return child

    def _start_weston(self) -> None:
        socket = self._folder / SOCKET
        socket.unlink(missing_ok=True)
        self._start(
            "weston",
            [
                "weston",
                "--backend=headless",
                "--renderer=pixman",
                "--shell=desktop",
                f"--width={backdrop.OPEN_WIDTH}",
                f"--height={backdrop.OPEN_HEIGHT}",
                f"--socket={SOCKET}",
                f"--config={self._folder / 'weston.ini'}",
                "--modules=gid-buffer.so",
                "--debug",  # permits screenshots
                f"--log={self.log(self.life)}",
                "--logger-scopes=log,timeline",
            ],
        )
        self._children.wait_until("Weston's start", self._is_ready)

    def _is_ready(self) -> bool:
        """Its socket is there sooner than what the module offers."""
        log = self.log(self.life)
        return log.exists() and "gid: ready" in log.read_text(errors="replace")

    def _start_view(self, name: str) -> Child:
        self._stats(name).unlink(missing_ok=True)
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
        return self._start(f"open-view-{name}", command)

    def _stats(self, name: str) -> Path:
        return self._folder / f"open-view-{name}.json"


def _program(name: str) -> str:
    """The file that Weston will find behind the client's process."""
    found = shutil.which(name)
    if found is None:
        raise DemoError(f"there is no {name}: is it built?")
    return os.path.realpath(found)
