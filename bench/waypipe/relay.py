# SPDX-License-Identifier: MIT
"""Joins unix sockets, which waypipe knows, by TCP between a guest and its host; in the kernel.

In the guest: relay.py SOCKET PORT   Listens at SOCKET; what comes there goes to PORT of the host.
"""

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Iterator

HOST = "10.0.2.2"  # as QEMU's user network has it
CHUNK = 1 << 20


class Relay:
    """Counts the bytes that it pours, both ways."""

    def __init__(self) -> None:
        self.bytes = 0

    def pour(self, source: socket.socket, target: socket.socket) -> None:
        reader, writer = os.pipe()
        while size := os.splice(source.fileno(), writer, CHUNK):
            self.bytes += size
            while size:
                size -= os.splice(reader, target.fileno(), size)
        os.close(reader)
        os.close(writer)
        target.shutdown(socket.SHUT_WR)

    def join(self, one: socket.socket, other: socket.socket) -> None:
        for pair in ((one, other), (other, one)):
            threading.Thread(target=self.pour, args=pair, daemon=True).start()

    @contextlib.contextmanager
    def listening(self, port: int, target: str) -> Iterator[None]:
        """The host's side: what comes to the port goes to the socket `target`."""
        server = socket.create_server(("127.0.0.1", port))

        def accept() -> None:
            try:
                while True:
                    connection = server.accept()[0]
                    inside = socket.socket(socket.AF_UNIX)
                    inside.connect(target)
                    self.join(connection, inside)
            except OSError:
                pass  # it was shut down

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            server.close()


def main() -> None:
    path, port = sys.argv[1:]
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    print("ready", flush=True)
    while True:
        Relay().join(server.accept()[0], socket.create_connection((HOST, int(port))))


if __name__ == "__main__":
    main()
