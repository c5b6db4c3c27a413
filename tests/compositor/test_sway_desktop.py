# SPDX-License-Identifier: MIT
"""The desktop of a sway in a window of another domain: it has the window's size, and an arrow."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.input_window import InputWindow
from lib.painter import Painter
from lib.program import BUILD, Program, wait_for
from lib.sway import Sway, why_no_sway
from lib.two_desks import CONFIG, SCREEN, SCREEN_SIZE
from lib.typist import LEASE_MS, Typist
from lib.weston import Weston

VIEW = ["--desktop=open", "--output=screen", f"--lease={LEASE_MS}"]
SIDE = 32  # of a square that has all of the arrow


class SwayDesk:
    """In `open`, which is used from a Weston in `cluster`, whose user is a program in `driver`."""

    def __init__(self, cockpit: Cockpit, folder: Path) -> None:
        self.sway = Sway(folder, cockpit.env("open"))
        (folder / "screen").mkdir()
        self.screen = Weston(folder / "screen", cockpit.env("cluster"))
        self.screen.configure(f"{SCREEN}resize=1600x1000\n")
        self.screen.start()
        self.typist = Typist(cockpit.env("driver"), "input/screen")
        self.programs: list[Program] = []

    def start(self, name: str, *options: str) -> Program:
        """On the desktop."""
        command = [BUILD / "clients" / name, "--stream=desktop", "--output=HEADLESS-1", *options]
        program = Program(command, self.sway.environment, self.sway.folder)
        self.programs.append(program)
        return program

    def view(self) -> Program:
        view = self.screen.client([BUILD / "clients/gid-view", *VIEW], WAYLAND_DEBUG="client")
        self.programs.append(view)
        return view

    def wait_size(self, size: tuple[int, int]) -> None:
        def has_it() -> bool:
            mode = self.sway.outputs()["HEADLESS-1"]["current_mode"]
            return (mode["width"], mode["height"]) == size

        wait_for(has_it, f"the desktop to have {size}")

    def arrow(self, picture: numpy.ndarray) -> tuple[int, ...]:
        """Where it begins on the screen, which shows the picture otherwise."""
        screen = self.screen.screenshot("screen")
        if screen.shape != picture.shape:
            return ()
        changed = numpy.argwhere((screen != picture).any(axis=2))
        if len(changed) == 0 or (numpy.ptp(changed, axis=0) >= SIDE).any():
            return ()
        return tuple(map(int, changed.min(axis=0)))

    def finish(self) -> None:
        for program in self.programs:
            program.kill()
        self.typist.stop()
        assert self.screen.stop() == 0, self.screen.read_log()
        self.sway.stop()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[SwayDesk]:
    if why := why_no_sway():
        pytest.skip(why)
    cockpit = Cockpit(CONFIG)
    cockpit.start_all()
    made = SwayDesk(cockpit, tmp_path)
    yield made
    made.finish()
    cockpit.close()


def test_the_size_follows_the_window(desk: SwayDesk) -> None:
    """Each pixel of a window that fills the desktop is on the screen, as it was drawn."""
    desk.start("gid-capture", "--no-cursor")
    desk.start("gid-input", "--domain=cluster", "--resize=1600x1000")
    desk.view()
    desk.wait_size(SCREEN_SIZE)
    for seed, size in enumerate([(1000, 620), (333, 277)]):
        desk.typist.wish(*size)
        desk.wait_size(size)
        painter = Painter(desk.sway.socket, "HEADLESS-1", size)
        picture = painter.paint(seed)
        wait_for(
            lambda picture=picture: len(desk.arrow(picture)) == 2,
            f"the picture of {size} on the screen, with an arrow",
        )


def cursors(view: Program) -> list[str]:
    """What gid-view gave the pointer: a surface, or nil."""
    return re.findall(r"wl_pointer[#@]\d+\.set_cursor\(\d+, (nil|wl_surface[#@]\d+)", view.stderr)


@pytest.mark.parametrize("there", [True, False])
def test_the_cursor(desk: SwayDesk, there: bool) -> None:
    """Of a picture that has one in it the pointer shows none; else it is an arrow."""
    desk.start("gid-capture", *([] if there else ["--no-cursor"]))
    taker = desk.start("gid-input", "--domain=cluster", "--resize=1600x1000")
    view = desk.view()
    taker.wait_output("taking input/desktop")
    desk.wait_size(SCREEN_SIZE)
    devices = ("keyboard", "pointer")
    window = InputWindow(desk.sway.socket, "HEADLESS-1", SCREEN_SIZE, "seat0", devices, False)
    picture = window.painter.paint(3)

    def is_pointed_at() -> bool:
        desk.typist.point(0.5, 0.5)
        return len(cursors(view)) > 0

    wait_for(is_pointed_at, "the pointer on the picture")
    assert (cursors(view)[0] == "nil") == there
    if not there:
        middle = numpy.array((SCREEN_SIZE[1] // 2, SCREEN_SIZE[0] // 2))

        def is_seen() -> bool:
            at = desk.arrow(picture)
            return len(at) == 2 and bool((abs(middle - at) < SIDE).all())

        wait_for(is_seen, "the arrow on the screen")
