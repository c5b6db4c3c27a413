# SPDX-License-Identifier: MIT
"""The reading end of a stream."""

import asyncio
import errno
import time
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any, Literal

from ._connection import Connection, Deadline, Waiter
from ._errors import EndOfStream, GidError, GidTimeoutError, error_of
from ._frame import Frame
from ._gid import ffi, lib
from ._memory import ImportedSlab

SLABS_KEPT = 64  # mapped, between their frames
# The memory went away before we asked, or gidd did: the next frame may have other memory.
GONE = (-errno.ENOENT, -errno.ENOTCONN)


def fields(struct: Any) -> dict[str, int]:
    """What libgid counted."""
    members = ffi.typeof(struct).item.fields
    return {name: getattr(struct, name) for name, _ in members if not name.startswith("reserved")}


class Fetch:
    """A received frame whose memory gidd was asked for."""

    def __init__(self, frame: Any, note: bytes) -> None:
        self.frame = frame
        self.note = note
        self.memory = ffi.new("struct gid_py_import *")


class Consumer:
    """Receives the frames of a stream. Made by `Domain.consumer()`, closed by `close()` or `with`.

        for frame in consumer:
            with frame as picture:
                ...

    Any thread may use it, several at once too: then each frame goes to one of them. While it
    waits the interpreter's lock is free. Tasks of asyncio write `async for`. After a fork a child
    cannot use it (ForkError), and makes a Domain of its own.

    A loop ends at the end of the flow. A producer that goes without a word (it was killed) does not
    end it: the next one of that name goes on with it, unless `reconnect=False`.
    """

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
        self.c = ffi.NULL
        self.hidden = False
        """Whether the producer said last that nothing is to be shown now."""
        self._reconnect = reconnect
        self._fetch: Fetch | None = None
        self._slabs: dict[Any, ImportedSlab] = {}
        options = ffi.new("struct gid_consumer_options *")
        options.size = ffi.sizeof(options[0])
        options.credit, options.drop_old, options.reconnect = credit, drop_old, reconnect
        name = ffi.NULL if owner is None else owner.encode()
        out = ffi.new("struct gid_consumer **")
        with connection as domain:
            result = lib.gid_consumer_create(domain, name, stream.encode(), options, out)
            connection.check(result)
            self.c = out[0]
            connection.streams += 1
            descriptors = lib.gid_domain_get_fd(domain), lib.gid_consumer_get_fd(self.c)
            self._waiter = Waiter(*descriptors)
            connection.waiters.add(self._waiter)

    # --- frames ---

    def frame(self, timeout: float | None = None) -> Frame:
        """Waits for the next frame, at most `timeout` seconds (None: for as long as it takes).

        Raises GidTimeoutError; EndOfStream: the flow has ended, or without `reconnect` its producer
        is gone (a later call waits for the next flow); GidError: the producer broke the protocol,
        or its pictures cannot be read by a processor; ValueError: the consumer is closed.
        """
        deadline, me = Deadline(timeout), object()
        try:
            while (frame := self._next(me)) is None:
                if deadline.is_over():
                    raise self._late(timeout)
                self._waiter.wait(deadline.left())
        finally:
            self._waiter.waiting.discard(me)
        return frame

    async def frame_async(self, timeout: float | None = None) -> Frame:
        """The same for a task of asyncio. A task that is cancelled loses no frame."""
        me = object()
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

    def __next__(self) -> Frame:
        try:
            return self.frame()
        except EndOfStream:
            raise StopIteration from None

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

    def _next(self, me: object) -> Frame | None:
        """A frame, or None: there is none now, and the waiter tells when there may be."""
        with self.connection as domain:
            self._check()
            if me in self._waiter.waiting:
                self._waiter.waiting.remove(me)
                self._waiter.looked()
            self.connection.dispatch(time.monotonic())
            frame = self._advance(domain)
            if frame is None:
                self.connection.dispatch()
                frame = self._advance(domain)
            if frame is None:
                self._waiter.waiting.add(me)
            else:
                self._waiter.poke()
            return frame

    def _advance(self, domain: Any) -> Frame | None:
        while True:
            if self._fetch is None and not self._receive(domain):
                return None
            fetch = self._fetch
            if fetch is None or not fetch.memory.is_done:
                return None
            self._fetch = None
            error = fetch.memory.error
            if error == 0:
                return self._make(fetch, fetch.memory.slab)
            self.give_back(fetch.frame)
            if error not in GONE:
                self.connection.check(error)

    def _receive(self, domain: Any) -> bool:
        """Whether a frame with a picture was received. gidd is asked for memory that is new."""
        frame = ffi.new("struct gid_frame *")
        while (result := lib.gid_consumer_receive(self.c, frame)) == 1:
            if frame.gid != lib.GID_NONE:
                self.hidden = False
                note = bytes(ffi.buffer(frame.note, frame.note_size)) if frame.note_size else b""
                self._fetch = fetch = Fetch(frame, note)
                out = ffi.new("struct gid_slab **")
                called = ffi.addressof(lib, "gid_py_imported")
                error = lib.gid_slab_import_async(domain, frame.gid, called, fetch.memory, out)
                if error != -errno.EINPROGRESS:
                    lib.gid_py_imported(fetch.memory, frame.gid, error, out[0])
                return True
            self.hidden = bool(frame.flags & lib.GID_FRAME_HIDDEN)
            self.give_back(frame)
            if frame.flags & lib.GID_FRAME_EOS:
                raise EndOfStream(errno.EPIPE, f"the flow of {self.stream} has ended")
        if result == -errno.EPIPE and not self._reconnect:
            raise EndOfStream(errno.EPIPE, f"the producer of {self.stream} is gone")
        if result not in (-errno.EAGAIN, -errno.EPIPE):
            raise error_of(result)
        return False

    def _make(self, fetch: Fetch, slab: Any) -> Frame:
        """Takes over the reference to the slab."""
        key = int(ffi.cast("uintptr_t", slab))
        known = self._slabs.get(key)
        if known is not None:
            lib.gid_slab_unref(slab)
            return Frame(self, fetch.frame, known, fetch.note)
        try:
            known = ImportedSlab(self.connection, slab)
        except GidError:
            self.give_back(fetch.frame)
            raise
        self._slabs = {key: slab for key, slab in self._slabs.items() if not slab.is_revoked}
        if len(self._slabs) >= SLABS_KEPT:
            del self._slabs[next(iter(self._slabs))]
        self._slabs[key] = known
        return Frame(self, fetch.frame, known, fetch.note)

    def give_back(self, frame: Any) -> None:
        """Of a frame by itself, as libgid has it."""
        with self.connection:
            if self.c != ffi.NULL:
                lib.gid_consumer_release(self.c, frame)

    def renew(self) -> None:
        """Begins the leases of all frames that are held anew, see `Frame.renew()`."""
        with self.connection:
            self._check()
            error = lib.gid_consumer_renew(self.c)
            if error < 0:
                raise error_of(error)

    # --- what it does ---

    @property
    def state(self) -> Literal["waiting", "live", "ended"]:
        """`waiting`: nobody sends the stream; `live`; `ended`: for good, without `reconnect`."""
        with self.connection:
            self._check()
            number = lib.gid_consumer_get_state(self.c)
        if number == lib.GID_CONSUMER_LIVE:
            return "live"
        return "ended" if number == lib.GID_CONSUMER_ENDED else "waiting"

    @property
    def stats(self) -> dict[str, int]:
        """Counts since it was made, as struct gid_consumer_stats: frames, missed, held, …"""
        stats = ffi.new("struct gid_consumer_stats *")
        with self.connection:
            self._check()
            lib.gid_consumer_get_stats(self.c, stats)
        return fields(stats)

    # --- the end ---

    def close(self) -> None:
        """Unsubscribes. Frames go back; their arrays stay memory, as after any release."""
        if self.connection.is_foreign:
            return
        with self.connection:
            if self.c == ffi.NULL:
                return
            c, self.c = self.c, ffi.NULL
            destroy(self.connection, c, self._fetch)
            self._fetch = None
            self._slabs.clear()
            self._waiter.stop()

    def __enter__(self) -> "Consumer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "c", ffi.NULL) != ffi.NULL:
            c, self.c = self.c, ffi.NULL  # frames that go with us give nothing back
            self.connection.later(partial(destroy, self.connection, c, self._fetch))

    def _check(self) -> None:
        if self.c == ffi.NULL:
            raise ValueError(f"the consumer of {self.stream} is closed")

    def __repr__(self) -> str:
        state = "closed" if self.c == ffi.NULL else self.state
        return f"<gid.Consumer of {self.stream}: {state}>"


def destroy(connection: Connection, consumer: Any, fetch: Fetch | None) -> None:
    """Also after the connection's own finalizer, which waits for it."""
    if fetch is not None and not fetch.memory.is_done:
        lib.gid_slab_import_cancel(connection.c, fetch.memory)
    elif fetch is not None and fetch.memory.error == 0:
        lib.gid_slab_unref(fetch.memory.slab)
    lib.gid_consumer_destroy(consumer)
    connection.streams -= 1
