# SPDX-License-Identifier: MIT
"""A gidd of another machine, as the hub sees it: one stream of bytes, which the test writes."""

import socket
import struct
import time
from collections.abc import Callable

from lib.cockpit import Cockpit
from lib.gidwire import (
    BODIES,
    ENVELOPE,
    ENVELOPE_MAGIC,
    HEADER,
    HELLO,
    JOIN,
    JOINED,
    PEER,
    PING,
    PONG,
    VERSION,
    WELCOME,
    Message,
    pack,
)
from lib.machines import NAMES
from lib.program import PATIENCE


def envelope(domain: int, epoch: int, message: bytes) -> bytes:
    return struct.pack(ENVELOPE, ENVELOPE_MAGIC, domain, epoch, len(message)) + message


class Member:
    def __init__(self, cockpit: Cockpit, domain: str) -> None:
        self.number = NAMES[domain]
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self.socket.connect(str(cockpit.runtime / "hub" / f"{domain}.sock"))
        self.bytes = b""
        self.epochs: dict[int, int] = {}
        self.greeted: set[int] = set()
        self.greets = True  # else HELLO has no answer
        self.nonce = 0
        self.joined: list[int] = []  # nonces that the hub has said, 0 among them
        self.serial = 100
        self.holds = False
        self.held_pings: list[tuple[int, int, int]] = []  # domain, epoch, time

    def __enter__(self) -> "Member":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    # --- out ---

    def send_raw(self, data: bytes) -> None:
        self.socket.settimeout(PATIENCE)
        self.socket.sendall(data)

    def send(self, domain: int, message: bytes, epoch: int | None = None) -> None:
        if epoch is None:
            epoch = self.epochs.get(domain, 0)
        self.send_raw(envelope(domain, epoch, message))

    def join(self) -> None:
        """Asks until the hub has answered, as a gidd does that finds its port in any state."""
        self.nonce += 1
        for _ in range(40):
            self.send(0, pack(JOIN, VERSION, 0, self.nonce))
            if self.wait(lambda: self.nonce in self.joined, 0.5):
                return
        raise AssertionError("the hub does not answer")

    # --- in ---

    def receive(self, timeout: float) -> tuple[int, Message] | None:
        """The next message of the hub (0) or a domain; PING and HELLO are answered by itself."""
        end = time.monotonic() + timeout
        while True:
            if len(self.bytes) >= 16:
                magic, domain, epoch, size = struct.unpack_from(ENVELOPE, self.bytes)
                assert magic == ENVELOPE_MAGIC and size <= 4096
                if len(self.bytes) >= 16 + size:
                    data, self.bytes = self.bytes[16 : 16 + size], self.bytes[16 + size :]
                    type_, length, serial, reserved = struct.unpack_from(HEADER, data)
                    assert length == size and reserved == 0
                    values = struct.unpack_from("<" + BODIES[type_], data, 16)
                    message = Message(type_, serial, values)
                    self.handle(domain, epoch, message)
                    return domain, message
            self.socket.settimeout(max(0.001, end - time.monotonic()))
            try:
                data = self.socket.recv(65536)
            except TimeoutError:
                return None
            assert data, "the hub has hung up"
            self.bytes += data

    def handle(self, domain: int, epoch: int, message: Message) -> None:
        if message.type == JOINED:
            assert message.values[1] == self.number
            if message.values[2] not in self.joined[1:]:  # whatever was before is over
                self.epochs.clear()
                self.greeted.clear()
            self.joined.append(message.values[2])
        elif message.type == PEER:
            peer, epoch, up, _, _ = message.values
            if up:
                self.epochs[peer] = epoch
            else:
                self.epochs.pop(peer, None)
                self.greeted.discard(peer)
        elif message.type == HELLO and domain > self.number and self.greets:
            self.welcome(domain, message.serial)
        elif message.type == WELCOME:
            self.greeted.add(domain)
        elif message.type == PING and self.holds:
            self.held_pings.append((domain, epoch, message.values[0]))
        elif message.type == PING and self.epochs.get(domain) == epoch:
            self.send(domain, pack(PONG, message.values[0], time.monotonic_ns()))

    def welcome(self, domain: int, serial: int) -> None:
        self.send(domain, pack(WELCOME, VERSION, self.number, b"fake", 0, serial=serial))
        self.greeted.add(domain)

    def hold_pings(self) -> None:
        """They are answered later: whatever is said until then comes before the answers."""
        self.holds = True
        self.held_pings.clear()

    def answer_pings(self) -> None:
        self.holds = False
        for domain, epoch, asked in self.held_pings:
            if self.epochs.get(domain) == epoch:
                self.send(domain, pack(PONG, asked, time.monotonic_ns()))
        self.held_pings.clear()

    def wait(self, condition: Callable[[], bool], timeout: float = PATIENCE) -> bool:
        end = time.monotonic() + timeout
        while not condition():
            left = end - time.monotonic()
            if left <= 0:
                return False
            self.receive(left)
        return True

    def wait_for(self, domain: int, type_: int, timeout: float = PATIENCE) -> Message:
        """The next message of that type from that domain."""
        end = time.monotonic() + timeout
        while True:
            got = self.receive(max(0.001, end - time.monotonic()))
            if got is not None and (got[0], got[1].type) == (domain, type_):
                return got[1]
            assert time.monotonic() < end, f"no message of type {type_} from {domain}"

    def greet(self, domain: int) -> None:
        """Until the link to that domain is up. Of each pair the higher-numbered says HELLO."""
        assert self.wait(lambda: domain in self.epochs)
        if domain < self.number:
            self.send(domain, pack(HELLO, VERSION, self.number, b"gidd", serial=1))
        assert self.wait(lambda: domain in self.greeted)

    def request(self, domain: int, answer: int, type_: int, *values: object) -> Message:
        self.serial += 1
        self.send(domain, pack(type_, *values, serial=self.serial))
        while True:
            message = self.wait_for(domain, answer)
            if message.serial == self.serial:
                return message
