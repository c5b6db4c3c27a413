# SPDX-License-Identifier: MIT
"""End-to-end protection: a producer adds a check to each picture, and a consumer verifies it."""

import errno
import os
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias

from ._connection import c_text
from ._consumer import Consumer
from ._errors import EndOfStream, GidError, LeaseError, ProtectionError, error_of
from ._formats import Plane, views_of
from ._frame import Frame
from ._gid import ffi, lib
from ._memory import ImportedSlab

Profile: TypeAlias = Literal["crc64", "cmac"]
KeyFile: TypeAlias = str | os.PathLike[str]
# Creates the exception: a stored exception would keep the frame alive by its traceback.
Refusal: TypeAlias = Callable[[], GidError]

# Empty if the package was built without libgid-protection.
PROFILES: dict[str, int] = (
    {"crc64": lib.GID_PROTECTION_CRC64, "cmac": lib.GID_PROTECTION_CMAC}
    if hasattr(lib, "gid_protection_create")
    else {}
)
# The field's offset in a descriptor: docs/wire-ring.md.
SUBMIT_TIME = slice(16, 24)


def _read_key(path: KeyFile) -> Any:
    key = ffi.new("uint8_t[]", lib.GID_PROTECTION_KEY_SIZE)
    error = lib.gid_protection_read_key(os.fsencode(path), key)
    if error < 0:
        why = ffi.string(lib.gid_protection_key_error(error)).decode()
        raise error_of(error, f"protection_key={os.fspath(path)!r}: {why}")
    return key


def open_protection(stream: str, profile: Profile | None, key_file: KeyFile | None) -> Any | None:
    """The protection of a stream, for either end; or None. Its last reference erases the key."""
    if profile != "cmac" and key_file is not None:
        raise GidError(errno.EINVAL, "protection_key= is for protection='cmac' alone")
    if profile is None:
        return None
    if profile not in PROFILES:
        how = " or ".join(repr(name) for name in PROFILES) or "this package was built without any"
        raise GidError(errno.EINVAL, f"protection={profile!r}: {how}")
    if profile == "cmac" and key_file is None:
        raise GidError(errno.EINVAL, "protection='cmac' needs protection_key=, the file of its key")
    key = ffi.NULL if key_file is None else _read_key(key_file)
    out = ffi.new("struct gid_protection **")
    error = lib.gid_protection_create(PROFILES[profile], c_text(stream), key, out)
    if key != ffi.NULL:
        ffi.memmove(key, bytes(len(key)), len(key))
    if error == -errno.ENOSYS:
        raise error_of(error, f"protection={profile!r}: built without the library that it needs")
    if error < 0:
        raise error_of(error)
    return ffi.gc(out[0], lib.gid_protection_destroy)


