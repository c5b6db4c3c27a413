# SPDX-License-Identifier: MIT
"""A valid message of each type."""

import struct

from lib.gidwire import (
    ACCEPT,
    ALLOC,
    ALLOCATED,
    BELL,
    BODIES,
    CLOCK,
    DEVICE,
    DOORBELL,
    EXPORT,
    FREE,
    GRANT,
    HEARING,
    HELLO,
    IMPORT,
    IMPORTED,
    JOIN,
    JOINED,
    LOWER_SIDE,
    OFFERS,
    OWN_WINDOW,
    PEER,
    PING,
    PONG,
    PUBLISH,
    PUNCH,
    PUNCHED,
    REPORT,
    RESULT,
    REVOKED,
    SEAL,
    SEALED,
    STATUS,
    SUBSCRIBE,
    SUBSCRIBED,
    SUBSCRIBER,
    SUBSCRIPTION_END,
    UNEXPORT,
    UNIMPORT,
    UNPUBLISH,
    VECTOR,
    VERSION,
    WELCOME,
    WITHDRAW,
    Export,
    gid,
    offers,
    pack,
)

# Descriptors beside each.
FDS = {
    EXPORT: 1,
    IMPORTED: 1,
    ALLOCATED: 1,
    SUBSCRIBE: 2,
    SUBSCRIBER: 2,
    ACCEPT: 1,
    SUBSCRIBED: 1,
    DOORBELL: 1,
    REPORT: 1,
}


def valid(type_: int) -> bytes:
    """A message that the wire allows, from whichever side."""
    if type_ == OFFERS:
        return offers(b"movie")
    if type_ in (EXPORT, IMPORTED):
        export = Export(generations=0).pack()
        if type_ == EXPORT:
            return export
        values = struct.unpack_from("<" + BODIES[EXPORT], export, 16)
        slab, memory, offset, slot_size, slot_count, description_size, generations = values[:7]
        head = (1, slab or 1, memory, slot_count, offset, slot_size, generations)
        return pack(IMPORTED, *head, description_size, 0, *values[7:])
    values = {
        HELLO: (VERSION, 0, b"test"),
        WELCOME: (VERSION, 1, b"open", 0),
        RESULT: (0, 0, b""),
        UNEXPORT: (1, 0),
        GRANT: (1, 2, 1, 0),
        IMPORT: (gid(1, 1),),
        REVOKED: (gid(1, 1),),
        UNIMPORT: (gid(1, 1),),
        PUBLISH: (b"movie",),
        UNPUBLISH: (1, 0),
        ALLOC: (4096, 0, 0, b""),
        ALLOCATED: (4096, 4096),
        FREE: (4096, 4096),
        SUBSCRIBE: (1, 0, 1, 0, b"", b"movie", 0),
        SUBSCRIBER: (LOWER_SIDE | 1, 1, 1, 1, 0, 0, 0, 0),
        ACCEPT: (LOWER_SIDE | 1, 0, 0),
        SUBSCRIBED: (1, 1, 0),
        SUBSCRIPTION_END: (1, 0),
        CLOCK: (1, 0, -1, 1),
        DOORBELL: (1, 0),
        HEARING: (1, 1),
        STATUS: (),
        REPORT: (1,),
        SEAL: (0, 0, 0),
        SEALED: (1, 0, 1),
        BELL: (1, 0),
        PING: (1,),
        PONG: (1, 1),
        DEVICE: (1,),
        VECTOR: (1, 1),
        JOIN: (VERSION, 0, 1),
        JOINED: (VERSION, 1, 1),
        PEER: (1, 1, 1, 0, b""),
        WITHDRAW: (0, b"nobody", b"", b"nothing"),
        PUNCH: (4096, 4096),
        PUNCHED: (4096, 4096),
        OWN_WINDOW: (0, 0, 1 << 20, 0, b""),
    }[type_]
    return pack(type_, *values)
