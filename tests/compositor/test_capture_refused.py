# SPDX-License-Identifier: MIT
"""gid-capture in compositors that real ones are not: by each protocol it refuses all pictures, or
has more of them than a stream may have."""

import time
from pathlib import Path
from typing import Any

import pytest
from lib.cockpit import Cockpit
from lib.false_compositor import FalseCompositor, Served
from lib.program import BUILD, Program, wait_for
from lib.stream_reader import StreamReader
from lib.weston import XRGB8888

CAPTURE = BUILD / "clients/gid-capture"
LIBGID = BUILD / "libgid/libgid.so"
GLOBALS = {
    "weston": ("weston_capture_v1",),
    "screencopy": ("zwlr_screencopy_manager_v1",),
    "image-copy": (
        "ext_image_copy_capture_manager_v1",
        "ext_output_image_capture_source_manager_v1",
    ),
}
SHM_XRGB8888 = 1
REFUSED_EACH_S = 0.1  # a compositor that goes on refusing is asked so often
WATCHED_S = 1.5


class Refusing:
    """Its pictures have a size, and each is refused. Counts how often it is asked for one."""

    def __init__(self, folder: Path, by: str, size: tuple[int, int]) -> None:
        self.size, self.asked = size, 0
        offered = {"wl_shm": 1, "wl_output": 1} | dict.fromkeys(GLOBALS[by], 1)
        if by == "screencopy":
            offered["zwlr_screencopy_manager_v1"] = 3
        self.compositor = FalseCompositor(folder, offered, self._answer)

    def _answer(
        self, compositor: FalseCompositor, target: Served, request: str, args: list[Any]
    ) -> None:
        match target.interface, request:
            case "weston_capture_v1", "create":
                compositor.send(args[-1], "format", XRGB8888)
                compositor.send(args[-1], "size", *self.size)
            case "weston_capture_source_v1", "capture":
                self._refuse(target, "retry")
            case "zwlr_screencopy_manager_v1", "capture_output":
                width, height = self.size
                compositor.send(args[0], "buffer", SHM_XRGB8888, width, height, width * 4)
                compositor.send(args[0], "buffer_done")
            case "zwlr_screencopy_frame_v1", "copy" | "copy_with_damage":
                self._refuse(target, "failed")
            case "ext_image_copy_capture_manager_v1", "create_session":
                compositor.send(args[0], "buffer_size", *self.size)
                compositor.send(args[0], "shm_format", SHM_XRGB8888)
                compositor.send(args[0], "done")
            case "ext_image_copy_capture_frame_v1", "capture":
                self._refuse(target, "failed", 0)

    def _refuse(self, target: Served, event: str, *args: int) -> None:
        self.asked += 1
        self.compositor.send(target, event, *args)


def capture(cockpit: Cockpit, compositor: FalseCompositor) -> Program:
    environment = cockpit.env("cluster") | compositor.environment
    return Program([CAPTURE, "--stream=desktop"], environment, cockpit.folder)


@pytest.mark.parametrize("by", GLOBALS)
def test_each_picture_is_refused(cockpit: Cockpit, tmp_path: Path, by: str) -> None:
    """It is not asked as fast as it answers: that would take a processor of each of both."""
    refusing = Refusing(tmp_path, by, (64, 48))
    with refusing.compositor as compositor:
        program = capture(cockpit, compositor)
        wait_for(lambda: cockpit.status("cluster")["streams"], "the stream")
        with StreamReader(LIBGID, cockpit.socket("open"), "desktop", "cluster"):
            wait_for(lambda: refusing.asked >= 6, "it to be asked")  # from now on at that rate
            before, begun = refusing.asked, time.monotonic()
            time.sleep(WATCHED_S)
            asked, passed = refusing.asked - before, time.monotonic() - begun
            wait_for(lambda: refusing.asked > before + asked, "it to be asked again")
        assert asked <= 1 + passed / REFUSED_EACH_S
        assert program.stop() == 0


@pytest.mark.parametrize("size", [(16385, 2), (2, 16385)])
@pytest.mark.parametrize("by", GLOBALS)
def test_an_output_larger_than_a_stream(
    cockpit: Cockpit, tmp_path: Path, by: str, size: tuple[int, int]
) -> None:
    """Nobody waits for a picture that cannot come."""
    refusing = Refusing(tmp_path, by, size)
    with refusing.compositor as compositor:
        program = capture(cockpit, compositor)
        assert program.wait() == 1
    assert (
        f"its pictures have {size[0]}x{size[1]} pixels, and those of a stream at most 16384x16384"
    ) in program.stderr
    assert refusing.asked == 0