class Guard:
    """Verifies the frames of one consumer, each once, in the order of their arrival."""

    def __init__(self, stream: str, protection: Any) -> None:
        self._stream = stream
        self._protection = protection
        # Of the newest frame: when it was sent, by its producer's clock; its number; how often the
        # producer had reconnected; and when it arrived, ns.
        self._sent = self._number = self._flow = self._came = 0
        self._stats = ffi.new("struct gid_consumer_stats *")

    def look(self, consumer: Any, frame: Any, slab: ImportedSlab) -> tuple[Plane, ...] | Refusal:
        """A copy of the picture if it is the protected one, or the reason for refusal.

        Called with the connection's lock, so that no other frame comes in between. Updates the
        record of the newest frame.
        """
        check = ffi.new("struct gid_check *")
        error = lib.gid_consumer_get_check(consumer, frame, check)
        if error == 0 and check.kind == lib.gid_protection_profile(self._protection):
            return self._copy(consumer, frame, slab, check)
        if error in (0, -errno.ENODATA):
            return self._wrong(frame, errno.ENODATA, "no-check", "it has no check of the profile")
        return self._lost(frame, error)

    def _copy(
        self, consumer: Any, frame: Any, slab: ImportedSlab, check: Any
    ) -> tuple[Plane, ...] | Refusal:
        layout = ffi.addressof(slab.info, "layout")
        if (size := lib.gid_layout_size(layout)) == 0:  # only a device knows its size
            return self._wrong(frame, errno.EBADMSG, "check-mismatch", "its rows are not linear")
        copy = ffi.new("uint8_t[]", size)
        if (error := lib.gid_consumer_keep(consumer, frame, slab.c, copy)) < 0:
            return self._lost(frame, error)
        if lib.gid_protection_verify(self._protection, frame, check, layout, copy) < 0:
            why = "picture and check are not of each other"
            return self._wrong(frame, errno.EBADMSG, "check-mismatch", why)
        sent = int.from_bytes(bytes(check.descriptor)[SUBMIT_TIME], "little")
        if self._is_old(consumer, sent, int(frame.sequence)):
            return self._wrong(frame, errno.EALREADY, "old-frame", "a later one has come already")
        lib.gid_consumer_count_copy(consumer, lib.GID_COPY_UNSAID, size)
        return views_of(slab.info.layout, memoryview(ffi.buffer(copy)).toreadonly())

    def _is_old(self, consumer: Any, sent: int, number: int) -> bool:
        """Whether it is a repeated frame, or older than one that came before.

        A producer that restarts counts its frames from the beginning, and an attacker can feign a
        restart. But its clock continues. A clock that restarted with its machine shows less time
        than has passed here since.
        """
        lib.gid_consumer_get_stats(consumer, self._stats)
        flow, now = int(self._stats.reconnects), int(lib.gid_clock_now())
        is_back = flow != self._flow
        if not is_back and number <= self._number:
            return True
        if sent < self._sent + is_back and sent > now - self._came:
            return True
        self._sent, self._number, self._flow, self._came = sent, number, flow, now
        return False

    def _wrong(self, frame: Any, number: int, reason: str, why: str) -> Refusal:
        text = f"frame {frame.sequence} of {self._stream}: {why}"
        return partial(ProtectionError, number, text, reason)

    def _lost(self, frame: Any, error: int) -> Refusal:
        """The frame itself was lost or changed, so its check cannot be verified."""
        if error == -errno.EPROTO:
            return self._wrong(frame, errno.EBADMSG, "check-mismatch", "it has changed")
        if error in (-errno.ESTALE, -errno.ENOENT, -errno.ENOTCONN):
            why = f"frame {frame.sequence} of {self._stream} was taken back before it was checked"
            return partial(LeaseError, errno.ESTALE, why)
        return partial(error_of, error)


class ProtectedFrame(Frame):
    """Its picture is a copy of the protected one, or missing. It never gives a view of the slot."""

    __slots__ = ("_refusal",)
    _refusal: Refusal | None  # why there is no picture; unset: not verified yet

    def look(self, guard: Guard) -> None:
        found = guard.look(self._consumer.c, self._c, self._held())
        if isinstance(found, tuple):
            self._planes, self._refusal = found, None
        else:
            self._refusal = found

    def _view(self, slab: ImportedSlab) -> tuple[Plane, ...]:
        raise self._given_back() if self._refusal is None else self._refusal()

    @property
    def current(self) -> bool:
        return self._refusal is None

    def release(self) -> bool:
        super().release()
        return self.current

    def __exit__(self, *_: object) -> None:
        self.release()


class ProtectedConsumer(Consumer):
    """Each frame is verified before a thread gets it. Otherwise a frame that one thread took early
    and verified late would look like an old one.
    """

    _frames = ProtectedFrame

    def __init__(self, guard: Guard, *how: Any) -> None:
        self._guard = guard
        super().__init__(*how)

    def frame(self, timeout: float | None = None) -> Frame:
        return self._wait_by_descriptor(timeout)

    def __next__(self) -> Frame:
        try:
            return self.frame()
        except EndOfStream:
            raise StopIteration from None

    def _next(self, me: object) -> Frame | None:
        with self.connection:
            frame = super()._next(me)
            if isinstance(frame, ProtectedFrame):
                frame.look(self._guard)
            return frame
