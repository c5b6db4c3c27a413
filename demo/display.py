# SPDX-License-Identifier: MIT
"""The domain cluster's display: stock Weston with gid-buffer.so, and a gid-view for each stream."""

import os
import subprocess
from pathlib import Path

import backdrop
from children import Child, Children, DemoError

SOCKET = "gidway-demo"

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
"""


class Display:
    """Weston without a screen: its output is memory, which a screenshot shows."""

    def __init__(self, children: Children, folder: Path, tiles: list[backdrop.Tile]) -> None:
        self._children = children
        self._folder = folder
        self._tiles = tiles
        self._environment = {
            "GID_DOMAIN": "cluster",
            "WAYLAND_DISPLAY": SOCKET,
            "XDG_RUNTIME_DIR": str(folder),
        }
        self._weston: Child | None = None
        self._views: dict[str, Child] = {}

    @property
    def log(self) -> Path:
        """Weston's log, with the timeline."""
        return self._folder / "weston.log"

    def start(self) -> None:
        image = self._folder / "backdrop.png"
        backdrop.draw(image, self._tiles)
        configuration = self._folder / "weston.ini"
        configuration.write_text(_CONFIGURATION.format(backdrop=image))
        command = [
            "weston",
            "--backend=headless",
            "--renderer=pixman",
            "--shell=desktop",
            f"--width={backdrop.WIDTH}",
            f"--height={backdrop.HEIGHT}",
            f"--socket={SOCKET}",
            f"--config={configuration}",
            "--modules=gid-buffer.so",
            "--debug",  # permits screenshots
            f"--log={self.log}",
            "--logger-scopes=log,timeline",
        ]
        self._weston = self._children.start("weston", command, **self._environment)
        socket = self._folder / SOCKET
        self._children.wait_until("Weston's start", socket.exists)

    def show(self) -> None:
        """Starts the views."""
        for tile in self._tiles:
            command = [
                "gid-view",
                "--domain=open",
                f"--stream={tile.stream}",
                "--maximized",
                "--background=none",
                f"--place={tile.place}",
                f"--stats={self.stats(tile.stream)}",
            ]
            name = f"gid-view-{tile.stream}"
            self._views[tile.stream] = self._children.start(name, command, **self._environment)

    def stats(self, stream: str) -> Path:
        return self._folder / f"view-{stream}.json"

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

    def close(self) -> None:
        """The views first, so that they write their figures, and then Weston."""
        for stream, view in self._views.items():
            if self._children.stop(view) != 0:
                raise DemoError(f"the view of {stream} failed:\n{view.said()}")
        self._children.stop(self._weston)
