# SPDX-License-Identifier: MIT
"""A desktop in one domain that is used from another one, whose user is a program in a third."""

from pathlib import Path

from lib.cockpit import Cockpit
from lib.input_window import InputWindow, seat_devices
from lib.program import BUILD, Program, wait_for
from lib.typist import LEASE_MS, Typist
from lib.weston import Weston

CONFIG = """
[domain open]
number=1
local=*
[domain cluster]
number=2
local=*
[domain driver]
number=3
local=*
[share open cluster]
streams=*
[share cluster open]
streams=*
[share driver cluster]
streams=*
"""
DESK_SIZE = (640, 360)
SCREEN_SIZE = (800, 360)  # the picture has 80 pixels to its left and right
DESK = "[gid-output]\nname=desk\nstream=desk\nmode=640x360\ninput=cluster\n"
SCREEN = "[gid-output]\nname=screen\nstream=screen\nmode=800x360\ninput=driver\n"


MARK, LAST_MARK = 59, 60  # KEY_F1 and KEY_F2, which nobody types otherwise


class TwoDesks:
    """`desk` is the one that is used, `screen` the one that gid-view is on."""

    def __init__(self, cockpit: Cockpit, folder: Path) -> None:
        self.cockpit = cockpit
        self.desk = self._weston(folder / "desk", "open", DESK)
        self.screen = self._weston(folder / "screen", "cluster", SCREEN)
        self.typist = Typist(cockpit.env("driver"), "input/screen")

    def _weston(self, folder: Path, domain: str, config: str) -> Weston:
        folder.mkdir()
        weston = Weston(folder, self.cockpit.env(domain))
        weston.configure(config)
        return weston.start()

    def finish(self) -> None:
        self.typist.stop()
        for weston in (self.desk, self.screen):
            if weston.is_running():
                assert weston.stop() == 0, weston.read_log()

    def window(self) -> InputWindow:
        """On the desktop that is used."""
        return InputWindow(self.desk.socket, "desk", DESK_SIZE)

    def settle(self, window: InputWindow) -> list[tuple[int, int]]:
        """What keys the window gets, until all of before have come and nobody is late any more."""
        keys: list[tuple[int, int]] = []

        def is_heard() -> bool:
            self.typist.type(MARK)
            window.display.roundtrip()
            keys.extend(window.take_keys())
            return (MARK, 0) in keys

        wait_for(is_heard, "the view to have the keyboard")
        self.typist.type(LAST_MARK)
        while (LAST_MARK, 0) not in keys:
            keys += window.wait_keys(1)
        return [key for key in keys if key[0] not in (MARK, LAST_MARK)]

    def use(self) -> tuple[Program, InputWindow]:
        """A view that has the keyboard, and a window on the desktop that has its input."""
        view = self.view()
        window = self.window()
        self.settle(window)
        return view, window

    def view(self) -> Program:
        """One whose input is taken."""
        program = self.start_view()
        program.wait_output("input/desk is taken")
        self.wait_seat()
        return program

    def start_view(self) -> Program:
        command = [BUILD / "clients/gid-view", "--domain=open", "--stream=desk", "--input"]
        return self.screen.client([*command, "--output=screen", f"--lease={LEASE_MS}"])

    def wait_seat(self) -> None:
        """Until the desktop's seat has all devices, which are those of the view."""
        wait_for(lambda: seat_devices(self.desk, "input/desk") == 7, "the seat's devices")
