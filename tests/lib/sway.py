# SPDX-License-Identifier: MIT
"""Sway, headless: an ordinary compositor of wlroots, without any gid buffers."""

import shutil
import subprocess
from pathlib import Path

import numpy
from lib.program import PATIENCE, Program, wait_for
from lib.weston import HEIGHT, WIDTH

CONFIG = f"""\
output HEADLESS-1 mode {WIDTH}x{HEIGHT}@60Hz
default_border none
focus_follows_mouse no
for_window [app_id=".*"] fullscreen enable
"""


def why_no_sway() -> str | None:
    return None if shutil.which("sway") else "there is no sway here"


class Sway:
    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        config = folder / "sway.conf"
        config.write_text(CONFIG)
        self.environment = environment | {
            "XDG_RUNTIME_DIR": str(folder),
            "WLR_BACKENDS": "headless",
            "WLR_LIBINPUT_NO_DEVICES": "1",
            "WLR_RENDERER": "pixman",
        }
        self.environment.pop("WAYLAND_DISPLAY", None)
        self.environment.pop("DISPLAY", None)
        self.program = Program(["sway", "--config", config], self.environment, folder)
        self.socket = wait_for(self._find_socket, "the socket of sway")
        self.environment["WAYLAND_DISPLAY"] = self.socket.name

    def _find_socket(self) -> Path | None:
        assert self.program.is_running(), self.program.stderr
        found = [path for path in self.folder.glob("wayland-*") if path.suffix != ".lock"]
        return found[0] if found else None

    def set_mode(self, width: int, height: int) -> None:
        (socket,) = self.folder.glob("sway-ipc*")
        words = f"output HEADLESS-1 mode --custom {width}x{height}@60Hz".split()
        command = ["swaymsg", "-s", str(socket), "--", *words]
        subprocess.run(
            command, env=self.environment, capture_output=True, timeout=PATIENCE, check=True
        )

    def screenshot(self) -> numpy.ndarray:
        """The output's pixels as height x width x (blue, green, red)."""
        done = subprocess.run(
            ["grim", "-t", "ppm", "-"],
            env=self.environment,
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )
        pixels = done.stdout[-WIDTH * HEIGHT * 3 :]
        return numpy.frombuffer(pixels, numpy.uint8).reshape(HEIGHT, WIDTH, 3)[..., ::-1]

    def kill(self) -> None:
        self.program.kill()

    def stop(self) -> None:
        if self.program.is_running():
            self.program.stop()
