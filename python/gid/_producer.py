# SPDX-License-Identifier: MIT
"""The producer of a stream, and its slots."""

import contextlib
import errno
from collections.abc import Sequence
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from ._connection import (
    SERVE_EVERY,
    Connection,
    Deadline,
    Waiter,
    belongs_to_its_process,
    c_text,
)
from ._consumer import fields
from ._errors import GidError, GidTimeoutError
from ._formats import Picture, Plane, picture_of, views_of
from ._gid import Draft, ffi, lib
from ._memory import keep

DRAIN = 1.0  # s: how long close() waits for readers of the last frames


class Said(TypedDict, total=False):
    """Fields of a frame. Times are ns, boxes are (x, y, width, height) in pixels.

    None leaves a field unset, so that the fields of one frame can be passed on to another.
    """

    pts: int | None
    dts: int | None
    duration: int | None
    capture_time: int | None
    present_time: int | None
    crop: tuple[int, int, int, int] | None
    damage: tuple[int, int, int, int] | None
    flags: int | None
    transform: int | None
    note: bytes | None
    metadata: bytes | None


SAID = Said.__annotations__.keys()


def check_said(said: Said) -> None:
    if unknown := said.keys() - SAID:
        raise TypeError(f"of a frame can be said {', '.join(SAID)}: {unknown}")


def check_numbers(given: npt.NDArray[Any], wanted: np.dtype[Any]) -> None:
    """Raises TypeError if numbers would change. Larger integer types are allowed, as lists are
    int64.
    """
    if np.can_cast(given.dtype, wanted, "safe"):
        return
    if given.dtype.kind in "iu" and wanted.kind == "u":
        least, most, limit = given.min(), given.max(), np.iinfo(wanted).max
        if least < 0 or most > limit:
            raise TypeError(f"numbers from {least} to {most}: those from 0 to {limit} are needed")
    elif given.dtype.kind not in "iu" and not np.can_cast(given.dtype, wanted, "same_kind"):
        raise TypeError(f"an array of {given.dtype}: {wanted} is needed")


class Slot(Draft):
    """A free slot, to be drawn into and sent.

        with producer.slot(pts=0) as picture:
            picture[:] = 0

    `with` gives `picture`, and sends it at its end, unless an exception is raised. Or call
    `submit()` or `cancel()`. After that readers read the slot: do not write into its arrays any
    more. The memory still holds an older picture.
    """

    __slots__ = ()

    def __init__(self, producer: "Producer", said: Said) -> None:
        """It has no slot until one is taken."""
        self._bind(producer, producer.address, producer.connection, said)
        self._planes = ()

    @property
    def c(self) -> Any:
        """Its number, for libgid; -1: none."""
        return ffi.cast("int32_t *", self._address)

    @property
    def planes(self) -> tuple[Plane, ...]:
        """A writable array for each plane, with the shapes of `Frame.planes`."""
        return self._planes

    @property
    def picture(self) -> Picture:
        """The array, or a tuple if the format has several planes."""
        return picture_of(self.planes)

    def submit(self, **said: Unpack[Said]) -> int:
        """Sends the slot, and returns the number of readers.

        Raises GidError: a field is out of range, or the memory was revoked. The slot is free again
        then.
        """
        if said:
            check_said(said)
            said = {**self._said, **said}
        else:
            said = self._said
        if not said:
            return self._send()
        self._end()
        return int(self._producer.send(self.c, said))

    def cancel(self) -> None:
        """Frees the slot without sending it. Does nothing after `submit()`."""
        self._end()
        self._producer.give(self.c)

    def __reduce__(self) -> Any:
        raise TypeError("a gid.Slot is memory that is sent: copy its arrays")

    def _lose(self) -> None:
        """The last reference is gone, and it was not sent."""
        number = ffi.new("int32_t *", self._number)
        self._producer.connection.later(partial(self._producer.give, number))


