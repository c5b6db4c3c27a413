# SPDX-License-Identifier: MIT
"""A Weston to whose outputs a test does what users do with cables and buttons."""

import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lib.program import BUILD, PATIENCE, Program
from lib.weston import Weston


class PluggedWeston(Weston):
    def __init__(self, folder: Path, environment: dict[str, str], **how: Any) -> None:
        super().__init__(folder, environment, **how)
        modules = self.command.index("--modules=gid-buffer.so")
        self.command[modules] += f",{BUILD / 'tests/lib/programs/plug.so'}"

    def launch(self, under: Iterable[str] = ()) -> Program:
        """With plug.so, which obeys order()."""
        self.orders, theirs = socket.socketpair()
        self.orders.settimeout(PATIENCE)
        with theirs:
            self.place.pass_fds = [theirs.fileno()]
            self.place.environment["PLUG_FD"] = str(theirs.fileno())
            return super().launch(under)

    def order(self, *words: str | int) -> None:
        """Tells plug.so what to do, and waits until it is done."""
        self.orders.send(" ".join(map(str, words)).encode() + b"\n")
        assert self.orders.recv(100) == b"done\n", words
