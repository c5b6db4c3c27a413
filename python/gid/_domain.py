# SPDX-License-Identifier: MIT
"""The domain that this program belongs to: consumers and producers are made here."""

import json
import weakref
from typing import Any

from ._connection import Connection, belongs_to_its_process
from ._consumer import Consumer
from ._formats import layout_of
from ._gid import ffi, lib
from ._producer import Producer
from ._protection import Guard, KeyFile, Profile, ProtectedConsumer, open_protection

STRIDE_ALIGN = 64  # bytes: suits processors and GPUs


class Domain:
    """A connection to the domain's gidd.

        with gid.Domain() as domain:
            consumer = domain.consumer("movie", owner="open")

    `name` is the domain's name, or the path of gidd's socket; None: that of $GID_DOMAIN, or the
    only domain here. Raises NotFoundError or DisconnectedError: there is no gidd; AccessError; or
    ValueError. The message says what to do. Waits 2 s at most, or $GID_ANSWER_SECONDS.

    Any number of threads may use a domain and its objects. It cannot be passed to another process:
    each process makes its own, also after a fork.
    """

    def __init__(self, name: str | None = None) -> None:
        self._connection = Connection(name)
        self._parts: weakref.WeakSet[Consumer | Producer] = weakref.WeakSet()

    @property
    def name(self) -> str:
        """The domain's name."""
        with self._connection:
            return str(ffi.string(lib.gid_domain_name(self._connection.open())).decode())

    @property
    def number(self) -> int:
        """The domain's number, 1 to 254."""
        with self._connection:
            return int(lib.gid_domain_number(self._connection.open()))

    def consumer(
        self,
        stream: str,
        owner: str | None = None,
        *,
        credit: int = 0,
        drop_old: bool = False,
        reconnect: bool = True,
        protection: Profile | None = None,
        protection_key: KeyFile | None = None,
    ) -> Consumer:
        """Subscribes to a stream of the domain `owner` (None: our own).

        Does not wait for its producer, which may come later.

        credit: frames to hold at once, including unread ones, at most 63 (0: 4). If all are used,
            new frames are lost.
        drop_old: the oldest unread frames are lost instead, for programs that want the newest
            picture.
        reconnect: if False, the stream must exist, and loops end with its producer.
        protection: "crc64" or "cmac": each picture is copied and checked, and must come from a
            producer with the same protection. If not, `picture` raises ProtectionError. See
            docs/protection.md.
        protection_key: for "cmac", the file of its key.

        Raises NotFoundError: this program may not read such a stream, or it does not exist;
        GidError with errno.EINVAL: not a name, or EDQUOT: too many.
        """
        opened = open_protection(stream, protection, protection_key)
        how = self._connection, stream, owner, credit, drop_old, reconnect
        if opened is None:
            consumer = Consumer(*how)
        else:
            consumer = ProtectedConsumer(Guard(stream, opened), *how)
        self._parts.add(consumer)
        return consumer

    def producer(
        self,
        stream: str,
        format: str,
        width: int,
        height: int,
        *,
        slots: int = 4,
        patient: bool = False,
        keeps_shown: bool = True,
        lease: float = 0.0,
        credit_max: int = 0,
        description: str | None = None,
        protection: Profile | None = None,
        protection_key: KeyFile | None = None,
    ) -> Producer:
        """Publishes a stream of this domain, with pictures of one format and size (pixels).

        format: one of `gid.formats()`, such as "XR24", "NV12", "R8".
        slots: the number of pictures in memory: one to draw, one under way, and those that
            readers hold.
        patient: waits for readers, so that they miss no frame.
        keeps_shown: a new reader gets the last picture at once, as with GStreamer's gidsink. That
            picture keeps its slot; a producer with a single slot keeps none.
        lease: seconds for which a reader may hold a frame after the next was sent (0: 1, or 10 if
            patient).
        credit_max: frames that one reader may hold (0: 8).
        description: for readers in GStreamer, caps such as
            "video/x-raw,format=BGRx,width=64,height=48,framerate=30/1"; without it they get caps
            of the format and size.
        protection: "crc64" or "cmac": each picture gets a check of its pixels when it is sent. See
            docs/protection.md.
        protection_key: for "cmac", the file of its key.

        Raises AccessError: the cockpit's configuration does not allow it; GidError with EEXIST: the
        name is taken; EINVAL: not a name, or a size out of range; ENOTSUP: not a format; EDQUOT,
        ENOMEM: no memory.
        """
        layout = layout_of(format, width, height, STRIDE_ALIGN)
        producer = Producer(
            self._connection,
            stream,
            layout,
            slots,
            description,
            open_protection(stream, protection, protection_key),
            patient=patient,
            keeps_shown=keeps_shown and slots > 1,
            lease_ns=round(lease * 1e9),
            credit_max=credit_max,
        )
        self._parts.add(producer)
        return producer

    def status(self) -> dict[str, Any]:
        """gidd's report about the domain, its slabs, grants and streams."""
        out = ffi.new("char **")
        with self._connection:
            domain = self._connection.open()
            self._connection.dispatch()  # reconnects if necessary
            self._connection.check(lib.gid_domain_status(domain, out))
            try:
                report: dict[str, Any] = json.loads(ffi.string(out[0]))
            finally:
                lib.free(out[0])
        return report

    def close(self) -> None:
        """Closes all consumers and producers, and the connection.

        Arrays of frames stay valid memory: the connection stays open until the last of them is
        gone.
        """
        for part in list(self._parts):
            part.close()
        self._connection.close()

    def __enter__(self) -> "Domain":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        connection = self._connection
        name = connection.describe(
            connection, lambda: "closed" if connection.is_closing else self.name
        )
        return f"<gid.Domain {name}>"

    def __reduce__(self) -> Any:
        raise belongs_to_its_process(self)
