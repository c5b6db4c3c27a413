# SPDX-License-Identifier: MIT
"""A Weston with pacing, clients that keep it busy, and its timeline."""

import json
from pathlib import Path

from lib.plugged import PluggedWeston
from lib.program import PATIENCE, Program, wait_for


class PacedWeston(PluggedWeston):
    """`lines` go into the section [gid]. Its log has the timeline, too."""

    def __init__(
        self, folder: Path, environment: dict[str, str], *lines: str, start: bool = True
    ) -> None:
        super().__init__(folder, environment, scopes="log,timeline")
        self.configure("\n".join(["[gid]", *lines, ""]))
        self.clients: list[Program] = []
        self._read = 0
        self._counts = {"core_repaint_posted": 0, "core_repaint_exit_loop": 0}
        if start:
            self.start()

    def plug(self, output: str) -> None:
        """Plugs an output in, and has it repaint all the time, whatever clients do."""
        self.order("plug", output)
        self.order("animate", output)

    def run_client(self, *command: str) -> Program:
        self.clients.append(self.client(command))
        return self.clients[-1]

    def play(self) -> Program:
        """A client that draws upon each frame callback."""
        return self.run_client("weston-simple-shm")

    def watch_timeline(self) -> Program:
        """Another subscriber."""
        return self.run_client("weston-debug", "-o", str(self.folder / "watched"), "timeline")

    def waits(self, frames: int, output: str = "headless") -> list[float]:
        """ms from a frame of an output that is always repainted to its next repaint, sorted.

        The last `frames` of them, once that many were shown and 50 before.
        """

        def enough() -> list[float]:
            found = self._waits(output)
            return found if len(found) >= frames + 50 else []

        return sorted(
            wait_for(enough, "frames to be shown", timeout=2 * PATIENCE, pause=0.2)[-frames:]
        )

    def _waits(self, output: str) -> list[float]:
        found, finished, number = [], None, 0
        for line in self.points():
            if line.get("type") == "weston_output" and line["name"] == output:
                number = line["id"]
            if line.get("wo") != number:
                continue
            time = line["T"][0] * 1000 + line["T"][1] / 1e6
            if line["N"] == "core_repaint_begin" and finished is not None:
                found.append(time - finished)
                finished = None
            elif line["N"] == "core_repaint_finished":
                finished = time
        return found

    def points(self) -> list[dict]:
        """The timeline so far."""
        found = []
        for line in self.read_log().splitlines():
            if line.startswith("{"):
                try:
                    found.append(json.loads(line))
                except ValueError:
                    continue  # still being written
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

        wait_for(happened, f"{count} {point}", timeout=2 * PATIENCE)

    def wait_frames(self, count: int) -> None:
        """Waits for so many more repaints."""
        self.wait_for_count("core_repaint_posted", self.count("core_repaint_posted") + count)

    def sleep_and_wake(self) -> None:
        """It is awake again when it repaints no more; some output must be animated."""
        ended = self.count("core_repaint_exit_loop")
        self.order("sleep")
        self.wait_for_count("core_repaint_exit_loop", ended + 1)
        self.order("wake")

    def finish(self) -> None:
        for client in self.clients:
            client.stop()
        if self.is_running():
            assert self.stop() == 0, self.read_log()
