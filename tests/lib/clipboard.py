# SPDX-License-Identifier: MIT
"""Programs that copy and paste text, and the other end of a clipboard that is told what to send."""

import os
import struct
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress

from lib.input_window import InputWindow
from lib.program import BUILD, wait_for

from lab.domains.wayland import Display, Object

TEXT = "text/plain;charset=utf-8"
MAGIC = 0x3170696C63646967
TEXT_MAX = 65536


def frame(text: bytes, magic: int = MAGIC, size: int | None = None, reserved: bytes = b"") -> bytes:
    """As docs/wire-input.md says it."""
    return struct.pack("<QI52s", magic, len(text) if size is None else size, reserved) + text


class Program:
    """One with a seat of its compositor. It answers, while something is waited for."""

    def __init__(self, display: Display, seat: Object) -> None:
        self.display = display
        self.manager = display.bind("wl_data_device_manager", 3)
        self.device = self.manager("get_data_device", seat)
        self.source: Object | None = None
        self.write: Callable[[int], None] = os.close
        self.asked = 0  # for what it copied last
        self.offer: Object | None = None  # of what others copied last

    def copy(self, text: bytes | Callable[[int], None], serial: int, kind: str = TEXT) -> Object:
        """That text; or the function writes it, each time that somebody asks, and closes."""
        self.write = (lambda fd: write_all(fd, text)) if isinstance(text, bytes) else text
        self.asked = 0
        self.source = self.manager("create_data_source")
        self.source("offer", kind)
        self.device("set_selection", self.source, serial)
        self.display.roundtrip()
        return self.source

    def leave(self, text: bytes) -> None:
        """Copies it, and is no longer there to give it, until the compositor gives what it kept."""
        self.copy(text, self.serial() + 1)
        self.wait(lambda: self.asked > 0, "the compositor to ask")
        self.source("destroy")
        self.source = self.offer = None
        self.wait(lambda: self.has_text() and self.paste() == text, "what was kept")

    def serial(self) -> int:
        """The compositor's of now."""
        return self.display.display("sync").wait("done")[0]

    def answer(self) -> None:
        """Whoever asked for it, and sees what others copied."""
        self.display.dispatch_pending()
        while self.source is not None and (asked := self.source.take("send")) is not None:
            self.asked += 1
            self.write(asked[1])
        while (offered := self.device.take("selection")) is not None:
            (self.offer,) = offered

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        def there() -> bool:
            self.answer()
            return condition()

        wait_for(there, what)

    def has_text(self) -> bool:
        """Whether somebody else offers one, as was seen last."""
        if self.source is not None and not self.source.has("cancelled"):
            return False
        return self.offer is not None and ("offer", (TEXT,)) in self.offer.events

    def begin_paste(self) -> int:
        """Where the text comes."""
        reading, writing = os.pipe()
        self.offer("receive", TEXT, writing)
        os.close(writing)
        return reading

    def paste(self) -> bytes:
        """What somebody else offers, or will."""
        self.wait(self.has_text, "a text")
        reading, parts = self.begin_paste(), []
        os.set_blocking(reading, False)

        def is_whole() -> bool:
            with suppress(BlockingIOError):
                while part := os.read(reading, TEXT_MAX):
                    parts.append(part)
                return True
            return False

        self.wait(is_whole, "the end of a text")
        os.close(reading)
        return b"".join(parts)


class ClipboardWindow(InputWindow):
    """One whose program copies and pastes."""

    def prepare(self) -> None:
        self.program = Program(self.display, self.seat)


def write_all(fd: int, text: bytes) -> None:
    """By a thread: who reads may be slow, or read nothing."""

    def write() -> None:
        try:
            with open(fd, "wb") as pipe:
                pipe.write(text)
        except BrokenPipeError:
            pass

    threading.Thread(target=write, daemon=True).start()


class ClipboardPeer:
    """In the domain of that environment: sends any frames, and tells which came."""

    def __init__(
        self, environment: dict[str, str], ours: str, owner: str, theirs: str, heard: bool = True
    ) -> None:
        command = [BUILD / "tests/lib/programs/clipboard-peer", ours, owner, theirs]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.came: list[bytes] = []
        if heard:
            self.tell("wait")

    def __enter__(self) -> "ClipboardPeer":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def tell(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        while self._take() != "done":
            pass

    def _take(self) -> str:
        word, _, rest = self.process.stdout.readline().strip().partition(" ")
        assert word in ("came", "done"), "clipboard-peer ended"
        if word == "came":
            self.came.append(bytes.fromhex(rest))
        return word

    def send(self, frame: bytes) -> None:
        self.tell(f"send {frame.hex()}")

    def wait_text(self) -> bytes:
        """The next that comes."""
        while not self.came:
            self._take()
        return self.came.pop(0)
