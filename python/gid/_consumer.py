# SPDX-License-Identifier: MIT
"""The consumer of a stream."""

import asyncio
import errno
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any, Literal

from ._connection import (
    Connection,
    Deadline,
    Waiter,
    belongs_to_its_process,
    c_text,
    deadline_ns,
)
from ._errors import EndOfStream, GidTimeoutError, error_of
from ._frame import Frame
from ._gid import Pictures, Reader, ffi, lib
from ._memory import ImportedSlab

SLABS_KEPT = 64  # slabs that stay mapped between frames
# The memory or gidd went away before the import: the next frame may have other memory.
GONE = (-errno.ENOENT, -errno.ENOTCONN)


def fields(struct: Any) -> dict[str, int]:
    """The counters in a struct of libgid."""
    members = ffi.typeof(struct).item.fields
    return {name: getattr(struct, name) for name, _ in members if not name.startswith("reserved")}


class Consumer(Reader):
    """Receives the frames of a stream. Made by `Domain.consumer()`, closed by `close()` or `with`.

        for frame in consumer:
            with frame as picture:
                ...

    For the pictures alone write `for picture in consumer.pictures()`.

    Any thread may use it, also several at once: each frame goes to one of them. The interpreter's
    lock is free while it waits. Tasks of asyncio write `async for`. After a fork the child cannot
    use it (ForkError), and makes its own Domain.

    A loop ends when the producer ends the flow. If the producer is killed the loop continues with
    the next producer of that name, unless `reconnect=False`.
    """

    _frames: type[Frame] = Frame

    def __init__(
        self,
        connection: Connection,
        stream: str,
        owner: str | None,
        credit: int,
        drop_old: bool,
        reconnect: bool,
    ) -> None:
        self.connection = connection
        self.stream = stream
        self.reader = ffi.new("struct gid_py_reader *")
        self.reader.lock = connection.lock
        self._slabs: dict[Any, ImportedSlab] = {}
        self._is_flooded = False  # with entries without a picture: there may be more
        options = ffi.new("struct gid_consumer_options *")
        options.size = ffi.sizeof(options[0])
        options.credit, options.drop_old, options.reconnect = credit, drop_old, reconnect
        name = ffi.NULL if owner is None else c_text(owner)
        out = ffi.new("struct gid_consumer **")
        with connection:
            domain = connection.open()
            result = lib.gid_consumer_create(domain, name, c_text(stream), options, out)
            connection.check(result)
            self.reader.domain, self.reader.consumer = domain, out[0]
            connection.streams += 1
            descriptors = lib.gid_domain_get_fd(domain), lib.gid_consumer_get_fd(self.c)
            self._waiter = Waiter(*descriptors)
            connection.waiters.add(self._waiter)
            address = int(ffi.cast("uintptr_t", self.reader))
            self._bind(address, self.reader, connection, self._frames, self._waiter.waiting)

    @property
    def c(self) -> Any:
        """The consumer in libgid; NULL: closed."""
        return self.reader.consumer

    @property
    def hidden(self) -> bool:
        """Whether the producer's last message was that nothing is to be shown."""
        return bool(self.reader.is_hidden)

    # --- frames ---

    def frame(self, timeout: float | None = None) -> Frame:
        """Waits for the next frame, at most `timeout` seconds (None: without limit).

        Raises GidTimeoutError; EndOfStream: the flow has ended, or without `reconnect` its producer
        is gone (a later call waits for the next flow); GidError: the producer broke the protocol,
        or its pictures cannot be read by a processor; ValueError: the consumer is closed.
        """
        until = lib.GID_TIME_NONE if timeout is None else deadline_ns(timeout)
        got = self._take(until)
        if got.__class__ is int:
            got = self._wait(got, until, timeout)
        frame: Frame = got
        return frame

    def _wait(self, got: int, until: int, timeout: float | None) -> Frame:
        """Waits, as _take() had no frame, for the reason `got`."""
        frame = self._receive(until, got)
        return self._wait_by_descriptor(timeout) if frame is None else frame

    def _wait_by_descriptor(self, timeout: float | None) -> Frame:
        deadline = Deadline(timeout)
        me = object()
        try:
            while (frame := self._next(me)) is None:
                if deadline.is_over():
                    raise self._late(timeout)
                self._waiter.wait(deadline.left())
        finally:
            self._waiter.waiting.discard(me)
        return frame

    async def frame_async(self, timeout: float | None = None) -> Frame:
        """The same for a task of asyncio. A cancelled task loses no frame."""
        me = object()
        self.reader.is_shared = True
        try:
            async with asyncio.timeout(timeout):
                while (frame := self._next(me)) is None:
                    await self._waiter.wait_async()
        except TimeoutError as error:
            raise self._late(timeout) from error
        finally:
            self._waiter.waiting.discard(me)
        return frame

    def __iter__(self) -> Iterator[Frame]:
        return self

    def _next_after(self, got: int) -> Frame:
        """The next frame of a loop, if there is none yet."""
        try:
            return self._wait(got, lib.GID_TIME_NONE, None)
        except EndOfStream:
            raise StopIteration from None

    def pictures(self) -> Pictures:
        """A loop over pictures with the least work for each frame.

            for picture in (pictures := consumer.pictures()):
                print(pictures.frame.sequence, picture.mean())

        A picture is what `with frame as picture` gives. It is released when the next one is asked
        for, so copy what you keep. If it was reclaimed while it was read, LeaseError is raised
        then. The loop can be started again after this and any other error. If you leave a loop
        early and keep it, `close()` releases the last frame. Each thread makes its own loop.
        """
        return Pictures(self)

    def __aiter__(self) -> AsyncIterator[Frame]:
        return self

    async def __anext__(self) -> Frame:
        try:
            return await self.frame_async()
        except EndOfStream:
            raise StopAsyncIteration from None

    def _late(self, timeout: float | None) -> GidTimeoutError:
        stats = self.stats
        if 0 < stats["credit"] <= stats["held"]:
            why = f"this program holds all {stats['held']} frames that it may: release() one"
        elif self.state == "waiting":
            why = "nobody sends it: `gidctl list` says what there is"
        else:
            why = "its producer sent none"
        return GidTimeoutError(
            errno.ETIMEDOUT, f"no frame of {self.stream} within {timeout} s: {why}"
        )

    # --- receiving ---

    def _poke(self) -> None:
        with self.connection:
            self._waiter.poke()

    def _receive(self, until: int, got: Any = None) -> Frame | None:
        """The next frame. None: there is none now, and the caller must wait.

        If only one thread waits it does so here until then (ns), while frames flow: it sleeps on
        the ring, with a single system call. `got` is the result of _take(), if that was called
        already.
        """
        while True:
            if got is None:
                got = self._take(until)
            if got.__class__ is not int:
                frame: Frame = got
                return frame  # without a call in between, so no signal handler can raise meanwhile
            self._is_flooded = got == lib.GID_PY_FLOOD
            if self._is_flooded:
                return None
            with self.connection:
                if got not in (-errno.EAGAIN, lib.GID_PY_OTHER):
                    self._tell(got)
                elif self.reader.is_fetching:
                    if not self.reader.memory.is_done:
                        return None
                    if (fetched := self._take_over()) is not None:
                        return fetched
                elif got == -errno.EAGAIN:
                    return None
            got = None

    def _take_over(self) -> Frame | None:
        """The frame whose import is complete; None: it was refused."""
        error, slab = self.reader.memory.error, self.reader.memory.slab
        frame: Frame = self._adopt()
        if error == 0:
            return self._lend(frame, slab)
        frame.release()
        if error not in GONE:
            self.connection.check(error)
        return None

    def _tell(self, got: int) -> None:
        """Raises what a result without a frame means. If it returns, the caller checks again."""
        if got == lib.GID_PY_HEARD:
            self.connection.poke()
            self.connection.dispatch()  # it raises if gidd is gone
            return
        if got == lib.GID_PY_LEFT:
            self.connection.streams -= 1
        self._check()
        if got == lib.GID_PY_END:
            raise EndOfStream(errno.EPIPE, f"the flow of {self.stream} has ended")
        if got == -errno.EPIPE:
            raise EndOfStream(errno.EPIPE, f"the producer of {self.stream} is gone")
        raise error_of(got)

    def _next(self, me: object) -> Frame | None:
        """A frame, or None: the waiter reports when there may be one."""
        with self.connection:
            self._check()
            if me in self._waiter.waiting:
                self._waiter.waiting.remove(me)
                self._waiter.looked()
            lib.gid_py_wait_by_descriptor(self.reader)
            frame = self._receive(0)
            if frame is None:
                self.connection.dispatch()
                frame = self._receive(0)
            if frame is None:
                self._waiter.waiting.add(me)
                if self._is_flooded:  # no descriptor reports what is there already
                    self._waiter.poke()
            return frame

    def _lend(self, frame: Frame, slab: Any) -> Frame:
        """Returns the frame with its memory `slab`, whose reference it takes."""
        key = int(ffi.cast("uintptr_t", slab))
        known = self._slabs.get(key)
        if known is not None:
            lib.gid_slab_unref(slab)
        else:
            known = ImportedSlab(self.connection, slab)
            self._slabs = {key: one for key, one in self._slabs.items() if not one.is_revoked}
            if len(self._slabs) >= SLABS_KEPT:
                del self._slabs[next(iter(self._slabs))]
            self._slabs[key] = known
        self._know(known, key, known.about, known.pictures, known.is_dmabuf)
        self._fill(frame)
        return frame

    def give_back(self, frame: Any) -> None:
        """Releases a frame, given as a struct of libgid."""
        with self.connection:
            if self.c != ffi.NULL:
                lib.gid_consumer_release(self.c, frame)

    def renew(self) -> None:
        """Restarts the leases of all frames held, see `Frame.renew()`."""
        with self.connection:
            self._check()
            error = lib.gid_consumer_renew(self.c)
            if error < 0:
                raise error_of(error)

    # --- state ---

    @property
    def state(self) -> Literal["waiting", "live", "ended"]:
        """`waiting`: nobody sends the stream; `live`; `ended`: finally, without `reconnect`."""
        with self.connection:
            self._check()
            number = lib.gid_consumer_get_state(self.c)
        if number == lib.GID_CONSUMER_LIVE:
            return "live"
        return "ended" if number == lib.GID_CONSUMER_ENDED else "waiting"

    @property
    def stats(self) -> dict[str, int]:
        """Counters since it was made, as struct gid_consumer_stats: frames, missed, held, …"""
        stats = ffi.new("struct gid_consumer_stats *")
        with self.connection:
            self._check()
            lib.gid_consumer_get_stats(self.c, stats)
        return fields(stats)

    # --- the end ---

    def close(self) -> None:
        """Unsubscribes. Frames are released; their arrays stay valid, as after any release."""
        if self.connection.is_foreign:
            return
        with self.connection:
            if self.c == ffi.NULL:
                return
            self._slabs.clear()
            self._forget()
            self._waiter.stop()
            close(self.connection, self.reader)

    def __enter__(self) -> "Consumer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        reader = getattr(self, "reader", ffi.NULL)
        if reader != ffi.NULL and reader.consumer != ffi.NULL:
            self.connection.later(partial(close, self.connection, reader))

    def __reduce__(self) -> Any:
        raise belongs_to_its_process(self)

    def _check(self) -> None:
        if self.c == ffi.NULL:
            raise ValueError(f"the consumer of {self.stream} is closed")

    def __repr__(self) -> str:
        state = self.connection.describe(self, lambda: self.state)
        return f"<gid.Consumer of {self.stream}: {state}>"


def close(connection: Connection, reader: Any) -> None:
    """Also runs after the connection's own finalizer, which waits for it."""
    if lib.gid_py_close(reader):
        connection.streams -= 1
