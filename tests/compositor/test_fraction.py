# SPDX-License-Identifier: MIT
"""gid-view --desktop on a screen whose scale is a fraction: no pixel of the desktop is scaled."""

from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.painter import Painter
from lib.program import BUILD, Program, wait_for
from lib.two_desks import CONFIG, desk_output
from lib.weston import Weston, bind_output
from lib.wlroots_screen import WlrootsScreen

from lab.domains.wayland import Display

RESIZE = "resize=1600x1000\n"


@pytest.fixture
def cockpit() -> Iterator[Cockpit]:
    made = Cockpit(CONFIG)
    made.start_all()
    yield made
    made.close()


def wait_size(weston: Weston, output: str, size: tuple[int, int]) -> None:
    """As its clients are told."""
    with Display(weston.socket, weston.protocols) as display:
        told = bind_output(display, output)

        def there() -> bool:
            display.roundtrip()
            return [args[1:3] for name, args in told.events if name == "mode"][-1] == size

        wait_for(there, f"{size}")


@pytest.mark.parametrize(("size", "scale"), [((960, 540), 1.5), ((1000, 500), 1.25)])
def test_pixel_by_pixel(
    cockpit: Cockpit, tmp_path: Path, size: tuple[int, int], scale: float
) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    desk = Weston(folder, cockpit.env("open"))
    desk.configure(desk_output("desktop") + RESIZE + "scale=1\n")
    desk.start()
    screen = WlrootsScreen(cockpit, tmp_path, size=size, scale=scale)
    screen.wait_ready()
    command = [BUILD / "clients/gid-view", "--desktop=open", "--fullscreen"]
    view = Program(command, screen.environment, tmp_path)
    wait_size(desk, "desktop", size)
    painter = Painter(desk.socket, "desktop", size)
    picture = painter.paint(1)
    wait_for(lambda: numpy.array_equal(screen.screenshot(), picture), "each pixel of the picture")
    assert view.stop() == 0
    screen.close()
    assert desk.stop() == 0, desk.read_log()
