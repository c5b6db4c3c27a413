# SPDX-License-Identifier: MIT
"""Compositors in a guest: Weston and one on wlroots, each with GL and with pixman.

Without a graphics card, GL is Mesa's llvmpipe.

A screen has an `environment` for its clients and a `screenshot()`: rows of blue, green, red.
"""

from pathlib import Path

import numpy
from lib.cockpit import Cockpit
from lib.weston import Weston
from lib.wlroots_screen import WlrootsScreen

WIDTH, HEIGHT = 640, 360


def place(width: int, height: int) -> tuple[int, int]:
    """In the middle; what is larger than the screen, so that its end is not seen."""
    if width > WIDTH:
        return 150, 0
    return (WIDTH - width) // 2, (HEIGHT - height) // 2


class WestonScreen:
    """Of the name weston-RENDERER."""

    def __init__(self, cockpit: Cockpit, folder: Path, name: str, domain: str = "cluster") -> None:
        self.folder = folder / name
        self.folder.mkdir(0o700)
        renderer = name.removeprefix("weston-")
        size = [f"--width={WIDTH}", f"--height={HEIGHT}"]
        self.weston = Weston(self.folder, cockpit.env(domain), renderer, options=size)
        self.weston.start()
        self.environment = self.weston.environment
        self.log_seen = 0

    def wait_ready(self) -> None:
        pass  # start() has waited

    def screenshot(self) -> numpy.ndarray:
        return self.weston.screenshot()

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


def start_screen(
    cockpit: Cockpit, folder: Path, name: str, domain: str = "cluster"
) -> WestonScreen | WlrootsScreen:
    """One of weston-gl, weston-pixman, gles2, pixman; the latter stand on wlroots."""
    if name.startswith("weston"):
        return WestonScreen(cockpit, folder, name, domain)
    return WlrootsScreen(cockpit, folder, name, domain, (WIDTH, HEIGHT))
