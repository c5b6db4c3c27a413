# SPDX-License-Identifier: MIT
"""labwc, headless: an ordinary compositor whose windows stack, as those of a desktop do.

It is none of the packages that tests bring: ./run shell --with labwc has it.
"""

import shutil
from pathlib import Path

from lib.program import Program, wait_for

SIZE = (1280, 720)  # of wlroots' headless output; labwc has no setting for that
# It draws its pointer itself where the output cannot, also for who captures it without.
POINTER = (slice(90, 140), slice(90, 140))


def why_no_labwc() -> str | None:
    return None if shutil.which("labwc") else "there is no labwc here: ./run shell --with labwc"


class Labwc:
    output = "HEADLESS-1"

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment | {
            "XDG_RUNTIME_DIR": str(folder),
            "WLR_BACKENDS": "headless",
            "WLR_LIBINPUT_NO_DEVICES": "1",
            "WLR_RENDERER": "pixman",
        }
        self.environment.pop("WAYLAND_DISPLAY", None)
        self.environment.pop("DISPLAY", None)
        # A folder of its own: nobody's settings, no menu, nothing that starts by itself.
        configuration = folder / "labwc"
        configuration.mkdir()
        command = ["labwc", "--config-dir", configuration]
        self.program = Program(command, self.environment, folder)
        self.socket = wait_for(self._find_socket, "the socket of labwc")
        self.environment["WAYLAND_DISPLAY"] = self.socket.name

    def _find_socket(self) -> Path | None:
        assert self.program.is_running(), self.program.stderr
        found = [path for path in self.folder.glob("wayland-*") if path.suffix != ".lock"]
        return found[0] if found else None

    def kill(self) -> None:
        self.program.kill()

    def stop(self) -> None:
        if self.program.is_running():
            self.program.stop()
