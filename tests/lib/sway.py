# SPDX-License-Identifier: MIT
"""Sway, headless: an ordinary compositor of wlroots, without any gid buffers."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy
from lib.program import PATIENCE, Room
from lib.weston import HEIGHT, WIDTH

from lab.domains.desktop import Compositor


def why_no_sway() -> str | None:
    return None if shutil.which("sway") else "there is no sway here"


class Ordinary(Compositor):
    """`environment` is all of its clients'."""

    def __init__(self, folder: Path, environment: dict[str, str], *how: Any) -> None:
        super().__init__(Room(folder, environment), *how)
        self.environment = environment | self.environment

    def kill(self) -> None:
        self.program.kill()

    def stop(self) -> None:
        if self.program.is_running():
            self.program.stop()


class Sway(Ordinary):
    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        super().__init__(folder, environment, "sway", None, (WIDTH, HEIGHT))

    def set_mode(self, width: int, height: int) -> None:
        self.set_output(f"mode --custom {width}x{height}@60Hz")

    def set_output(self, words: str) -> None:
        """As in its configuration."""
        (socket,) = self.folder.glob("sway-ipc*")
        command = ["swaymsg", "-s", str(socket), "--", "output", "HEADLESS-1", *words.split()]
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
