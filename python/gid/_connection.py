# SPDX-License-Identifier: MIT
"""The connection to gidd: one lock for all threads, and not usable after a fork."""

import asyncio
import contextlib
import errno
import os
import select
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._errors import ForkError, GidError, error_of
from ._gid import ffi, lib

if not lib.gid_py_add_types():
    raise MemoryError
from ._gid import Lock  # noqa: E402

SERVE_EVERY = 0.5  # s: the interval for expired leases and for a producer that stopped
LONGEST = 86400.0  # s: the longest wait at a time


class Deadline:
    """A time limit in seconds; None: no limit."""

    def __init__(self, timeout: float | None) -> None:
        self.end = None if timeout is None else time.monotonic() + timeout

    def left(self) -> float | None:
        return None if self.end is None else min(max(0.0, self.end - time.monotonic()), LONGEST)

    def is_over(self) -> bool:
        return self.end is not None and not time.monotonic() < self.end  # also true for NaN


def deadline_ns(timeout: float) -> int:
    """The end of a time limit that starts now, in ns; at most LONGEST from now."""
    return time.monotonic_ns() + round(min(max(timeout, 0.0), LONGEST) * 1e9)


def belongs_to_its_process(thing: object) -> TypeError:
    """The error of pickling or copying: a copy would close what it does not own."""
    name = type(thing).__name__
    return TypeError(f"a gid.{name} belongs to its process: make one in the other process")


def c_text(text: str) -> bytes:
    """Encodes a text for libgid, where it would end at the first NUL."""
    encoded = text.encode()
    if b"\0" in encoded:
        raise ValueError(f"{text!r} has a NUL")
    return encoded


class Waiter:
    """Waits for any of several descriptors, in threads and in tasks.

    One waiter can take what another has waited for: a descriptor reports it once, and libgid rings
    only for the last request. So each waiter that found nothing adds itself to `waiting`, under the
    connection's lock. Whoever takes something then calls `poke()`, so that another waiter checks,
    too.
    """

    _poked = -1  # until it is created, which may fail

    def __init__(self, *descriptors: int) -> None:
        self._epoll = select.epoll()
        self._poked = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._is_stopped = self._is_poked = False
        self.waiting: set[object] = set()
        self._tasks: dict[asyncio.AbstractEventLoop, set[asyncio.Future[None]]] = {}
        self.descriptors = set(descriptors)
        for descriptor in (self._poked, *descriptors):
            self._epoll.register(descriptor, select.EPOLLIN)

    def __del__(self) -> None:
        if self._poked >= 0:
            os.close(self._poked)
            self._poked = -1

    def poke(self) -> None:
        """Makes one of the waiters check again."""
        if self.waiting and not self._is_poked:
            self._is_poked = True
            os.eventfd_write(self._poked, 1)

    def looked(self) -> None:
        """Called by a waiter that checks. Under the lock, like `poke()`."""
        if self._is_poked and not self._is_stopped:
            self._is_poked = False
            os.eventfd_read(self._poked)

    def stop(self) -> None:
        """Makes all waiters return, now and from now on."""
        self._is_stopped = True
        if self._poked >= 0:  # finalizers run in any order
            os.eventfd_write(self._poked, 1)

    def wait(self, timeout: float | None) -> None:
        self._epoll.poll(timeout)

    async def wait_async(self) -> None:
        loop = asyncio.get_running_loop()
        tasks = self._tasks.setdefault(loop, set())
        if not tasks:
            loop.add_reader(self._epoll.fileno(), self._wake, tasks)
        future = loop.create_future()
        tasks.add(future)
        try:
            await future
        finally:
            tasks.remove(future)
            if not tasks:
                loop.remove_reader(self._epoll.fileno())
                del self._tasks[loop]

    @staticmethod
    def _wake(tasks: "set[asyncio.Future[None]]") -> None:
        for future in tasks:
            if not future.done():
                future.set_result(None)


def watched(epoll: int) -> set[int]:
    """The descriptors that an epoll instance watches, from the kernel. Empty: it is not one."""
    try:
        lines = Path(f"/proc/self/fdinfo/{epoll}").read_text().splitlines()
    except OSError:
        return set()
    return {int(line.split()[1]) for line in lines if line.startswith("tfd:")}


