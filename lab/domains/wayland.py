# SPDX-License-Identifier: MIT
"""A Wayland client for any interface, generated at run time from the protocols' XML.

Unlike a client of libwayland, it can send invalid requests (wrong objects, wrong ids, raw bytes),
and it sees each event in order. It has one thread, and dispatches only when asked.
"""

import re
import select
import socket
import struct
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
TIMEOUT = 240.0  # seconds, for all waits: they end early when all is well


@dataclass
class Message:
    name: str
    opcode: int
    args: list[tuple[str, str, str | None]]  # name, type, interface


@dataclass
class Interface:
    name: str
    version: int
    requests: dict[str, Message] = field(default_factory=dict)
    events: list[Message] = field(default_factory=list)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)


def weston_major() -> int:
    command = ["weston", "--version"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(re.search(r"(\d+)\.", said)[1])


def _folder(package: str) -> Path:
    command = ["pkg-config", "--variable=pkgdatadir", package]
    return Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


def protocol_files() -> tuple[Path, ...]:
    return (
        _folder("wayland-scanner") / "wayland.xml",
        _folder("wayland-protocols") / "stable/xdg-shell/xdg-shell.xml",
        _folder("wayland-protocols") / "stable/viewporter/viewporter.xml",
        _folder("wayland-protocols") / "stable/tablet/tablet-v2.xml",
        _folder("wayland-protocols") / "stable/linux-dmabuf/linux-dmabuf-v1.xml",
        _folder("wayland-protocols")
        / "unstable/linux-explicit-synchronization"
        / "linux-explicit-synchronization-unstable-v1.xml",
        *(
            _folder("wayland-protocols") / f"unstable/{name}/{name}-unstable-v1.xml"
            for name in ("pointer-constraints", "relative-pointer")
        ),
        _folder("wayland-protocols") / "staging/single-pixel-buffer/single-pixel-buffer-v1.xml",
        _folder(f"libweston-{weston_major()}-protocols") / "weston-output-capture.xml",
        TOP / "protocol/gid-buffer-v1.xml",
        TOP / "protocol/gid-safety-v1.xml",
    )


def read_protocols(paths: Iterable[Path]) -> dict[str, Interface]:
    interfaces = {}
    for path in paths:
        for element in ElementTree.parse(path).iter("interface"):
            interface = Interface(element.get("name"), int(element.get("version")))
            for kind in ("request", "event"):
                for opcode, child in enumerate(element.findall(kind)):
                    args = [
                        (a.get("name"), a.get("type"), a.get("interface"))
                        for a in child.findall("arg")
                    ]
                    message = Message(child.get("name"), opcode, args)
                    if kind == "request":
                        interface.requests[message.name] = message
                    else:
                        interface.events.append(message)
            for child in element.findall("enum"):
                interface.enums[child.get("name")] = {
                    entry.get("name"): int(entry.get("value"), 0)
                    for entry in child.findall("entry")
                }
            interfaces[interface.name] = interface
    return interfaces


class ProtocolError(Exception):
    """The compositor ended the connection because of our protocol error."""

    def __init__(self, interface: str, code: int, error: str, text: str) -> None:
        super().__init__(f"{interface} error {error} ({code}): {text}")
        self.interface, self.code, self.error = interface, code, error


class Disconnected(Exception):
    """The compositor is gone, or ended the connection without an error."""


class Object:
    """An object of the client. `events`: received, and not taken yet."""

    def __init__(self, display: "Display", interface: Interface, number: int, version: int) -> None:
        self.display, self.interface, self.number, self.version = (
            display,
            interface,
            number,
            version,
        )
        self.events: list[tuple[str, tuple]] = []

    def __call__(self, request: str, *args: Any) -> "Object | None":
        """Sends a request. A new object is not one of `args`: it is returned."""
        return self.display.send(self, request, args)

    def take(self, event: str) -> tuple | None:
        """Removes the first such event, and returns its arguments; None: there is no such event."""
        for index, (name, args) in enumerate(self.events):
            if name == event:
                del self.events[index]
                return args
        return None

    def has(self, event: str) -> bool:
        return any(name == event for name, _ in self.events)

    def wait(self, event: str, timeout: float = TIMEOUT) -> tuple:
        """As take(), but waits for the event."""
        self.display.wait_until(lambda: self.has(event), f"{self.interface.name}.{event}", timeout)
        return self.take(event)


class Display:
    def __init__(self, path: Path, protocols: Iterable[Path]) -> None:
        self.interfaces = read_protocols(protocols)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.input = b""
        self.input_fds: list[int] = []
        self.objects: dict[int, Object] = {}
        self.next_number = 1
        self.display = self.new_object("wl_display", 1)
        self.registry = self.display("get_registry")
        self.roundtrip()
        self.globals = {
            interface: (name, version)
            for event, (name, interface, version) in self.registry.events
            if event == "global"
        }

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- sending

    def new_object(self, interface: str, version: int, number: int | None = None) -> Object:
        if number is None:
            number = self.next_number
            self.next_number += 1
        made = Object(self, self.interfaces[interface], number, version)
        self.objects[number] = made
        return made

    def bind(self, interface: str, version: int = 1) -> Object:
        name, available = self.globals[interface]
        made = self.new_object(interface, min(version, available))
        text = interface.encode() + b"\0"
        payload = struct.pack("<II", name, len(text)) + pad(text)
        self.send_raw(
            self.registry.number, 0, payload + struct.pack("<II", made.version, made.number)
        )
        return made

    def send(self, target: Object, request: str, args: tuple) -> Object | None:
        message = target.interface.requests[request]
        remaining, payload, fds, made = list(args), b"", [], None
        for _, kind, interface in message.args:
            if kind == "new_id":
                made = self.new_object(interface, target.version)
                payload += struct.pack("<I", made.number)
            else:
                payload += encode(kind, remaining.pop(0), fds)
        assert not remaining, f"too many arguments for {request}"
        self.send_raw(target.number, message.opcode, payload, fds)
        return made

    def send_raw(self, number: int, opcode: int, payload: bytes, fds: list[int] = ()) -> None:
        data = struct.pack("<IHH", number, opcode, 8 + len(payload)) + payload
        try:
            socket.send_fds(self.socket, [data], fds)
        except (BrokenPipeError, ConnectionResetError):
            self.dispatch_pending()
            raise Disconnected() from None

    # --- receiving

    def dispatch_pending(self) -> None:
        """Handles the events that have arrived already."""
        while select.select([self.socket], [], [], 0)[0]:
            self.read()

    def read(self) -> None:
        try:
            data, fds, _, _ = socket.recv_fds(self.socket, 65536, 28)
        except ConnectionResetError:
            data, fds = b"", []
        if not data:
            raise Disconnected()
        self.input += data
        self.input_fds += fds
        while len(self.input) >= 8:
            number, opcode, size = struct.unpack_from("<IHH", self.input)
            if len(self.input) < size:
                break
            payload, self.input = self.input[8:size], self.input[size:]
            self.handle(number, opcode, payload)

    def handle(self, number: int, opcode: int, payload: bytes) -> None:
        target = self.objects.get(number)
        assert target is not None, f"an event for {number}, which is no object of ours"
        message = target.interface.events[opcode]
        args = tuple(self.decode(payload, message.args))
        if target is self.display and message.name == "error":
            self.raise_error(*args)
        elif target is self.display and message.name == "delete_id":
            self.objects.pop(args[0], None)
        else:
            target.events.append((message.name, args))

    def raise_error(self, target: Object | None, code: int, text: str) -> None:
        if target is None:
            raise ProtocolError("?", code, "?", text)
        names = {value: name for name, value in target.interface.enums.get("error", {}).items()}
        raise ProtocolError(target.interface.name, code, names.get(code, "?"), text)

    def decode(self, payload: bytes, args: list[tuple[str, str, str | None]]) -> list[Any]:
        values, at = [], 0
        for _, kind, interface in args:
            if kind == "fd":
                values.append(self.input_fds.pop(0))
                continue
            (word,) = struct.unpack_from("<i" if kind in ("int", "fixed") else "<I", payload, at)
            at += 4
            if kind in ("string", "array"):
                raw = payload[at : at + word]
                at += (word + 3) & ~3
                values.append(raw[:-1].decode() if kind == "string" else raw)
            elif kind == "new_id":
                values.append(self.new_object(interface, 1, word))
            elif kind == "object":
                values.append(self.objects.get(word))
            else:
                values.append(word)
        return values

    def wait_until(
        self, condition: Callable[[], bool], what: str, timeout: float = TIMEOUT
    ) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                raise TimeoutError(f"no {what} within {timeout} s")
            self.read()

    def roundtrip(self, timeout: float = TIMEOUT) -> None:
        self.display("sync").wait("done", timeout)


def pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def encode(kind: str, value: Any, fds: list[int]) -> bytes:
    if kind == "fd":
        fds.append(value)
        return b""
    if kind == "object":
        number = value.number if isinstance(value, Object) else value
        return struct.pack("<I", number or 0)
    if kind == "string":
        text = value.encode() + b"\0"
        return struct.pack("<I", len(text)) + pad(text)
    if kind == "array":
        return struct.pack("<I", len(value)) + pad(bytes(value))
    return struct.pack("<i" if kind in ("int", "fixed") else "<I", value)