class Producer:
    """Sends pictures of one format and size. Made by `Domain.producer()`.

        with domain.producer("camera/front", "XR24", 640, 480) as producer:
            with producer.slot() as picture:
                picture[...] = camera.read()

    Readers can come and go while the program is busy: a thread of this package handles them. Any
    thread may use a producer; after a fork the child cannot (ForkError).
    """

    def __init__(
        self,
        connection: Connection,
        stream: str,
        layout: Any,
        slots: int,
        description: str | None,
        protection: Any | None,
        **behaviour: Any,
    ) -> None:
        """`layout` and `protection` are structs of libgid, `behaviour` are fields of struct
        gid_producer_options. The producer owns the protection.
        """
        self.connection = connection
        self.stream = stream
        self.writer = ffi.new("struct gid_py_writer *")
        self.writer.lock = connection.lock
        self.address = int(ffi.cast("uintptr_t", self.writer))
        self.writer.is_patient = behaviour["patient"]
        self._layout = layout
        self._protection = protection
        self._frame = ffi.new("struct gid_frame *")  # the fields of the frame that is being sent
        self._views: dict[int, tuple[Plane, ...]] = {}  # for each slot
        options = ffi.new("struct gid_producer_options *", {"quiet": True, **behaviour})
        options.size = ffi.sizeof(options[0])
        text = ffi.NULL if description is None else c_text(description)
        slab, out = ffi.new("struct gid_slab **"), ffi.new("struct gid_producer **")
        with connection:
            domain, name = connection.open(), c_text(stream)
            connection.check(
                lib.gid_slab_create_for_stream(domain, name, layout, 0, slots, text, slab)
            )
            self.writer.slab = slab[0]
            options.released = ffi.addressof(lib, "gid_py_released")
            options.data = self._slab
            connection.check(lib.gid_producer_create(domain, name, options, out))
            self.writer.producer = out[0]
            connection.streams += 1
            if protection is not None:
                lib.gid_protection_protect(protection, self.c)
            info = ffi.new("struct gid_slab_info *")
            lib.gid_slab_get_info(self._slab, info)
            self._slot_size = info.slot_size
            address, size = lib.gid_slab_data(self._slab, 0), info.slot_size * slots
            self._memory: memoryview | None = keep(
                connection, lib.gid_slab_ref(self._slab), address, size
            )
            descriptors = lib.gid_domain_get_fd(domain), lib.gid_producer_get_fd(self.c)
            self._waiter = Waiter(*descriptors)
            connection.waiters.add(self._waiter)
            connection.serve(self)

    @property
    def c(self) -> Any:
        """The producer in libgid; NULL: closed."""
        return self.writer.producer

    @property
    def _slab(self) -> Any:
        return self.writer.slab

    # --- frames ---

    def slot(self, timeout: float | None = None, **said: Unpack[Said]) -> Slot:
        """A free slot, for `with` or `submit()`.

        If readers hold all slots it waits, at most `timeout` seconds, and reclaims frames that
        nobody has read yet. A `patient` producer reclaims none, and waits until no reader would
        miss a frame. Raises GidTimeoutError.
        """
        if said:
            check_said(said)
        slot = Slot(self, said)
        if not slot._try_take():
            if not self._take(slot):
                self._wait(slot, timeout)
        elif self._waiter.waiting:
            with self.connection:
                self._waiter.poke()
        slot._planes = self._planes_of(slot._number)
        return slot

    def _wait(self, slot: Slot, timeout: float | None) -> None:
        """Waits until a slot is free."""
        deadline, me = Deadline(timeout), object()
        try:
            while not self._take(slot, me):
                if deadline.is_over():
                    why = f"{self.stream}: readers have had all slots for {timeout} s"
                    raise GidTimeoutError(errno.ETIMEDOUT, why)
                left = deadline.left()
                self._waiter.wait(SERVE_EVERY if left is None else min(left, SERVE_EVERY))
        finally:
            self._waiter.waiting.discard(me)

    def submit(
        self,
        picture: "npt.ArrayLike | Sequence[npt.ArrayLike]",
        timeout: float | None = None,
        **said: Unpack[Said],
    ) -> int:
        """Copies a picture (for several planes: a sequence of arrays) into a slot, and sends it.

        Returns the number of readers. Draw into `slot()` to avoid the copy, which `gidctl` counts.
        Values are not scaled: floats from 0 to 1 become bytes by `* 255`.

        Raises ValueError: another shape; TypeError: numbers that the format cannot hold.
        """
        slot = self.slot(timeout, **said)
        try:
            pictures: Any = [picture] if len(slot.planes) == 1 else picture
            for plane, given in zip(slot.planes, pictures, strict=True):
                given = np.asarray(given)
                if given.shape != plane.shape:
                    raise ValueError(f"an array of {given.shape}: {plane.shape} is needed")
                check_numbers(given, plane.dtype)
                plane[...] = given
        except BaseException:
            slot.cancel()
            raise
        with self.connection:
            self._check()
            size = lib.gid_layout_size(self._layout)
            lib.gid_producer_count_copy_for(self.c, lib.GID_COPY_UPSTREAM_MEMORY, size)
        return slot.submit()

    def _take(self, slot: Slot, me: object | None = None) -> bool:
        """Returns whether there was a free slot. `me` waits, and is told when there may be one."""
        with self.connection:
            self._check()
            if me in self._waiter.waiting:
                self._waiter.waiting.remove(me)
                self._waiter.looked()
            if lib.gid_py_take_slot(self.writer, me is not None, slot.c):
                self._waiter.poke()
                return True
            self.connection.dispatch()
            if me is not None:
                self._waiter.waiting.add(me)
            return False

    def _planes_of(self, index: int) -> tuple[Plane, ...]:
        """Writable views of a slot, which can be made read-only independently."""
        if self._memory is None:
            raise ValueError(f"the producer of {self.stream} is closed")
        planes = self._views.get(index)
        if planes is None:
            planes = views_of(self._layout, self._memory, index * self._slot_size)
            self._views[index] = planes
        return tuple([plane.view() for plane in planes])

    def send(self, slot: Any, said: Said) -> int:
        """Sends a taken slot, or frees it."""
        frame, metadata = self._frame, said.get("metadata")
        metadata = b"" if metadata is None else ffi.from_buffer(metadata)
        with self.connection:
            self._check()
            try:
                lib.gid_py_begin(frame)
                for name, value in said.items():
                    if name == "note" and value is not None:
                        note = ffi.from_buffer(value)
                        frame.note, frame.note_size = note, len(note)
                    elif name != "metadata" and value is not None:
                        setattr(frame, name, value)
                sent = int(lib.gid_py_send(self.writer, slot, frame, metadata, len(metadata)))
            finally:
                lib.gid_py_give(self._slab, slot)
        return self._tell(sent)

    def _tell(self, sent: int) -> int:
        """Returns the result of sending, or raises its error."""
        if sent >= 0:
            return sent
        with self.connection:
            self._check()
            if sent == lib.GID_PY_NO_SLOT:
                raise ValueError("the slot was sent, or given back: take another one")
            return self.connection.check(sent)

    def give(self, slot: Any) -> None:
        """Frees a slot that was taken and not sent."""
        with self.connection:
            if self.c != ffi.NULL:
                lib.gid_py_give(self._slab, slot)

    def collect(self) -> None:
        """Handles readers that came, went, or hold frames for too long."""
        if self.c != ffi.NULL:
            lib.gid_producer_dispatch(self.c)
            self._waiter.poke()  # its doorbell is no longer armed

    # --- state ---

    @property
    def consumers(self) -> int:
        """The number of readers."""
        with self.connection:
            self._check()
            self.connection.dispatch()
            return int(lib.gid_producer_consumers(self.c))

    @property
    def stats(self) -> dict[str, int]:
        """Counters since its creation, as struct gid_producer_stats: frames, delivered, …"""
        stats = ffi.new("struct gid_producer_stats *")
        with self.connection:
            self._check()
            lib.gid_producer_get_stats(self.c, stats)
        return fields(stats)

    # --- the end ---

    def close(self, drain: float = DRAIN) -> None:
        """Ends the flow, and then the stream: when its last frames were read, or after `drain`
        seconds.

        Frames that readers still hold then are reclaimed.
        """
        if self.connection.is_foreign:
            return
        with self.connection:
            if self.c == ffi.NULL:
                return
            lib.gid_py_begin(self._frame)
            self._frame.flags = lib.GID_FRAME_EOS
            lib.gid_producer_send(self.c, self._frame)
        try:
            self._drain(Deadline(drain))
        finally:
            with self.connection:
                c, self.writer.producer = self.c, ffi.NULL
                destroy(self.connection, c, self._slab, self._protection)
                self.writer.slab = ffi.NULL
                self._memory = None
                self._views.clear()
                self._waiter.stop()

    def _drain(self, deadline: Deadline) -> None:
        """Waits until readers have the last frames. Ignores the end of gidd: it closes anyway."""
        with contextlib.suppress(GidError):
            while not self._is_read() and not deadline.is_over():
                self._waiter.wait(deadline.left())

    def _is_read(self) -> bool:
        with self.connection:
            self.connection.dispatch()
            if self.c == ffi.NULL or lib.gid_producer_consumers(self.c) == 0:
                return True
            lib.gid_producer_want_release(self.c)
            stats = self.stats
            return lib.gid_producer_unread(self.c) == 0 and stats["held"] == 0

    def __enter__(self) -> "Producer":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(DRAIN if kind is None else 0.0)

    def __del__(self) -> None:
        writer = getattr(self, "writer", None)
        if writer is not None and writer.slab != ffi.NULL:
            # Slots that are collected with it need not be freed.
            c, writer.producer = writer.producer, ffi.NULL
            parts = c, writer.slab, self._protection
            self.connection.later(partial(destroy, self.connection, *parts))

    def __reduce__(self) -> Any:
        raise belongs_to_its_process(self)

    def _check(self) -> None:
        if self.c == ffi.NULL:
            raise ValueError(f"the producer of {self.stream} is closed")

    def __repr__(self) -> str:
        readers = self.connection.describe(
            self, lambda: f"{lib.gid_producer_consumers(self.c)} readers"
        )
        return f"<gid.Producer of {self.stream}: {readers}>"


def destroy(connection: Connection, producer: Any, slab: Any, protection: Any | None) -> None:
    """Can run after the connection's finalizer, which waits for it. `producer` may be NULL."""
    if producer != ffi.NULL:
        lib.gid_producer_destroy(producer)
        connection.streams -= 1
    if protection is not None:
        ffi.release(protection)
    lib.gid_slab_destroy(slab, False)
