# SPDX-License-Identifier: MIT
"""A machine's end of the doorbell server, as its QEMU has it: rings others."""

import contextlib
import os
import socket
import struct
from pathlib import Path
from typing import Self

SECONDS = 60.0


class Bells:
    """Takes the place of the machine at the server, and gets what it would be given."""

    def __init__(self, path: Path) -> None:
        self.fds: list[int] = []
        self.to: dict[int, int] = {}  # by the number of who is rung
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(SECONDS)
        self.socket.connect(str(path))
        self._read()
        self.own, _ = self._read()
        self._read()  # the memory
        while (answer := self._read())[0] != self.own:
            self.to[answer[0]] = answer[1]

    def _read(self) -> tuple[int, int]:
        data, fds, _, _ = socket.recv_fds(self.socket, 8, 1)
        self.fds += fds
        return struct.unpack("<q", data)[0], fds[0] if fds else -1

    def ring(self, domain: int) -> None:
        with contextlib.suppress(BlockingIOError):  # full: it has been rung
            os.eventfd_write(self.to[domain], 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()
        for fd in self.fds:
            os.close(fd)
