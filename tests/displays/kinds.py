# SPDX-License-Identifier: MIT
"""The kinds of display that gid-cluster can be: what one of them shows, all must.

Which one is tested says GIDWAY_DISPLAY. Those that want a kernel with other drivers are tested in a
guest, by the same tests: see test_in_guests.py.
"""

import mmap
import os
from collections.abc import Callable
from functools import cache

import numpy
from lib.cockpit import Cockpit
from lib.display import Display
from lib.inspected import Inspected, duplicate_descriptor
from lib.program import CONFINE, wait_for
from lib.vkms import CHECKSUMS, Refreshes, checksum

WIDTH, HEIGHT = 640, 480
STREAM = "stream=screen\n"


class Screen(Display, Inspected):
    """Without a device, drawn by pixman. What it shows is read from its stream."""

    keys = STREAM
    more: dict[str, object] = {}

    def __init__(self, cockpit: Cockpit, sections: str) -> None:
        display = f"[display]\nworst-frame=0\nwidth={WIDTH}\nheight={HEIGHT}\n{self.keys}"
        super().__init__(cockpit, sections, display=display, **self.more)
        self.pid = self.program.pid

    def pictures(self) -> list[numpy.ndarray]:
        """What it may be showing now: one of these, of rows of red, green and blue."""
        return [self.screenshot()]

    def is_shown(self, picture: numpy.ndarray) -> bool:
        """Whether that is what is seen of it."""
        return True

    def wait_right(
        self, is_right: Callable[[numpy.ndarray], bool], what: str | Callable[[], str]
    ) -> None:
        def shows() -> bool:
            assert self.program.is_running(), self.program.stderr
            return any(is_right(one) and self.is_shown(one) for one in self.pictures())

        wait_for(shows, what)

    def wait_picture(self, picture: numpy.ndarray, what: str) -> None:
        """To the last pixel."""
        self.wait_right(lambda seen: numpy.array_equal(seen, picture), what)

    def look(self, count: int) -> set[int]:
        """The checksums of all that it shows now, so often."""
        return {checksum(self.screenshot()) for _ in range(count)}


class GlScreen(Screen):
    """Without a device, drawn by OpenGL ES: of llvmpipe, into dma-bufs, which are read."""

    keys = ""
    more = {"under": ("env", "WLR_RENDERER=gles2")}

    def pictures(self) -> list[numpy.ndarray]:
        size, found = WIDTH * HEIGHT * 4, []
        for number, name in self.descriptors().items():
            if not name.startswith("/dmabuf"):
                continue
            try:
                memory = duplicate_descriptor(self.pid, number)
            except AssertionError:
                continue  # it was closed meanwhile
            if os.lseek(memory, 0, os.SEEK_END) == size:
                with mmap.mmap(memory, size, prot=mmap.PROT_READ) as pixels:
                    rows = numpy.frombuffer(pixels, numpy.uint8).reshape(HEIGHT, WIDTH, 4)
                    found.append(rows[..., 2::-1].copy())
                    del rows
            os.close(memory)
        return found


class KmsScreen(Screen):
    """On vkms, drawn by pixman. vkms tells what is scanned out."""

    keys = f"{STREAM}output=Virtual-1\n"
    more = {"inside": {"LIBSEAT_BACKEND": "noop"}, "arguments": CONFINE}

    def is_shown(self, picture: numpy.ndarray) -> bool:
        return refreshes().next() == {checksum(picture)}

    def look(self, count: int) -> set[int]:
        return refreshes().next(count)


@cache
def refreshes() -> Refreshes:
    """The kernel has one reader of them."""
    return Refreshes()


class PlanesScreen(KmsScreen):
    """The same with roles on planes of their own."""

    keys = f"{KmsScreen.keys}planes=on\nwriteback=0\n"

    def are_on_planes(self) -> bool:
        return all(role["place"] == "plane" for role in self.status()["roles"])

    def is_shown(self, picture: numpy.ndarray) -> bool:
        wait_for(self.are_on_planes, "planes again, after the copy of all that is shown")
        return super().is_shown(picture) and self.are_on_planes()


SCREENS = {"pixman": Screen, "gl": GlScreen, "kms": KmsScreen, "planes": PlanesScreen}
# Of a kernel: what it loads for them.
MODULES = {"gl": [], "kms": ["vkms"], "planes": ["vkms enable_overlay=1"]}
KIND = os.environ.get("GIDWAY_DISPLAY", "pixman")


def start(cockpit: Cockpit, sections: str) -> Screen:
    return SCREENS[KIND](cockpit, sections)


def prepare() -> None:
    """Before all tests, in a guest."""
    if os.path.isdir(os.path.dirname(CHECKSUMS)):
        with open(f"{CHECKSUMS}/control", "w") as control:
            control.write("auto")
