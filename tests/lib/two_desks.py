# SPDX-License-Identifier: MIT
"""A desktop in one domain that is used from another one, whose user is a program in a third."""

from pathlib import Path

from lib.cockpit import Cockpit
from lib.input_window import InputWindow, seat_devices
from lib.program import BUILD, Program, wait_for
from lib.typist import LEASE_MS, Typist
from lib.weston import Weston

from lab.domains.configuration import configuration

CONFIG = configuration(
    {"open": "local=*", "cluster": "local=*", "driver": "local=*"},
    {"open cluster": "*", "cluster open": "*", "driver cluster": "*"},
)
DESK_SIZE = (640, 360)
SCREEN_SIZE = (800, 360)  # the picture has 80 pixels to its left and right
SCREEN = "[gid-output]\nname=screen\nstream=screen\nmode=800x360\ninput=driver\n"


def desk_output(name: str, keys: str = "input=cluster\n") -> str:
    return f"[gid-output]\nname={name}\nstream={name}\nmode=640x360\n{keys}"


MARK, LAST_MARK = 59, 60  # KEY_F1 and KEY_F2, which nobody types otherwise


def settle(typist: Typist, window: InputWindow) -> list[tuple[int, int]]:
    """What keys the window gets, until all of before have come and nobody is late any more."""
    keys: list[tuple[int, int]] = []

    def is_heard() -> bool:
        typist.type(MARK)
        window.display.roundtrip()
        keys.extend(window.take_keys())
        return (MARK, 0) in keys

    wait_for(is_heard, "the view to have the keyboard")
    typist.type(LAST_MARK)
    while (LAST_MARK, 0) not in keys:
        keys += window.wait_keys(1)
    return [key for key in keys if key[0] not in (MARK, LAST_MARK)]


class TwoDesks:
    """`desk` is the one that is used, `screen` the one that gid-view is on.

    `name` is that of the desk's output, and of its stream. `keys` are more of the sections. `kind`
    is the desk's shell. `used`: the whole desk is, by a seat of its output. The user of the screen
    has the `devices`.
    """

    def __init__(
        self,
        cockpit: Cockpit,
        folder: Path,
        name: str = "desk",
        keys: tuple[str, str] = ("", ""),
        kind: str = "desktop",
        used: bool = True,
        devices: int = 7,
    ) -> None:
        self.cockpit, self.name = cockpit, name
        output = desk_output(name) if used else desk_output(name, "")
        self.desk = self._weston(folder / "desk", "open", output + keys[0], kind)
        self.screen = self._weston(folder / "screen", "cluster", SCREEN + keys[1])
        self.typist = Typist(cockpit.env("driver"), "input/screen", devices)

    def _weston(self, folder: Path, domain: str, config: str, kind: str = "desktop") -> Weston:
        folder.mkdir()
        # kiosk-shell puts windows on the first output
        options = ["--no-outputs"] if kind == "kiosk" else []
        weston = Weston(folder, self.cockpit.env(domain), kind=kind, options=options)
        weston.configure(config)
        return weston.start()

    def finish(self) -> None:
        self.typist.stop()
        for weston in (self.desk, self.screen):
            assert weston.stop() == 0, weston.read_log()

    def window(self, size: tuple[int, int] = DESK_SIZE) -> InputWindow:
        """On the desktop that is used."""
        return InputWindow(self.desk.socket, self.name, size)

    def settle(self, window: InputWindow) -> list[tuple[int, int]]:
        return settle(self.typist, window)

    def use(self, *options: str) -> tuple[Program, InputWindow]:
        """A view that has the keyboard, and a window on the desktop that has its input."""
        view = self.view(*options)
        window = self.window()
        self.settle(window)
        return view, window

    def view(self, *options: str) -> Program:
        """One whose input is taken."""
        return self.taken(self.start_view(*options))

    def taken(self, view: Program) -> Program:
        """Once its input is taken."""
        view.wait_output(f"input/{self.name} is taken")
        self.wait_seat()
        return view

    def start_view(self, *options: str) -> Program:
        shown = ("--domain=open", f"--stream={self.name}", "--input", "--output=screen")
        return self.start(*shown, *options)

    def start(self, *options: str) -> Program:
        """A view on the screen."""
        return self.screen.client([BUILD / "clients/gid-view", *options, f"--lease={LEASE_MS}"])

    def wait_seat(self) -> None:
        """Until the desktop's seat has all devices, which are those of the view."""
        seat = f"input/{self.name}"
        wait_for(lambda: seat_devices(self.desk, seat) == 7, "the seat's devices")
