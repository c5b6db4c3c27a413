# SPDX-License-Identifier: MIT
"""A Weston with pacing, clients that keep it busy, and its timeline."""

import json
import sys
from pathlib import Path

from program import TOP, Program, wait_for

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
        self.clients: list[Program] = []
        if start:
            self.start()

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

    def finish(self) -> None:
        for client in self.clients:
            client.stop()
        if self.is_running():
            assert self.stop() == 0, self.read_log()
