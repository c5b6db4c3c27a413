# SPDX-License-Identifier: MIT
"""A Wayland compositor of a test's own making, which does what no real one can be made to do."""

import os
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from lab.domains.wayland import TOP, Interface, encode, pad, protocol_files, read_protocols

_REGISTRY_BIND = 0
_CAPTURING = ("ext-image-capture-source", "ext-image-copy-capture")


def _protocols() -> dict[str, Interface]:
    files = protocol_files()
    (shell,) = (path for path in files if path.name == "xdg-shell.xml")
    staging = shell.parents[2] / "staging"
    more = [staging / name / f"{name}-v1.xml" for name in _CAPTURING]
    more.append(TOP / "protocol/wlr-screencopy-unstable-v1.xml")
    return read_protocols([*files, *more])


@dataclass
class Served:
    """An object of the client's. `args`: those of the request that made it."""

    interface: str
    number: int
    args: list[Any] = field(default_factory=list)


Answer = Callable[["FalseCompositor", Served, str, list[Any]], None]


class FalseCompositor:
    """Serves one client, in a thread. What its requests lead to is `answer`'s: for a global, its
    binding is the request `bind`."""

    def __init__(self, folder: Path, offered: Mapping[str, int], answer: Answer) -> None:
        self._interfaces = _protocols()
        self._offered = list(offered.items())
        self._answer = answer
        self._objects = {1: Served("wl_display", 1)}
        self._input, self._fds = b"", []
        self._client: socket.socket | None = None
        self.environment = {"WAYLAND_DISPLAY": str(folder / "false-compositor")}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.environment["WAYLAND_DISPLAY"])
        self._listener.listen(1)
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> "FalseCompositor":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for one in (self._listener, self._client):
            if one is not None:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for one in (self._listener, self._client):
            if one is not None:
                one.close()

    def send(self, target: Served, event: str, *args: Any) -> None:
        (message,) = (e for e in self._interfaces[target.interface].events if e.name == event)
        fds: list[int] = []
        kinds = [kind for _, kind, _ in message.args]
        payload = b"".join(encode(k, a, fds) for k, a in zip(kinds, args, strict=True))
        head = struct.pack("<IHH", target.number, message.opcode, 8 + len(payload))
        with suppress(BrokenPipeError):
            socket.send_fds(self._client, [head + payload], fds)

    # --- requests

    def _serve(self) -> None:
        with suppress(OSError):
            self._client, _ = self._listener.accept()
            while self._read():
                pass

    def _read(self) -> bool:
        data, fds, _, _ = socket.recv_fds(self._client, 65536, 28)
        self._input += data
        self._fds += fds
        while len(self._input) >= 8:
            number, opcode, size = struct.unpack_from("<IHH", self._input)
            if len(self._input) < size:
                break
            payload, self._input = self._input[8:size], self._input[size:]
            self._handle(self._objects[number], opcode, payload)
        return data != b""

    def _handle(self, target: Served, opcode: int, payload: bytes) -> None:
        requests = self._interfaces[target.interface].requests.values()
        (message,) = (request for request in requests if request.opcode == opcode)
        if target.interface == "wl_registry" and opcode == _REGISTRY_BIND:
            self._bind(payload)
            return
        args = self._decode(payload, message.args)
        if target.interface != "wl_display":
            self._answer(self, target, message.name, args)
        elif message.name == "sync":
            self.send(args[0], "done", 0)
            self.send(target, "delete_id", args[0].number)
        else:
            for name, (interface, version) in enumerate(self._offered):
                self.send(args[0], "global", name, interface, version)

    def _bind(self, payload: bytes) -> None:
        _, length = struct.unpack_from("<II", payload)
        interface = payload[8 : 8 + length - 1].decode()
        _, number = struct.unpack_from("<II", payload, 8 + len(pad(bytes(length))))
        made = self._objects[number] = Served(interface, number)
        self._answer(self, made, "bind", [])

    def _decode(self, payload: bytes, args: list[tuple[str, str, str | None]]) -> list[Any]:
        values: list[Any] = []
        at = 0
        for _, kind, interface in args:
            if kind == "fd":
                os.close(self._fds.pop(0))
                continue
            (word,) = struct.unpack_from("<i" if kind in ("int", "fixed") else "<I", payload, at)
            at += 4
            if kind in ("string", "array"):
                values.append(payload[at : at + word])
                at += len(pad(bytes(word)))
            elif kind == "new_id":
                values.append(Served(interface or "", word, values))
                self._objects[word] = values[-1]
            elif kind == "object":
                values.append(self._objects.get(word))
            else:
                values.append(word)
        return values
