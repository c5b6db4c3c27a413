# SPDX-License-Identifier: MIT
"""QEMU's monitor: queries a machine from outside. All waits are bounded."""

import json
import time
from pathlib import Path
from typing import Self

from .sockets import connect

SECONDS = 30.0
LINE_BYTES = 1 << 20  # of one message: a guest may have compromised QEMU


class MonitorError(Exception):
    """QEMU does not answer, or refuses the command."""


class Monitor:
    """A connection to QEMU's QMP socket, which accepts one at a time.

    `with Monitor(path) as monitor: monitor.screenshot(picture)`. `pid`: QEMU's process, if it is
    known.
    """

    def __init__(self, path: Path, pid: int | None = None) -> None:
        self.path, self.pid = path, pid

    def __enter__(self) -> Self:
        try:
            self.socket = connect(self.path, SECONDS, pid=self.pid)
        except OSError as error:
            raise MonitorError(f"{self.path}: {error.strerror or error}") from None
        self._received = bytearray()  # the beginning of a line
        try:
            self._read("QMP")
            self.execute("qmp_capabilities")
        except MonitorError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def execute(self, command: str, **arguments: object) -> object:
        """Runs a QMP command to its end, and returns its result."""
        message = {"execute": command, "arguments": arguments}
        self.socket.settimeout(SECONDS)
        try:
            self.socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise MonitorError(f"{command}: {error.strerror or error}") from None
        return self._read("return")

    def screenshot(self, picture: Path) -> None:
        """Writes a PNG of the guest's screen, by QEMU. An existing file is overwritten."""
        self.execute("screendump", filename=str(picture.absolute()), format="png")

    def _line(self, end: float) -> bytes:
        """The next line, without its end. TimeoutError: it has none until `end`, whatever comes."""
        while (size := self._received.find(b"\n")) < 0:
            if (left := end - time.monotonic()) <= 0:
                raise TimeoutError
            self.socket.settimeout(left)
            part = self.socket.recv(LINE_BYTES)
            if not part or len(self._received) > LINE_BYTES:
                raise ConnectionResetError
            self._received += part
        line = bytes(self._received[:size])
        del self._received[: size + 1]
        return line

    def _read(self, key: str) -> object:
        """The next message with this key; events are skipped."""
        end = time.monotonic() + SECONDS
        try:
            while True:
                message = json.loads(self._line(end))
                if "error" in message:
                    raise MonitorError(message["error"]["desc"])
                if key in message:
                    return message[key]
                if time.monotonic() > end:
                    raise TimeoutError
        except TimeoutError:
            raise MonitorError(f"{self.path}: QEMU does not answer") from None
        except (OSError, ValueError):
            pass  # it was killed, perhaps in the middle of a line
        except (LookupError, RecursionError, TypeError):
            raise MonitorError(f"{self.path}: QEMU says what it should not") from None
        raise MonitorError(f"{self.path}: QEMU has ended")
