# SPDX-License-Identifier: MIT
"""Stock Weston with gid-buffer.so in a domain, without a screen of its own."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from lab.domains.place import Place
from lab.domains.program import LabError, Program

# Nothing but what is shown on purpose, and for ever.
_SHELL = """\
[core]
idle-time=0

[shell]
panel-position=none
locking=false
animation=none
startup-animation=none
close-animation=none
"""


def program_file(name: str) -> str:
    """The file that Weston will find behind the process of a client."""
    found = shutil.which(name)
    if found is None:
        raise LabError(f"there is no {name}: is it built?")
    return os.path.realpath(found)


def role(name: str, client: str, *keys: str) -> str:
    """A section of the configuration: the program that may have this safety surface."""
    lines = ["", "[gid-safety]", f"role={name}", f"clients={program_file(client)}", *keys]
    return "\n".join(lines) + "\n"


class Weston:
    """`shell`: more of its section in the configuration. `log`: it writes its timeline there."""

    def __init__(
        self,
        place: Place,
        roles: Iterable[str],
        options: Iterable[str] = (),
        shell: str = "",
        log: Path | None = None,
    ) -> None:
        """Returns when its module is ready. The place's programs are its clients from then on."""
        self._place = place
        socket = f"{place.domain}.wayland"
        place.environment |= {"WAYLAND_DISPLAY": socket, "XDG_RUNTIME_DIR": str(place.folder)}
        configuration = place.write("weston.ini", "".join([_SHELL, shell, *roles]).encode())
        command = ["weston", "--backend=headless", "--renderer=pixman", "--shell=desktop"]
        command += [f"--socket={socket}", f"--config={configuration}", "--modules=gid-buffer.so"]
        if log is not None:
            place.run(["rm", "-f", str(log)])  # that of one that was killed
            command += [f"--log={log}", "--logger-scopes=log,timeline"]
        self.program: Program = place.start("weston", [*command, *options])

        def is_ready() -> bool:
            """Its socket is there sooner than what the module offers."""
            said = self.program.said() if log is None else place.read(log).decode(errors="replace")
            return "gid: ready" in said

        place.wait_until("the start of Weston with its module", is_ready, "weston")

    def screenshot(self, picture: Path) -> None:
        """Of its whole output, into a file of this machine. It has to run with --debug."""
        shots = self._place.folder / "screenshot"
        script = f"mkdir -p {shots} && cd {shots} && XDG_PICTURES_DIR={shots} weston-screenshooter"
        # It says nothing of the name, which has the time in it.
        names = self._place.run(["sh", "-c", f"{script} >&2 && ls {shots}"]).split()
        if not names:
            raise LabError("Weston gave no screenshot")
        picture.write_bytes(self._place.read(shots / sorted(names)[-1]))
        self._place.run(["rm", "-r", str(shots)])
