# SPDX-License-Identifier: MIT
"""The reading end of a stream."""

import asyncio
import errno
import threading
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
FLOWS = 0.1  # s: a stream flows whose last frame is no older
# The memory went away before we asked, or gidd did: the next frame may have other memory.
GONE = (-errno.ENOENT, -errno.ENOTCONN)


def fields(struct: Any) -> dict[str, int]:
    """What libgid counted."""
    members = ffi.typeof(struct).item.fields
    return {name: getattr(struct, name) for name, _ in members if not name.startswith("reserved")}


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
        self._reader = ffi.new("struct gid_py_reader *")
        self._frame = ffi.new("struct gid_frame *")  # where the next one will be
        self._fetched: tuple[Any, bytes] | None = None  # one whose memory gidd was asked for
        self._slabs: dict[Any, ImportedSlab] = {}
        self._known: ImportedSlab | None = None  # what the last frame was in
        self._seen = 0.0  # when that came, s
        self._sleeper = 0  # the thread that sleeps over the ring; 0: none does
        self._is_by_ring = False  # and not the descriptor
        self._is_shared = False  # several threads or tasks have waited at once
        self._left = ffi.NULL  # closed, but for the thread that sleeps over it
        options = ffi.new("struct gid_consumer_options *")
        options.size = ffi.sizeof(options[0])
        options.credit, options.drop_old, options.reconnect = credit, drop_old, reconnect
        name = ffi.NULL if owner is None else owner.encode()
        out = ffi.new("struct gid_consumer **")
        with connection as domain:
            result = lib.gid_consumer_create(domain, name, stream.encode(), options, out)
            connection.check(result)
            self.c = self._reader.consumer = out[0]
            self._reader.domain = domain
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
        with self.connection:
            frame = self._look()
            sleeps = frame is None and self._begin_sleep()
        if frame is not None:
            return frame
        deadline = Deadline(timeout)
        if sleeps and (frame := self._sleep(deadline)) is not None:
            return frame
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
        """The same for a task of asyncio. A task that is cancelled loses no frame."""
        me = object()
        self._is_shared = True
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

    # --- waiting: over the ring, or for the descriptor, which several can ---

    def _look(self) -> Frame | None:
        """A frame that is there. Who sleeps over the ring is the only one to look."""
        self._check()
        if self._sleeper not in (0, threading.get_ident()):
            return None
        self._sleeper = 0  # after a Ctrl-C just before or behind a sleep
        now = time.monotonic()
        self.connection.dispatch(now)
        frame = self._advance()
        if frame is not None:
            self._seen = now
            self._waiter.poke()
        return frame

    def _begin_sleep(self) -> bool:
        """Whether to sleep over the ring, for which nobody has to be asked but the kernel.

        A thread that waits by itself does, while frames flow: it hears of nothing else meanwhile.
        """
        flows = time.monotonic() - self._seen <= FLOWS
        if self._is_shared or self._sleeper or self._fetched is not None or not flows:
            return False
        self._sleeper = threading.get_ident()
        self._wait_by_ring(True)
        return True

    def _sleep(self, deadline: Deadline) -> Frame | None:
        """Until a frame has come, or the stream does not flow any more."""
        until = time.monotonic() + FLOWS
        if deadline.end is not None:
            until = min(until, deadline.end)
        try:
            lib.gid_consumer_sleep_until(self._reader.consumer, round(until * 1e9))
        except BaseException:  # that a signal's handler raised
            with self.connection:
                self._rise()
            raise
        with self.connection:
            self._rise()
            return self._look()

    def _rise(self) -> None:
        self._sleeper = 0
        if self._left != ffi.NULL:
            self._destroy(self._left)
            self._left = ffi.NULL
        self._waiter.poke()

    def _wait_by_ring(self, is_so: bool) -> None:
        if self._is_by_ring != is_so:
            self._is_by_ring = is_so
            lib.gid_consumer_set_sleeps(self.c, is_so)

    def _next(self, me: object) -> Frame | None:
        """A frame, or None: there is none now, and the waiter tells when there may be."""
        with self.connection:
            self._check()
            if me in self._waiter.waiting:
                self._waiter.waiting.remove(me)
                self._waiter.looked()
            if self._sleeper not in (0, threading.get_ident()):
                self._is_shared = True
                lib.gid_consumer_interrupt(self.c)  # it will wait as we do
                frame = None
            else:
                self._wait_by_ring(False)
                frame = self._look()
                if frame is None:
                    self.connection.dispatch()
                    frame = self._look()
            if frame is None:
                self._waiter.waiting.add(me)
            return frame

    # --- receiving, under the connection's lock ---

    def _advance(self) -> Frame | None:
        """The next frame, once it is there with its memory."""
        while True:
            if self._fetched is None:
                frame = self._frame
                got = lib.gid_py_take(self._reader, frame)
                if got == lib.GID_PY_MARK:
                    self._hear(frame)
                    continue
                if got < 0:
                    self._explain(got)
                    return None
                self._frame = ffi.new("struct gid_frame *")
                self.hidden = False
                note = bytes(ffi.buffer(frame.note, frame.note_size)) if frame.note_size else b""
                if got == lib.GID_PY_KNOWN and self._known is not None:
                    return Frame(self, frame, self._known, note)
                self._fetched = frame, note
            memory = self._reader.memory
            if not memory.is_done:
                return None
            (frame, note), self._fetched = self._fetched, None
            if memory.error == 0:
                return self._make(frame, note, memory.slab)
            self.give_back(frame)
            if memory.error not in GONE:
                self.connection.check(memory.error)

    def _hear(self, mark: Any) -> None:
        """An entry without a picture."""
        self.hidden = bool(mark.flags & lib.GID_FRAME_HIDDEN)
        if mark.flags & lib.GID_FRAME_EOS:
            raise EndOfStream(errno.EPIPE, f"the flow of {self.stream} has ended")

    def _explain(self, result: int) -> None:
        """Why nothing was received."""
        if result == -errno.EPIPE and not self._reconnect:
            raise EndOfStream(errno.EPIPE, f"the producer of {self.stream} is gone")
        if result not in (-errno.EAGAIN, -errno.EPIPE):
            raise error_of(result)

    def _make(self, frame: Any, note: bytes, slab: Any) -> Frame:
        """Takes over the reference to the slab."""
        key = int(ffi.cast("uintptr_t", slab))
        known = self._slabs.get(key)
        if known is not None:
            lib.gid_slab_unref(slab)
        else:
            try:
                known = ImportedSlab(self.connection, slab)
            except GidError:
                self.give_back(frame)
                raise
            self._slabs = {key: one for key, one in self._slabs.items() if not one.is_revoked}
            if len(self._slabs) >= SLABS_KEPT:
                del self._slabs[next(iter(self._slabs))]
            self._slabs[key] = known
        self._reader.known = ffi.NULL  # never another one than ours, wherever a Ctrl-C comes
        self._known = known
        self._reader.known = slab
        return Frame(self, frame, known, note)

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
            self._slabs.clear()
            self._known, self._reader.known = None, ffi.NULL
            self._waiter.stop()
            if self._sleeper in (0, threading.get_ident()):
                self._destroy(c)
            else:
                self._left = c
                lib.gid_consumer_interrupt(c)

    def _destroy(self, c: Any) -> None:
        destroy(self.connection, c, self._reader, self._fetched is not None)
        self._fetched = None

    def __enter__(self) -> "Consumer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "c", ffi.NULL) != ffi.NULL:
            c, self.c = self.c, ffi.NULL  # frames that go with us give nothing back
            work = partial(destroy, self.connection, c, self._reader, self._fetched is not None)
            self.connection.later(work)

    def _check(self) -> None:
        if self.c == ffi.NULL:
            raise ValueError(f"the consumer of {self.stream} is closed")

    def __repr__(self) -> str:
        state = "closed" if self.c == ffi.NULL else self.state
        return f"<gid.Consumer of {self.stream}: {state}>"


def destroy(connection: Connection, consumer: Any, reader: Any, is_fetching: bool) -> None:
    """Also after the connection's own finalizer, which waits for it."""
    memory = reader.memory
    if memory.is_asked:
        lib.gid_slab_import_cancel(connection.c, ffi.addressof(reader, "memory"))
    elif is_fetching and memory.error == 0:
        lib.gid_slab_unref(memory.slab)
    lib.gid_consumer_destroy(consumer)
    connection.streams -= 1
