# SPDX-License-Identifier: MIT
"""Pictures of one colour each, which says the picture's number; prints each number with its time.

painter.py PACE SECONDS WIDTH HEIGHT [STREAM]   As a window of $WAYLAND_DISPLAY, or as a stream.

The last picture stays until a signal ends it.

PACE seldom: one each 50 to 150 ms, at any phase of a display's refresh. PACE always: one each time
that the compositor asks for it; as a stream, 60 a second.
"""

import mmap
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lab.domains.wayland import Display, Object, protocol_files

XRGB = 1  # wl_shm's own code of it
BUFFERS = 4
PATIENCE = 60.0  # seconds
SELDOM = (0.05, 0.15)  # seconds
REFRESH = 1 / 60


class Window:
    """Of the whole output, of shared memory."""

    def __init__(self, width: int, height: int) -> None:
        folder = Path(os.environ["XDG_RUNTIME_DIR"])
        self.display = Display(folder / os.environ["WAYLAND_DISPLAY"], protocol_files())
        self.width, self.height = width, height
        size = width * height * 4
        memory = os.memfd_create("painter")
        os.ftruncate(memory, BUFFERS * size)
        data = memoryview(mmap.mmap(memory, BUFFERS * size))
        pool = self.display.bind("wl_shm")("create_pool", memory, BUFFERS * size)
        self.pixels = [data[n * size : (n + 1) * size] for n in range(BUFFERS)]
        self.buffers = [
            pool("create_buffer", n * size, width, height, width * 4, XRGB) for n in range(BUFFERS)
        ]
        self.busy = [False] * BUFFERS
        self.shell = self.display.bind("xdg_wm_base", 1)
        self.surface = self.display.bind("wl_compositor", 4)("create_surface")
        self.role = self.shell("get_xdg_surface", self.surface)
        self.role("get_toplevel")("set_fullscreen", None)
        self.surface("commit")
        self.display.wait_until(lambda: self.role.has("configure"), "configure", PATIENCE)
        self.frame: Object | None = None

    def answer(self) -> None:
        while serial := self.role.take("configure"):
            self.role("ack_configure", *serial)
        while serial := self.shell.take("ping"):
            self.shell("pong", *serial)

    def find_free(self) -> int | None:
        for number, buffer in enumerate(self.buffers):
            if buffer.take("release") is not None:
                self.busy[number] = False
        return None if all(self.busy) else self.busy.index(False)

    def wait_asked(self) -> None:
        """Until the compositor asks for the next picture."""
        if self.frame is not None:
            self.frame.wait("done", PATIENCE)

    def paint(self, number: int) -> int:
        """Returns the time of the commit."""
        self.display.wait_until(lambda: self.find_free() is not None, "free buffer", PATIENCE)
        free = self.find_free()
        self.answer()
        self.busy[free] = True
        self.pixels[free][:] = number.to_bytes(4, "little") * (self.width * self.height)
        self.surface("attach", self.buffers[free], 0, 0)
        self.surface("damage", 0, 0, self.width, self.height)
        self.frame = self.surface("frame")
        committed = time.monotonic_ns()
        self.surface("commit")
        return committed

    def rest(self, seconds: float) -> None:
        """Takes what the compositor says meanwhile."""
        end = time.monotonic() + seconds
        try:
            self.display.wait_until(lambda: False, "", seconds)
        except TimeoutError:
            time.sleep(max(0.0, end - time.monotonic()))


class Stream:
    """Without any compositor: what there is to gain."""

    def __init__(self, width: int, height: int, stream: str) -> None:
        import gid

        self.shape = (height, width)
        self.domain = gid.Domain()
        self.producer = self.domain.producer(stream, "XR24", width, height)
        self.due = time.monotonic()

    def wait_asked(self) -> None:
        self.due += REFRESH
        time.sleep(max(0.0, self.due - time.monotonic()))

    def paint(self, number: int) -> int:
        with self.producer.slot() as picture:
            picture.view("<u4").reshape(self.shape)[:] = number
            committed = time.monotonic_ns()
        return committed

    def rest(self, seconds: float) -> None:
        time.sleep(seconds)


def pause_of(pace: str, painter: Window | Stream) -> Callable[[], None]:
    if pace == "always":
        return painter.wait_asked
    return lambda: painter.rest(random.uniform(*SELDOM))


def main() -> None:
    pace, seconds, width, height, *stream = sys.argv[1:]
    size = int(width), int(height)
    painter = Stream(*size, *stream) if stream else Window(*size)
    pause = pause_of(pace, painter)
    end = time.monotonic() + float(seconds)
    number = 0
    while time.monotonic() < end:
        number += 1
        print(number, painter.paint(number), flush=True)
        pause()
    print("done", flush=True)
    signal.pause()


main()