class Connection(Lock):
    """`with connection:` locks it for calls of libgid, whose objects are not thread-safe."""

    def __init__(self, name: str | None) -> None:
        out = ffi.new("struct gid_domain **")
        error = lib.gid_domain_connect(ffi.NULL if name is None else c_text(name), out)
        if error < 0:
            raise error_of(error, ffi.string(lib.gid_domain_connect_error()).decode())
        self.c = out[0]
        self.mapped = 0  # mappings that arrays can still access
        self.streams = 0  # consumers and producers
        self.is_closing = False
        lock = ffi.gc(lib.gid_py_lock_create(), lib.gid_py_lock_destroy)
        self._bind(int(ffi.cast("uintptr_t", lock)))
        self.lock = lock  # it can be locked from here on
        self._later: deque[Callable[[], object]] = deque()
        self._server: Waiter | None = None
        self.served: weakref.WeakSet[Any] = weakref.WeakSet()  # producers
        self.waiters: weakref.WeakSet[Waiter] = weakref.WeakSet()
        of_this_process.add(self)

    def part(self) -> None:
        """Called in a child after a fork. Gidd and others notice the end of a program when its
        descriptors are closed. A child would keep them open, and nobody could publish the
        streams again.
        """
        loops = set() if self.c == ffi.NULL else {lib.gid_domain_get_fd(self.c)}
        for waiter in self.waiters:
            loops |= waiter.descriptors
        for descriptor in set().union(*map(watched, loops)):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    # --- the lock ---

    def __enter__(self) -> None:
        # From 3.14 on, Python may run signal handlers between the return of an __enter__ in C and
        # the start of the block. After the return from a function in Python it never does.
        if self.is_foreign:
            self.check_fork()
        try:
            has_it = self._take()
        except BaseException:  # from a signal handler that ran when the lock was taken
            self.__exit__()
            raise
        if not has_it:
            raise RuntimeError("the interpreter ended a thread that was using this gid.Domain")

    def open(self) -> Any:
        """The open domain, or ValueError. Under the lock."""
        if self.c == ffi.NULL or self.is_closing:
            raise ValueError("the domain is closed")
        return self.c

    def describe(self, part: Any, look: Callable[[], str]) -> str:
        """Text about the state of `part` for its repr, which never fails."""
        if self.is_foreign:
            return "of the process that forked this one"
        with self:
            return "closed" if part.c == ffi.NULL else look()

    def check_fork(self) -> None:
        if self.is_foreign:
            raise ForkError(
                errno.EPERM,
                "this object belongs to the process that forked this one: make a gid.Domain here",
            )

    def later(self, work: Callable[[], object]) -> None:
        """Defers work of finalizers, which run anywhere: also during calls of libgid, or after a
        fork.
        """
        if self.is_foreign:
            return
        self._later.append(work)
        self._settle()

    def _do_later(self) -> None:
        while self._later:
            self._later.popleft()()
        is_used = self.mapped > 0 or self.streams > 0
        if self.is_closing and not is_used and self.c != ffi.NULL:
            lib.gid_domain_destroy(self.c)
            self.c = ffi.NULL

    # --- gidd ---

    def check(self, result: int) -> int:
        """Returns the result, or raises what gidd or the domain said of the error."""
        if result < 0:
            raise error_of(result, ffi.string(lib.gid_domain_error(self.c)).decode())
        return result

    def dispatch(self) -> None:
        """Handles messages of gidd."""
        result = lib.gid_domain_dispatch(self.c)
        if result < 0:
            raise error_of(result)
        if result > 0:
            self.poke()

    def poke(self) -> None:
        """Gidd sent a message: a waiter may need it."""
        for waiter in self.waiters:
            waiter.poke()

    def forget_mapping(self, slab: Any) -> None:
        lib.gid_slab_unref(slab)
        self.mapped -= 1

    def close(self) -> None:
        """The connection itself ends when none of its memory is mapped any more."""
        if self.is_foreign:
            return
        with self:
            self.is_closing = True
            if self._server is not None:
                self._server.stop()

    def __del__(self) -> None:
        if getattr(self, "lock", None) is not None:
            self.mapped = 0  # the arrays are gone, or go with it: their count may be one too high
            self.close()

    # --- a thread that handles gidd's messages for producers of busy programs ---

    def serve(self, producer: Any) -> None:
        self.served.add(producer)
        if self._server is None:
            self._server = Waiter(lib.gid_domain_get_fd(self.c))
            work = (weakref.ref(self), self._server)
            threading.Thread(target=_serve, args=work, name="gid", daemon=True).start()

    def serve_once(self) -> bool:
        """Returns whether to continue."""
        try:
            with self:
                if self.is_closing:
                    return False
                self.dispatch()
                for producer in list(self.served):
                    producer.collect()
                return True
        except GidError:
            return False  # final: the next call raises it


of_this_process: weakref.WeakSet[Connection] = weakref.WeakSet()


def _part() -> None:
    for connection in of_this_process:
        connection.part()
    of_this_process.clear()


os.register_at_fork(after_in_child=_part)


def _serve(reference: "weakref.ref[Connection]", waiter: Waiter) -> None:
    is_needed = True
    while is_needed:
        waiter.wait(SERVE_EVERY)
        connection = reference()
        is_needed = connection is not None and connection.serve_once()
        del connection
