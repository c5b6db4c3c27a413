# SPDX-License-Identifier: MIT
"""Sway, headless: an ordinary compositor of wlroots, without any gid buffers."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy
from lib.program import PATIENCE, Room, wait_for
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

    def tell(self, *words: str) -> str:
        """Returns its answer."""
        (socket,) = self.folder.glob("sway-ipc*")
        command = ["swaymsg", "-s", str(socket), *words]
        return subprocess.run(
            command,
            env=self.environment,
            capture_output=True,
            timeout=PATIENCE,
            check=True,
            text=True,
        ).stdout

    def outputs(self) -> dict[str, dict[str, Any]]:
        """What sway says of each, by their names."""
        told = json.loads(self.tell("--raw", "-t", "get_outputs"))
        return {output["name"]: output for output in told}

    def set_output(self, words: str) -> None:
        """As in its configuration."""
        self.tell("--", "output", "HEADLESS-1", *words.split())

    def set_power(self, on: bool) -> None:
        """Until it is so, which sway waits with."""
        self.set_output(f"power {'on' if on else 'off'}")

        def is_so() -> bool:
            return self.outputs()["HEADLESS-1"]["power"] == on

        wait_for(is_so, f"the output to be {'awake' if on else 'asleep'}")

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
