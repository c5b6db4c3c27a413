# SPDX-License-Identifier: MIT
"""A machine's end of the doorbell server, as its QEMU has it: rings others, and is rung."""

import contextlib
import os
import socket
import struct
from pathlib import Path
from typing import Self

SECONDS = 180.0


class Bells:
    """Takes the place of the machine at the server, and gets what it would be given."""

    def __init__(self, path: Path) -> None:
        self.fds: list[int] = []
        # By the number of who is rung: for anything, then one for each vector of that one's pool.
        self.to: dict[int, list[int]] = {}
        self.vectors: list[int] = []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.socket.settimeout(SECONDS)
        self._read()
        self.own, _ = self._read()
        _, memory = self._read()
        self.cookie, self.count = struct.unpack_from("<QI", os.pread(memory, 296, 0), 16)
        (self.pool,) = struct.unpack_from("<I", os.pread(memory, 296, 0), 288)
        while (answer := self._read())[0] != self.own:
            self.to.setdefault(answer[0], []).append(answer[1])
        self.vectors.append(answer[1])
        while len(self.vectors) < self.count * (1 + self.pool):
            self.vectors.append(self._read()[1])

    def _read(self) -> tuple[int, int]:
        data, fds, _, _ = socket.recv_fds(self.socket, 8, 1)
        self.fds += fds
        return struct.unpack("<q", data)[0], fds[0] if fds else -1

    def ring(self, domain: int, vector: int = 0) -> None:
        with contextlib.suppress(BlockingIOError):  # full: it has been rung
            os.eventfd_write(self.to[domain][vector], 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()
        for fd in self.fds:
            os.close(fd)
