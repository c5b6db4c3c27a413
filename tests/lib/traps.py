# SPDX-License-Identifier: MIT
"""Descriptors whose last close takes long: of sockets that linger, whose peer does not read."""

import os
import socket
import struct
import time
from contextlib import suppress
from types import TracebackType

LINGER_S = 60
BUFFER = 4096  # of a trap: a test makes many


class Traps:
    """Makes them. Their far ends are closed at the end, and with that each close is over."""

    def __init__(self) -> None:
        self.far_ends: list[socket.socket] = []

    def __enter__(self) -> "Traps":
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for end in self.far_ends:
            end.close()

    def make(self) -> int:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
            trap = socket.create_connection(server.getsockname())
            far_end, _ = server.accept()
        self.far_ends.append(far_end)
        trap.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        trap.setblocking(False)
        for _ in range(2):
            with suppress(BlockingIOError):
                while True:
                    trap.send(bytes(BUFFER))
            time.sleep(0.01)  # in which the far end takes what it has room for
        linger = struct.pack("ii", 1, LINGER_S)
        trap.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        return trap.detach()

    def doorbell(self) -> tuple[socket.socket, socket.socket]:
        """A pair. In the first one's queue waits a trap, of which nobody else has a copy."""
        given, kept = socket.socketpair()
        trap = self.make()
        socket.send_fds(kept, [b"1"], [trap])
        os.close(trap)
        return given, kept
