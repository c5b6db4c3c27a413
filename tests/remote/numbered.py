# SPDX-License-Identifier: MIT
"""Pictures with a number that survives an encoder: 16 squares, black or white."""

import threading
import time

import gi
import numpy
from lib.program import BUILD

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

WIDTH, HEIGHT, RATE = 320, 240, 30
BITS = 16
SIDE = 40  # of a square, in pixels: two rows of eight


def _begin() -> None:
    """GStreamer, with the elements of the build folder."""
    Gst.init(None)
    Gst.Registry.get().scan_path(str(BUILD / "gst"))


def _square(bit: int) -> tuple[slice, slice]:
    row, column = divmod(bit, WIDTH // SIDE)
    return slice(row * SIDE, (row + 1) * SIDE), slice(column * SIDE, (column + 1) * SIDE)


def draw(number: int) -> numpy.ndarray:
    picture = numpy.full((HEIGHT, WIDTH, 4), 128, numpy.uint8)
    for bit in range(BITS):
        picture[_square(bit)] = 235 if number >> bit & 1 else 20
    return picture


def read(grey: numpy.ndarray) -> int:
    """The number of a picture, or -1 where a square is neither black nor white."""
    number = 0
    for bit in range(BITS):
        middle = grey[_square(bit)][10:-10, 10:-10].mean()
        if 90 < middle < 165:
            return -1
        number |= (middle > 128) << bit
    return number


class Source:
    """Sends numbered pictures as the stream `movie` of a domain, from a thread."""

    def __init__(self, domain: str) -> None:
        """`domain` is the path of its gidd's socket."""
        _begin()
        caps = f"video/x-raw,format=BGRx,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
        self._pipeline = Gst.parse_launch(
            f'appsrc name=in is-live=true do-timestamp=true format=time caps="{caps}" '
            f"! gidsink stream=movie sync=false domain={domain}"
        )
        self._in = self._pipeline.get_by_name("in")
        self.sent: dict[int, float] = {}
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._pipeline.set_state(Gst.State.PLAYING)
        self._thread.start()

    def _run(self) -> None:
        start = time.monotonic()
        number = 0
        while not self._ends.wait(max(0, start + number / RATE - time.monotonic())):
            buffer = Gst.Buffer.new_wrapped(draw(number).tobytes())
            self.sent[number] = time.monotonic()
            self._in.emit("push-buffer", buffer)
            number = (number + 1) % (1 << BITS)

    def close(self) -> None:
        self._ends.set()
        self._thread.join()
        self._pipeline.set_state(Gst.State.NULL)


class Sink:
    """Reads the stream `movie` of a domain."""

    def __init__(self, domain: str) -> None:
        _begin()
        # It reads as the domain itself does.
        self._pipeline = Gst.parse_launch(
            f"gidsrc reader={domain} stream=movie ! videoconvert ! video/x-raw,format=GRAY8 "
            "! appsink name=out sync=false max-buffers=2 drop=true"
        )
        self._out = self._pipeline.get_by_name("out")
        self._pipeline.set_state(Gst.State.PLAYING)

    def receive(self, seconds: float) -> tuple[int, float]:
        """The number of the next picture, and when it came."""
        sample = self._out.emit("try-pull-sample", int(seconds * Gst.SECOND))
        assert sample is not None, f"no picture within {seconds} s"
        came = time.monotonic()
        data = sample.get_buffer().extract_dup(0, WIDTH * HEIGHT)
        return read(numpy.frombuffer(data, numpy.uint8).reshape(HEIGHT, WIDTH)), came

    def close(self) -> None:
        self._pipeline.set_state(Gst.State.NULL)
