# SPDX-License-Identifier: MIT
"""A reader of a stream, that sees each frame as libgid gives it: pixels, damage and times.

As a program, `stream_reader.py LIBGID SOCKET STREAM`, it says "picture" for each.
"""

import ctypes
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy
from lib.owner import SlabInfo

HIDDEN, HIDDEN_SHIFT = 1 << 6, 24  # in a frame's flags
WAIT_S = 240  # as PATIENCE, which is not there where this runs as a program


class Box(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("x", "y", "width", "height")]


class Frame(ctypes.Structure):
    _fields_ = [
        *[(name, ctypes.c_uint64) for name in ("gid", "sequence", "capture_time", "submit_time")],
        *[(name, ctypes.c_uint64) for name in ("present_time", "pts", "dts", "duration")],
        ("damage", Box),
        ("crop", Box),
        ("content_hash", ctypes.c_uint64),
        ("flags", ctypes.c_uint32),
        ("transform", ctypes.c_uint32),
        *[(name, ctypes.c_uint64) for name in ("index", "offset", "offset_end")],
        ("media_flags", ctypes.c_uint32),
        ("note_size", ctypes.c_uint32),
        ("note", ctypes.c_void_p),
        ("reserved", ctypes.c_uint64),
    ]


class ConsumerOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("credit", ctypes.c_uint32),
        *[(name, ctypes.c_bool) for name in ("drop_old", "reconnect", "sleeps")],
        ("spin_us", ctypes.c_uint32),
        *[(name, ctypes.c_void_p) for name in ("state", "data", "timeline", "answered")],
    ]


class Shown(ctypes.Structure):
    _fields_ = [
        *[(name, ctypes.c_uint64) for name in ("sequence", "time", "refresh_ns", "window_ns")],
        ("reserved", ctypes.c_uint64 * 4),
    ]


class Stats(ctypes.Structure):
    _fields_ = [
        ("frames", ctypes.c_uint64),
        ("missed", ctypes.c_uint64),
        ("held", ctypes.c_uint32),
        ("unread", ctypes.c_uint32),
        *[(name, ctypes.c_uint64) for name in ("reconnects", "copied_frames", "copied_bytes")],
        ("others", ctypes.c_uint64 * 16),
    ]


@dataclass
class Picture:
    pixels: numpy.ndarray  # height x width x (blue, green, red)
    frame: Frame

    @property
    def damage(self) -> tuple[int, int, int, int]:
        box = self.frame.damage
        return box.x, box.y, box.width, box.height


class StreamReader:
    """In the domain of the socket, of a stream of `owner`."""

    def __init__(self, library: Path, socket: Path, stream: str, owner: str = "cluster") -> None:
        self.lib = ctypes.CDLL(str(library))
        self.lib.gid_slab_view.restype = ctypes.c_void_p
        self.domain, self.consumer = ctypes.c_void_p(), ctypes.c_void_p()
        place = str(socket).encode()
        self.check(self.lib.gid_domain_connect(place, ctypes.byref(self.domain)))
        options = ConsumerOptions(size=ctypes.sizeof(ConsumerOptions), reconnect=True)
        self.check(
            self.lib.gid_consumer_create(
                self.domain,
                owner.encode(),
                stream.encode(),
                ctypes.byref(options),
                ctypes.byref(self.consumer),
            )
        )

    def __enter__(self) -> "StreamReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.lib.gid_consumer_destroy(self.consumer)
        self.lib.gid_domain_destroy(self.domain)

    def check(self, result: int) -> int:
        assert result >= 0, result
        return result

    def wait(self, seconds: float) -> bool:
        """Whether there is an entry by then."""
        return self.check(self.lib.gid_consumer_wait(self.consumer, int(seconds * 1000))) == 1

    def next(self, seconds: float = WAIT_S) -> Picture:
        """The next picture, which is given back at once."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            frame = Frame()
            if self.lib.gid_consumer_receive(self.consumer, ctypes.byref(frame)) != 1:
                self.wait(left)
                continue
            picture = self.look(frame) if frame.gid else None
            self.lib.gid_consumer_release(self.consumer, ctypes.byref(frame))
            if picture is not None:
                return picture
        raise TimeoutError("no picture")

    def wait_picture(self, expected: numpy.ndarray, seconds: float = WAIT_S) -> Frame:
        """The first frame that shows exactly this."""
        end = time.monotonic() + seconds
        while True:
            picture = self.next(end - time.monotonic())
            if numpy.array_equal(picture.pixels, expected):
                return picture.frame

    def wait_hidden(self, reason: int, seconds: float = WAIT_S) -> None:
        """Until it is told that there is nothing to show, for this reason (enum gid_hidden)."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            frame = Frame()
            if self.lib.gid_consumer_receive(self.consumer, ctypes.byref(frame)) != 1:
                self.wait(left)
                continue
            self.lib.gid_consumer_release(self.consumer, ctypes.byref(frame))
            if frame.flags & HIDDEN and frame.flags >> HIDDEN_SHIFT == reason:
                return
        raise TimeoutError("there is something to show")

    def look(self, frame: Frame) -> Picture | None:
        slab, info = ctypes.c_void_p(), SlabInfo()
        if self.lib.gid_slab_import(self.domain, ctypes.c_uint64(frame.gid), ctypes.byref(slab)):
            return None  # taken back meanwhile
        self.lib.gid_slab_get_info(slab, ctypes.byref(info))
        layout = info.layout
        offset, stride = layout.planes[0]
        data = self.lib.gid_slab_view(slab, frame.gid >> 16 & 0xFFFF)
        raw = ctypes.string_at(data + offset, stride * layout.height)
        rows = numpy.frombuffer(raw, numpy.uint8).reshape(layout.height, stride // 4, 4)
        pixels = rows[:, : layout.width, :3].copy()
        self.lib.gid_slab_unref(slab)
        return Picture(pixels, frame)

    def tell_shown(self, frame: Frame, when: int, refresh: int, window: int = 0) -> None:
        """As a display of so many ns a refresh, which showed it then. It begins to compose so many
        ns before each; 0: it does not tell."""
        shown = Shown(frame.sequence, when, refresh, window)
        self.check(self.lib.gid_consumer_tell_shown(self.consumer, ctypes.byref(shown)))

    def stats(self) -> Stats:
        stats = Stats()
        self.lib.gid_consumer_get_stats(self.consumer, ctypes.byref(stats))
        return stats


class Keeper(threading.Thread):
    """Gives nothing back of all that it gets, and says all the time that it uses it."""

    def __init__(self, *place: object) -> None:
        """As StreamReader's."""
        super().__init__()
        self._place = place
        self.ends = threading.Event()
        self.has_something = threading.Event()

    def run(self) -> None:
        with StreamReader(*self._place) as reader:
            while not self.ends.is_set():
                reader.wait(0.02)
                if reader.lib.gid_consumer_receive(reader.consumer, ctypes.byref(Frame())) == 1:
                    self.has_something.set()
                reader.lib.gid_consumer_renew(reader.consumer)


@contextmanager
def keeper(*place: object) -> Iterator[None]:
    """One that keeps something already."""
    thread = Keeper(*place)
    thread.start()
    try:
        assert thread.has_something.wait(WAIT_S)
        yield
    finally:
        thread.ends.set()
        thread.join()


def main() -> None:
    with StreamReader(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]) as reader:
        while True:
            reader.next()
            print("picture", flush=True)


if __name__ == "__main__":
    main()
