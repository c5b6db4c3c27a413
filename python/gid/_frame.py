# SPDX-License-Identifier: MIT
"""A received frame: its pixels in the producer's memory, and its fields."""

import errno
import time
from functools import partial
from typing import Any

from ._errors import GidTimeoutError, LeaseError, error_of
from ._formats import Picture, Plane, name_of, picture_of, visible
from ._gid import Loan, ffi, lib
from ._memory import ImportedSlab

DEVICE_PATIENCE = 1.0  # s, for a device that still draws into the picture
TAKEN = (-errno.ESTALE, -errno.ENOENT, -errno.ENOTCONN)


def _time(value: int) -> int | None:
    return None if value == lib.GID_TIME_NONE else value


class Frame(Loan):
    """A frame that is held until `release()` or the end of its `with`.

        with consumer.frame() as picture:
            print(picture.mean())

    `with` gives `picture`, and releases the frame at its end. If the frame was reclaimed before
    that, it raises LeaseError: results may come from another picture.

    Arrays of a frame are read-only views of the producer's memory. They stay valid memory as long
    as they exist. After the frame is released they show whatever is drawn there next: a later
    picture, a half-drawn one, or zeroes. Use `copy()` to keep a picture.

    A lease ends some time (1 s by default) after the next picture was sent, see `renew()`. All
    times are ns of this machine's CLOCK_MONOTONIC, as `time.monotonic_ns()`; media times are ns
    from the start of the flow. Unknown values are None.
    """

    __slots__ = ()

    @property
    def note(self) -> bytes:
        """Further data of the producer's framework, at most 256 bytes, in its own format."""
        return self._note

    @property
    def _c(self) -> Any:
        """The struct of libgid, valid as long as this object."""
        return ffi.cast("struct gid_frame *", self._address)

    @property
    def _info(self) -> Any:
        return self._about[0]

    # --- pixels ---

    @property
    def planes(self) -> tuple[Plane, ...]:
        """A read-only array for each plane of the whole picture, without the crop.

        The shape is (rows, columns), or (rows, columns, samples) if a pixel or pair of pixels has
        several samples. docs/python.md lists the shape and dtype of each format.
        """
        planes: tuple[Plane, ...] | None = self._planes
        if planes is None:
            planes = self._planes = self._view(self._held())
        return planes

    def _view(self, slab: ImportedSlab) -> tuple[Plane, ...]:
        if self._is_drawn:
            self._wait_for_device()
        with self._consumer.connection:
            return slab.planes(lib.gid_slot_of(self._c.gid))

    @property
    def picture(self) -> Picture:
        """The visible picture: an array, or a tuple of one for each plane.

        It is the part of `planes` within `crop`, with all samples that the crop touches.
        """
        if self._picture is not None:
            return self._picture
        planes = self.planes
        box = self._c.crop
        if box.width > 0 and box.height > 0:
            layout = self._info.layout
            if lib.gid_box_is_within(box, layout.width, layout.height):
                planes = visible(planes, layout.fourcc, box)
        self._picture = picture_of(planes)
        return self._picture

    def copy(self) -> Picture:
        """A copy of `picture`, to keep and to change.

        Raises LeaseError if the frame was reclaimed before the copy was complete.
        """
        self._held()
        picture = self.picture
        copied = tuple(p.copy() for p in picture) if isinstance(picture, tuple) else picture.copy()
        if not self.current:
            raise self._taken()
        return copied

    def _single(self) -> Plane:
        picture = self.picture
        if isinstance(picture, tuple):
            raise BufferError(f"{self.format} has {len(picture)} planes: take those of `planes`")
        array: Plane = picture
        return array

    def __buffer__(self, flags: int) -> memoryview:
        """The buffer protocol, read-only, for formats with one plane: `memoryview(frame)`."""
        return memoryview(self._single())

    def __dlpack__(self, **options: Any) -> Any:
        """For `from_dlpack()` of numpy, torch, jax: shares the memory, for formats with one plane.

        The memory is read-only, which DLPack supports from version 1.0 on. An importer that asks
        for an older version gets BufferError: give it `copy()`, or `torch.from_numpy(picture)`.
        """
        return self._single().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._single().__dlpack_device__()
        return device

    @property
    def metadata(self) -> bytes:
        """Data that the producer sent with the picture, in its own format; b"" if there is none.

        Each call makes a copy. It can hold any bytes: parse them with care. Raises LeaseError if
        the frame was reclaimed.
        """
        slab = self._held()
        with self._consumer.connection:
            if self._consumer.c == ffi.NULL:
                raise self._taken()  # released with the consumer
            for room in (lib.GID_METADATA_DEFAULT, lib.GID_METADATA_MAX):
                to = ffi.new("uint8_t[]", room)
                size = lib.gid_consumer_get_metadata(self._consumer.c, self._c, slab.c, to, room)
                if size != -errno.EMSGSIZE:
                    break
        if size in TAKEN:
            raise self._taken()
        if size < 0:
            raise error_of(size)
        return bytes(ffi.buffer(to, size))

    # --- release and lease ---

    @property
    def current(self) -> bool:
        """Whether everything read from the frame so far is what its producer sent.

        It becomes False when the lease ends or the memory is revoked. Ask after reading. After the
        release it keeps its last value.
        """
        if self._slab is not None:
            with self._consumer.connection:
                if (slab := self._slab) is not None:  # not released meanwhile
                    self._current = self._current and self._look(slab)
        return self._current

    def _look(self, slab: ImportedSlab) -> bool:
        consumer = self._consumer.c
        is_there = consumer != ffi.NULL  # closing the consumer released the slot
        return is_there and bool(lib.gid_py_is_current(consumer, self._c, slab.c))

    def renew(self) -> None:
        """Restarts the leases of all frames that the consumer holds.

        For work that takes longer than a lease: call it three times in each lease_ns of
        `consumer.stats`. A producer that gets no memory for a whole lease reclaims frames.
        """
        self._consumer.renew()

    def __reduce__(self) -> Any:
        raise TypeError("a gid.Frame is on loan: pass its copy()")

    def _end_read(self) -> None:
        if self._slab is not None and self._slab.is_dmabuf and not self._is_drawn:
            lib.gid_dmabuf_end_read(self._info.fd)

    def _held(self) -> ImportedSlab:
        slab: ImportedSlab | None = self._slab
        if slab is None:
            raise self._given_back()
        return slab

    def _given_back(self) -> ValueError:
        return ValueError("the frame was given back: use it inside of `with`, or `copy()` it")

    def _taken(self) -> LeaseError:
        why = f"frame {self.sequence} of {self._consumer.stream} was taken back while it was read"
        how = "read faster, renew() it, or copy() it first"
        return LeaseError(errno.ESTALE, f"{why}: {how}")

    def _wait_for_device(self) -> None:
        end = time.monotonic() + DEVICE_PATIENCE
        while (error := lib.gid_dmabuf_begin_read(self._info.fd)) == -errno.EAGAIN:
            if time.monotonic() > end:
                raise GidTimeoutError(errno.ETIMEDOUT, "a device still draws into the picture")
            time.sleep(0.001)
        if error < 0:
            raise error_of(error)
        self._is_drawn = False

    def _lose(self) -> None:
        """The last reference is gone, and nobody released it."""
        self._end_read()
        copied = ffi.new("struct gid_frame *", self._c[0])
        self._consumer.connection.later(partial(self._consumer.give_back, copied))

    # --- fields ---

    @property
    def format(self) -> str:
        """The pixel format, as drm_fourcc.h names it: "XR24", "NV12"."""
        return name_of(self._info.layout.fourcc)

    @property
    def width(self) -> int:
        """The width of the whole picture, in pixels."""
        return int(self._info.layout.width)

    @property
    def height(self) -> int:
        """The height of the whole picture, in pixels."""
        return int(self._info.layout.height)

    @property
    def colours(self) -> tuple[int, int, int, int]:
        """(primaries, transfer, matrix, range): numbers of ITU-T H.273, 0: unspecified.

        The range is 1 (full) or 2 (limited). Unspecified YUV is BT.601 with limited range.
        """
        said = self._info.layout.colours
        return said.primaries, said.transfer, said.matrix, said.range

    @property
    def description(self) -> str:
        """What the producer's framework says of its pictures, such as GStreamer's caps; or ""."""
        return self._about[1]

    @property
    def sequence(self) -> int:
        """The number of the frame, from 1. A gap means missed frames."""
        return int(self._c.sequence)

    @property
    def capture_time(self) -> int | None:
        """When the picture was captured, ns."""
        return _time(self._c.capture_time)

    @property
    def submit_time(self) -> int:
        """When it was sent, ns."""
        return int(self._c.submit_time)

    @property
    def present_time(self) -> int | None:
        """When it should be shown, ns."""
        return _time(self._c.present_time)

    @property
    def pts(self) -> int | None:
        """Media time at which it should be shown, ns."""
        return _time(self._c.pts)

    @property
    def duration(self) -> int | None:
        """Media time for which it should be shown, ns."""
        return _time(self._c.duration)

    @property
    def crop(self) -> tuple[int, int, int, int]:
        """(x, y, width, height) of the visible part, in pixels; everything if either size is 0."""
        box = self._c.crop
        return box.x, box.y, box.width, box.height

    @property
    def damage(self) -> tuple[int, int, int, int]:
        """(x, y, width, height) of what changed since the previous frame, likewise."""
        box = self._c.damage
        return box.x, box.y, box.width, box.height

    @property
    def transform(self) -> int:
        """How it must be transformed for display, 0 to 7, as enum wl_output_transform."""
        return int(self._c.transform)

    @property
    def flags(self) -> int:
        """Bits of enum gid_frame_flags: `frame.flags & gid.lib.GID_FRAME_CORRUPTED`."""
        return int(self._c.flags)

    def __repr__(self) -> str:
        state = "held" if self._slab is not None else "given back"
        what = f"{self.format} {self.width}x{self.height}"
        return f"<gid.Frame {self.sequence} of {self._consumer.stream}: {what}, {state}>"
