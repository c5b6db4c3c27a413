# SPDX-License-Identifier: MIT
"""[gid-output]: pictures that wait for gidd, and repaints that fail."""

from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.painter import Painter
from lib.program import BUILD, wait_for
from lib.stream_reader import StreamReader
from lib.weston import Weston

LEFT = "[gid-output]\nname=left\nstream=screen/left\nmode=480x270\n"
SLOTS = 6  # of an output
ODD = BUILD / "tests/compositor/odd_output.so"

pytestmark = pytest.mark.skipif(not ODD.exists(), reason="not with the sanitizers")


class Output:
    """One without a screen, of a Weston in `cluster`, which is read in `open`."""

    def __init__(self, cockpit: Cockpit, folder: Path) -> None:
        self.fails, self.waits = folder / "fails", folder / "waits"
        self.preload = Preload(ODD)
        odd = {"GIDWAY_FAILS": str(self.fails), "GIDWAY_WAITS": str(self.waits)}
        environment = cockpit.env("cluster") | self.preload.env | odd
        self.weston = Weston(folder, environment, kind="kiosk", options=["--no-outputs"])
        self.weston.configure(LEFT)
        self.weston.start()
        self.preload.check("weston")
        wait_for(lambda: cockpit.status("cluster")["streams"], "the stream")
        self.painter = Painter(self.weston.socket, "left", (480, 270))
        self.reader = StreamReader(
            BUILD / "libgid/libgid.so", cockpit.socket("open"), "screen/left"
        )

    def commit(self) -> None:
        """The picture once more, without waiting for it."""
        surface = self.painter.surface
        surface("damage", 0, 0, 480, 270)
        surface("attach", self.painter.buffers[0], 0, 0)
        surface("commit")
        self.painter.client.display.roundtrip()


@pytest.fixture
def output(cockpit: Cockpit, tmp_path: Path) -> Iterator[Output]:
    made = Output(cockpit, tmp_path)
    with made.reader:
        made.reader.wait_picture(made.painter.paint(0))
        yield made
    assert made.weston.stop() == 0, made.weston.read_log()


def test_a_picture_that_waits_is_replaced_with_its_damage(output: Output) -> None:
    """Who draws only what changed would never draw what the first one changed."""
    output.waits.touch()
    output.painter.paint(1, (10, 20, 30, 10))
    wait_for(lambda: not output.waits.exists(), "a picture to wait")
    expected = output.painter.paint(2, (100, 50, 37, 21))
    picture = output.reader.next()
    assert numpy.array_equal(picture.pixels, expected)
    assert picture.damage == (10, 20, 127, 51)


def test_repaints_that_fail_take_no_memory(output: Output) -> None:
    """Each had a slot: after as many as there are no picture came any more."""
    for _ in range(2 * SLOTS):
        output.fails.touch()
        output.commit()
        wait_for(lambda: not output.fails.exists(), "a repaint to fail")
    output.reader.wait_picture(output.painter.paint(3))
