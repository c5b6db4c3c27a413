# SPDX-License-Identifier: MIT
"""Stock Weston with gid-buffer.so in a domain."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from lab.domains.place import Place
from lab.domains.program import LabError, Program

# Nothing but what is shown on purpose, and for ever.
_CORE = "[core]\nidle-time=0\n"
SHELL = """
[shell]
panel-position=none
locking=false
animation=none
startup-animation=none
close-animation=none
"""


def role(name: str, client: str, *keys: str) -> str:
    """A section of the configuration: which program may have this safety surface. Weston looks at
    the file behind the client's process."""
    file = os.path.realpath(shutil.which(client) or client)
    return "\n".join(["", "[gid-safety]", f"role={name}", f"clients={file}", *keys, ""])


def weston_command(
    socket: str,
    configuration: Path,
    backend: str = "headless",
    renderer: str = "pixman",
    kind: str = "desktop",
) -> list[str]:
    """With the module for gid buffers."""
    command = ["weston", f"--backend={backend}", f"--renderer={renderer}", f"--socket={socket}"]
    command += [f"--shell={kind}-shell.so", f"--config={configuration}"]
    return [*command, "--modules=gid-buffer.so"]


class Weston:
    """`core`, `shell`: more of these sections of its configuration, which `sections` follow. `log`:
    it writes these `scopes` there. `under`: what runs it."""

    def __init__(
        self,
        place: Place,
        sections: Iterable[str] = (),
        options: Iterable[str] = (),
        core: str = "",
        shell: str = "",
        log: Path | None = None,
        backend: str = "headless",
        renderer: str = "pixman",
        kind: str = "desktop",
        scopes: str = "log,timeline",
        under: Iterable[str] = (),
    ) -> None:
        """Returns when its module is ready. The place's programs are its clients from then on."""
        self._place, self.log = place, log
        socket = f"{place.domain}.wayland"
        place.environment |= {"WAYLAND_DISPLAY": socket, "XDG_RUNTIME_DIR": str(place.folder)}
        text = "".join([_CORE, core, SHELL, shell, *sections])
        configuration = place.write("weston.ini", text.encode())
        command = [*under, *weston_command(socket, configuration, backend, renderer, kind)]
        if log is not None:
            place.run(["rm", "-f", str(log)])  # that of one that was killed
            command += [f"--log={log}", f"--logger-scopes={scopes}"]
        self.program: Program = place.start("weston", [*command, *options])

        def is_ready() -> bool:
            """Its socket is there sooner than what the module offers."""
            said = self.program.said() if log is None else place.read(log).decode(errors="replace")
            return "gid: ready" in said

        place.wait_until("the start of Weston with its module", is_ready, "weston")

    def screenshot(self, picture: Path) -> None:
        """Of its whole output, into a file of this machine. It has to run with --debug."""
        shots = self._place.folder / "screenshot"
        script = 'mkdir -p "$0" && cd "$0" && XDG_PICTURES_DIR=$0 weston-screenshooter >&2 && ls'
        # It says nothing of the name, which has the time in it.
        names = self._place.run(["sh", "-c", script, str(shots)]).split()
        if not names:
            raise LabError("Weston gave no screenshot")
        picture.write_bytes(self._place.read(shots / sorted(names)[-1]))
        self._place.run(["rm", "-r", str(shots)])
