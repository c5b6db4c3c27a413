# SPDX-License-Identifier: MIT
"""Compositors in a guest: Weston and gid-cluster, each with GL and with pixman.

Without a graphics card, GL is Mesa's llvmpipe.

A screen has an `environment` for its clients and a `screenshot()`: rows of blue, green, red.
"""

import json
import socket
from pathlib import Path

import numpy
from cockpit import Cockpit
from PIL import Image
from program import BUILD, Program
from wayland import Display
from weston import Weston, protocol_files, screenshot

WIDTH, HEIGHT = 640, 360
LAMP = (150, 70)  # the pixels of a safety picture, beside which there is room for others
CLIENT = (160, 100)  # where a client's window is, beside it
CLUSTER = f"""
[display]
worst-frame=0
width={WIDTH}
height={HEIGHT}
screen-copies=/usr/bin/grim
[role lamp]
domain=open
x=0
y=0
width={LAMP[0]}
height={LAMP[1]}
deadline-ms=60000
[client org.gidway.map]
x={CLIENT[0]}
y={CLIENT[1]}
width=320
height=180
"""


def place(width: int, height: int) -> tuple[int, int]:
    """In the middle; what is larger than the screen begins where no safety picture is."""
    if width > WIDTH:
        return LAMP[0], 0
    return (WIDTH - width) // 2, (HEIGHT - height) // 2


class WestonScreen:
    """Of the name weston-RENDERER."""

    def __init__(self, cockpit: Cockpit, folder: Path, name: str, domain: str = "cluster") -> None:
        self.folder = folder / name
        self.folder.mkdir(0o700)
        renderer = name.removeprefix("weston-")
        self.weston = Weston(self.folder, cockpit.env(domain), renderer)
        self.weston.command += [f"--width={WIDTH}", f"--height={HEIGHT}"]
        self.weston.start()
        self.environment = self.weston.environment | {"WAYLAND_DISPLAY": self.weston.socket.name}
        self.log_seen = 0

    def wait_ready(self) -> None:
        pass  # start() has waited

    def screenshot(self) -> numpy.ndarray:
        return screenshot(self.weston)

    def find(self, width: int, height: int) -> numpy.ndarray:
        """The only window, wherever the shell has put it."""
        shot = self.screenshot()
        lit = numpy.argwhere(shot.any(axis=2))
        top, left = lit.min(axis=0) if len(lit) else (0, 0)
        return shot[top : top + height, left : left + width]

    def shown(self) -> list[str]:
        """How it has shown the buffers since it was last asked."""
        log = self.weston.read_log().splitlines()
        new, self.log_seen = log[self.log_seen :], len(log)
        return [line.rsplit(": ", 1)[1] for line in new if line.startswith("gid: buffer")]

    def close(self) -> None:
        assert self.weston.stop() == 0, self.weston.read_log()


class ClusterScreen:
    def __init__(
        self, cockpit: Cockpit, folder: Path, renderer: str, domain: str = "cluster"
    ) -> None:
        self.folder = folder / renderer
        self.folder.mkdir()
        config = self.folder / "cluster.conf"
        config.write_text(CLUSTER)
        self.environment = cockpit.env(domain) | {
            "WAYLAND_DISPLAY": str(self.folder / "wayland"),
            "WLR_RENDERER": renderer,
        }
        self.status_path = self.folder / "status"
        command: list[str | Path] = [BUILD / "cluster/gid-cluster", "--headless", "--verbose"]
        command += ["--config", config, "--status", self.status_path]
        command += ["--socket", self.environment["WAYLAND_DISPLAY"]]
        self.program = Program(command, self.environment, self.folder)
        self.log_seen = 0

    def wait_ready(self) -> None:
        self.program.wait_output("ready, with")

    def screenshot(self) -> numpy.ndarray:
        path = self.folder / "screen.ppm"
        grim = Program(["grim", "-t", "ppm", path], self.environment, self.folder)
        assert grim.wait() == 0, grim.stderr
        return numpy.asarray(Image.open(path).convert("RGB"))[..., ::-1]

    def find(self, width: int, height: int) -> numpy.ndarray:
        """A client that the configuration has placed."""
        left, top = CLIENT
        return self.screenshot()[top : top + height, left : left + width]

    def shown(self) -> list[str]:
        """How it has shown the buffers since it was last asked."""
        log = self.program.stderr.splitlines()
        new, self.log_seen = log[self.log_seen :], len(log)
        return [line.split(" is ")[1] for line in new if "gid: a buffer" in line]

    def formats(self) -> dict[str, int]:
        """The linear formats that it offers for gid buffers, and for which kinds of memory."""
        path = Path(self.environment["WAYLAND_DISPLAY"])
        with Display(path, protocol_files()) as display:
            feedback = display.bind("gid_buffer_manager_v1")("get_feedback")
            feedback.wait("done")
            offers = [args for name, args in feedback.events if name == "format"]
        return {
            fourcc.to_bytes(4, "little").decode(): memory
            for fourcc, high, low, memory in offers
            if high == low == 0
        }

    def role(self) -> dict:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(str(self.status_path))
            with connection.makefile("rb") as answer:
                return json.load(answer)["roles"][0]

    def close(self) -> None:
        assert self.program.stop() == 0, self.program.stderr


def start_screen(
    cockpit: Cockpit, folder: Path, name: str, domain: str = "cluster"
) -> WestonScreen | ClusterScreen:
    """One of weston-gl, weston-pixman, gles2, pixman; the latter are gid-cluster's."""
    kind = WestonScreen if name.startswith("weston") else ClusterScreen
    return kind(cockpit, folder, name, domain)
