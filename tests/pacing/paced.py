# SPDX-License-Identifier: MIT
"""A Weston with pacing, clients that keep it busy, and its timeline."""

import json
import socket
import sys
from pathlib import Path

from program import BUILD, TOP, Program, wait_for

sys.path.append(str(TOP / "tests/compositor"))
from weston import Weston  # noqa: E402


class PacedWeston(Weston):
    """`lines` go into the section [gid]. Its log has the timeline, too."""

    def __init__(
        self, folder: Path, environment: dict[str, str], *lines: str, start: bool = True
    ) -> None:
        super().__init__(folder, environment)
        self.configure("\n".join(["[gid]", *lines, ""]))
        self.command[self.command.index("--logger-scopes=log,gid")] = "--logger-scopes=log,timeline"
        self.command[-1] += f",{BUILD / 'tests/pacing/plug.so'}"
        self.clients: list[Program] = []
        self._read = 0
        self._counts = {"core_repaint_posted": 0, "core_repaint_exit_loop": 0}
        if start:
            self.start()

    def launch(self, under: list[str] | None = None) -> Program:
        """With plug.so, which obeys order()."""
        self.orders, theirs = socket.socketpair()
        self.orders.settimeout(60)
        with theirs:
            environment = self.environment | {"PLUG_FD": str(theirs.fileno())}
            command = (under or []) + self.command
            self.program = Program(command, environment, self.folder, pass_fds=[theirs.fileno()])
        return self.program

    def order(self, *words: str | int) -> None:
        """Tells plug.so what to do, and waits until it is done."""
        self.orders.send(" ".join(map(str, words)).encode() + b"\n")
        assert self.orders.recv(100) == b"done\n", words

    def run_client(self, *command: str) -> Program:
        environment = self.environment | {"WAYLAND_DISPLAY": self.socket.name}
        self.clients.append(Program(command, environment, self.folder))
        return self.clients[-1]

    def play(self) -> Program:
        """A client that draws upon each frame callback."""
        return self.run_client("weston-simple-shm")

    def waits(self, frames: int) -> list[float]:
        """A client plays; ms from a frame to the next repaint, sorted, of its last frames."""
        client = self.play()
        wait_for(lambda: len(self._waits()) >= frames + 50, "frames to be shown", timeout=60)
        client.stop()
        return sorted(self._waits()[-frames:])

    def _waits(self) -> list[float]:
        found, finished = [], None
        for name, time in self.points():
            if name == "core_repaint_begin" and finished is not None:
                found.append((time - finished) / 1e6)
                finished = None
            elif name == "core_repaint_finished":
                finished = time
        return found

    def points(self) -> list[tuple[str, int]]:
        """The timeline so far: names and times in ns."""
        found = []
        for line in self.read_log().splitlines():
            if line.startswith('{ "T":'):
                try:
                    point = json.loads(line)
                except ValueError:
                    continue  # still being written
                seconds, nanoseconds = point["T"]
                found.append((point["N"], seconds * 10**9 + nanoseconds))
        return found

    def count(self, point: str) -> int:
        """How often there was such a point so far, for all outputs: one of `_counts`."""
        with self.log.open("rb") as log:
            log.seek(self._read)
            whole, _, _ = log.read().rpartition(b"\n")
        self._read += len(whole)
        for name in self._counts:
            self._counts[name] += whole.count(name.encode())
        return self._counts[point]

    def wait_for_count(self, point: str, count: int) -> None:
        def happened() -> bool:
            assert self.is_running(), self.program.stderr
            return self.count(point) >= count

        wait_for(happened, f"{count} {point}", timeout=60)

    def wait_frames(self, count: int) -> None:
        """Waits for so many more repaints."""
        self.wait_for_count("core_repaint_posted", self.count("core_repaint_posted") + count)

    def sleep_and_wake(self) -> None:
        """It is awake again when it repaints no more; a client must be playing."""
        ended = self.count("core_repaint_exit_loop")
        self.order("sleep")
        self.wait_for_count("core_repaint_exit_loop", ended + 1)
        self.order("wake")

    def finish(self) -> None:
        for client in self.clients:
            client.stop()
        if self.is_running():
            assert self.stop() == 0, self.read_log()
