# SPDX-License-Identifier: MIT
"""A running guest: boots it, runs commands in it, and ends it. Every wait is bounded.

`with Guest("open") as guest: print(guest.run(["uname", "-a"]).out)`
"""

import base64
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from initramfs import CannotBoot, find_kernel, make_initramfs
from qemu import Machine, find_qemu, probe_accel

SOURCE = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gidway" / "vm"
BOOT_SECONDS = 60.0
LIFE_SECONDS = 1800  # QEMU ends by itself then, whatever became of us
GRACE_SECONDS = 10.0


def why_not() -> str | None:
    """Why no guest can be booted here, or None."""
    try:
        find_qemu()
        find_kernel()
    except CannotBoot as error:
        return str(error)
    return None


class GuestError(Exception):
    """The guest did not do what it should in time; the text has the end of its console."""


# Called with "out" or "err" and bytes, from a thread that must not be held up.
Hear = Callable[[str, bytes], None]


@dataclass
class Result:
    """What a command in the guest printed, and its exit code (negative: the signal)."""

    code: int
    out: str
    err: str


class Command:
    """A command that runs in a guest."""

    def __init__(
        self, guest: "Guest", number: int, words: list[str], hear: Hear | None = None
    ) -> None:
        self.guest, self.number, self.words, self.hear = guest, number, words, hear
        self.code: int | None = None
        self.texts = {"out": bytearray(), "err": bytearray()}
        self.changed = threading.Condition()

    def take(self, message: dict) -> None:
        with self.changed:
            for kind in self.texts.keys() & message.keys():
                data = base64.b64decode(message[kind])
                self.texts[kind] += data
                if self.hear is not None:
                    self.hear(kind, data)
            if "exit" in message:
                self.code = message["exit"]
            self.changed.notify_all()

    def wait_for(self, text: str, timeout: float) -> str:
        """Waits until the command has printed `text`, and returns all it printed so far."""
        wanted = text.encode()
        with self.changed:
            self.changed.wait_for(
                lambda: wanted in self.texts["out"] or self.code is not None, timeout
            )
            if wanted not in self.texts["out"]:
                raise GuestError(self.guest.describe(f"{self.words[0]} did not print {text!r}"))
            return self.texts["out"].decode(errors="replace")

    def wait(self, timeout: float) -> Result:
        """Waits for its end. A command that takes longer is killed, and that is an error."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.code is not None, timeout):
                self.signal(signal.SIGKILL)
                self.changed.wait_for(lambda: self.code is not None, GRACE_SECONDS)
                last = b"".join(self.texts.values())[-2000:].decode(errors="replace")
                what = f"{' '.join(self.words)} ran for over {timeout:g} s, and printed: {last!r}"
                raise GuestError(self.guest.describe(what))
        out, err = (self.texts[kind].decode(errors="replace") for kind in ("out", "err"))
        return Result(self.code if self.code is not None else -1, out, err)

    def signal(self, number: signal.Signals) -> None:
        self.guest.send(id=self.number, signal=int(number))


class Guest:
    """A QEMU guest on this machine's own root file system. `options` go to qemu.Machine."""

    def __init__(self, name: str, **options: object) -> None:
        self.work = Path(tempfile.mkdtemp(prefix=f"gidway-{name}-"))
        self.out = self.work / "out"
        self.out.mkdir()
        options["accel"] = options.get("accel") or probe_accel(CACHE)
        self.machine = Machine(name, self.work, SOURCE, out=self.out, **options)
        self.process: subprocess.Popen[bytes] | None = None
        self.port: socket.socket | None = None
        self.commands: dict[int, Command] = {}
        self.release: str | None = None  # of its kernel, once it is up
        self.ready: queue.Queue[str | None] = queue.Queue()
        self.lock = threading.Lock()

    def __enter__(self) -> Self:
        try:
            self.boot()
        except BaseException:
            self.finish()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.finish()

    def boot(self) -> None:
        """Starts the guest and returns when its agent answers."""
        kernel, modules = find_kernel()
        initramfs = self.work / "initramfs"
        make_initramfs(initramfs, modules)
        arguments = self.machine.arguments(kernel, initramfs)
        log = (self.work / "qemu.log").open("wb")
        self.process = subprocess.Popen(
            ["timeout", "--kill-after=5", str(LIFE_SECONDS), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()
        self.port = self.connect(time.monotonic() + BOOT_SECONDS)
        threading.Thread(target=self.listen, daemon=True).start()
        try:
            self.release = self.ready.get(timeout=BOOT_SECONDS)
        except queue.Empty:
            raise GuestError(self.describe("it did not come up in time")) from None
        if self.release is None:
            raise GuestError(self.describe("it ended while it booted"))

    def connect(self, deadline: float) -> socket.socket:
        while time.monotonic() < deadline and self.process.poll() is None:
            port = socket.socket(socket.AF_UNIX)
            try:
                port.connect(str(self.machine.agent_socket))
                return port
            except OSError:
                port.close()
                time.sleep(0.02)
        raise GuestError(self.describe("QEMU does not start"))

    def listen(self) -> None:
        try:
            with self.port.makefile("rb") as lines:
                for line in lines:
                    message = json.loads(line)
                    if "ready" in message:
                        self.ready.put(message["ready"])
                    elif message.get("id") in self.commands:
                        self.commands[message["id"]].take(message)
        except OSError:
            pass  # QEMU was killed
        self.ready.put(None)
        for command in list(self.commands.values()):
            if command.code is None:
                command.take({"exit": -signal.SIGKILL})

    def send(self, **message: object) -> None:
        with self.lock:
            self.port.sendall(json.dumps(message).encode() + b"\n")

    def start(
        self,
        words: list[str],
        env: dict[str, str] | None = None,
        cwd: Path = SOURCE,
        stdin: bytes = b"",
        hear: Hear | None = None,
    ) -> Command:
        """Starts a command and does not wait for it. `hear` gets its output as it comes."""
        command = Command(self, len(self.commands) + 1, words, hear)
        self.commands[command.number] = command
        text = base64.b64encode(stdin).decode()
        self.send(id=command.number, run=words, env=env or {}, cwd=str(cwd), stdin=text)
        return command

    def run(self, words: list[str], timeout: float = 30.0, **options: object) -> Result:
        """Runs a command to its end."""
        return self.start(words, **options).wait(timeout)

    def kill(self) -> None:
        """Ends QEMU at once, as a crash of the machine would."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def finish(self) -> None:
        """Powers the guest off, or kills it if it will not go, and removes its files."""
        try:
            if self.port is not None and self.process.poll() is None:
                self.send(power="off")
                self.process.wait(GRACE_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            pass  # it is beyond being asked
        finally:
            self.kill()
            if self.port is not None:
                self.port.close()
            shutil.rmtree(self.work, ignore_errors=True)

    def describe(self, what: str) -> str:
        """`what`, with the ends of the guest's console and of QEMU's own words."""
        text = f"guest {self.machine.name}: {what}"
        for name in ("console.log", "qemu.log"):
            path = self.work / name
            if path.exists() and (last := path.read_text(errors="replace").strip()):
                text += f"\n{name}: " + "\n".join(last.splitlines()[-10:])
        return text
