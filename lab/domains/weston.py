# SPDX-License-Identifier: MIT
"""Stock Weston with gid-buffer.so in a domain."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from lab.domains.place import Place
from lab.domains.program import LabError, Program

# Shows only what is asked for.
SHELL = """
[shell]
panel-position=none
locking=false
animation=none
startup-animation=none
close-animation=none
"""


def role(name: str, client: str, *keys: str) -> str:
    """A section of the configuration that allows a program to have this safety surface. Weston
    identifies the client by its executable file.
    """
    file = os.path.realpath(shutil.which(client) or client)
    return "\n".join(["", "[gid-safety]", f"role={name}", f"clients={file}", *keys, ""])


class Weston:
    """`shell`: more keys of this section of its configuration, followed by `sections`. `log`: the
    file for its log of these `scopes`.
    """

    def __init__(
        self,
        place: Place,
        sections: Iterable[str] = (),
        options: Iterable[str] = (),
        shell: str = "",
        log: Path | None = None,
        backend: str = "headless",
        renderer: str = "pixman",
        kind: str = "desktop",
        scopes: str = "log,timeline",
    ) -> None:
        """Does not start it yet."""
        self.place, self.log = place, log
        self._before = SHELL + shell
        self.configure(*sections)
        self.socket = place.folder / f"wayland-{place.domain}"
        self.command = ["weston", f"--backend={backend}", f"--renderer={renderer}", "--idle-time=0"]
        self.command += [f"--socket={self.socket.name}", f"--shell={kind}-shell.so"]
        self.command += [f"--config={self.config}", "--modules=gid-buffer.so", *options]
        if log is not None:
            self.command += [f"--log={log}", f"--logger-scopes={scopes}"]

    def configure(self, *sections: str) -> None:
        """Writes the configuration for its next start."""
        text = "".join([self._before, *sections])
        self.config = self.place.write("weston.ini", self.place.translate(text).encode())

    def launch(self, under: Iterable[str] = ()) -> Program:
        """Starts it, under a command if given. The place's programs become its clients. It is not
        ready yet.
        """
        if self.log is not None:
            self.place.run(["rm", "-f", str(self.log)])  # of one that was killed
        folder = {"XDG_RUNTIME_DIR": str(self.place.folder)}
        self.program: Program = self.place.start("weston", [*under, *self.command], **folder)
        self.place.environment |= folder | {"WAYLAND_DISPLAY": self.socket.name}
        return self.program

    def start(self, under: Iterable[str] = ()) -> Self:
        """Starts it, and returns when its module is ready."""
        self.launch(under)
        self.place.wait_until("the start of Weston with its module", self._is_ready, "weston")
        return self

    def _is_ready(self) -> bool:
        """Its socket exists before the module's globals do."""
        return "gid: ready" in self.read_log()

    def read_log(self) -> str:
        if self.log is None:
            return self.program.said()
        return self.place.read(self.log).decode(errors="replace")

    def photograph(self, picture: Path) -> None:
        """Saves a picture of its whole output on this machine. It must run with --debug."""
        shots = self.place.folder / "screenshot"
        script = 'mkdir -p "$0" && cd "$0" && XDG_PICTURES_DIR=$0 weston-screenshooter >&2 && ls'
        # It does not print the file's name, which has the time in it.
        names = self.place.run(["sh", "-c", script, str(shots)]).split()
        if not names:
            raise LabError("Weston gave no screenshot")
        picture.write_bytes(self.place.read(shots / sorted(names)[-1]))
        self.place.run(["rm", "-r", str(shots)])
