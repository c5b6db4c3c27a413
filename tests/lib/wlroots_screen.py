# SPDX-License-Identifier: MIT
"""A compositor that stands on wlroots and the library for it, with GL also without a card."""

from pathlib import Path

import numpy
from lib.cockpit import Cockpit
from lib.inspected import Inspected
from lib.program import BUILD, Program
from PIL import Image

from lab.domains.wayland import Display, protocol_files


class WlrootsScreen(Inspected):
    """`environment` is for its clients; `screenshot()`: rows of blue, green, red."""

    def __init__(
        self,
        cockpit: Cockpit,
        folder: Path,
        renderer: str = "pixman",
        domain: str = "cluster",
        size: tuple[int, int] = (640, 240),
        scale: float = 1,
    ) -> None:
        self.folder = folder / renderer
        self.folder.mkdir()
        self.socket = self.folder / "wayland"
        self.environment = cockpit.env(domain) | {
            "WAYLAND_DISPLAY": str(self.socket),
            "WLR_RENDERER": renderer,
        }
        numbers = map(str, (*size, scale))
        command = [BUILD / "tests/lib/programs/wlroots-screen", self.socket, *numbers]
        self.program = Program(command, self.environment, self.folder)
        self.pid, self.log_seen = self.program.pid, 0

    def wait_ready(self) -> None:
        self.program.wait_output("ready")

    def screenshot(self) -> numpy.ndarray:
        path = self.folder / "screen.ppm"
        grim = Program(["grim", "-t", "ppm", path], self.environment, self.folder)
        assert grim.wait() == 0, grim.stderr
        return numpy.asarray(Image.open(path).convert("RGB"))[..., ::-1]

    def find(self, width: int, height: int) -> numpy.ndarray:
        """The newest window, which is at the top left."""
        return self.screenshot()[:height, :width]

    def shown(self) -> list[str]:
        """How it has shown the buffers since it was last asked."""
        log = self.program.stderr.splitlines()
        new, self.log_seen = log[self.log_seen :], len(log)
        return [line.split(" is ")[1] for line in new if "gid: a buffer" in line]

    def formats(self) -> dict[str, int]:
        """The linear formats that it offers for gid buffers, and for which kinds of memory."""
        with Display(self.socket, protocol_files()) as display:
            feedback = display.bind("gid_buffer_manager_v1")("get_feedback")
            feedback.wait("done")
            offers = [args for name, args in feedback.events if name == "format"]
        return {
            fourcc.to_bytes(4, "little").decode(): memory
            for fourcc, high, low, memory in offers
            if high == low == 0
        }

    def close(self) -> None:
        assert self.program.stop() == 0, self.program.stderr
