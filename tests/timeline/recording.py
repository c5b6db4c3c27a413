# SPDX-License-Identifier: MIT
"""Records timelines of the real thing: film → gidsink → gid-view → Weston, in two domains."""

import sys
from pathlib import Path

from lib.cockpit import Cockpit
from lib.pipeline import film, gst_env
from lib.program import BUILD, PATIENCE, TOP, Program, wait_for
from lib.weston import Weston

STREAM = "movie"


class Film:
    """Plays until stop(). Each program's points are in a file; Weston's are in its timeline.

    With another `scope` Weston logs that one, and its points go to a file, too.
    """

    def __init__(self, cockpit: Cockpit, folder: Path, scope: str = "timeline") -> None:
        self.folder = folder
        self.logs = {name: folder / f"{name}.log" for name in ("open", "cluster")}
        environment = cockpit.env("cluster")
        if scope != "timeline":
            self.logs["weston's points"] = folder / "weston-points.log"
            environment["GID_TIMELINE"] = str(self.logs["weston's points"])
        self.weston = Weston(folder, environment, scopes=scope)
        self.logs["weston"] = self.weston.log
        self.weston.start()
        self.player = Program(
            [sys.executable, TOP / "lab/film/play.py", "--loop", self._pipeline()],
            gst_env(cockpit.env("open"), folder / "registry.bin")
            | {"GID_TIMELINE": str(self.logs["open"])},
            folder,
        )
        view = [BUILD / "clients/gid-view", "--domain=open", f"--stream={STREAM}", "--maximized"]
        self.view = self.weston.client(view, GID_TIMELINE=str(self.logs["cluster"]))

    @staticmethod
    def _pipeline() -> str:
        path = film(640, 360, 132)
        decode = f'filesrc location="{path}" ! qtdemux ! h264parse ! avdec_h264'
        caps = "video/x-raw,format=BGRx"
        return f"{decode} ! videoconvert ! {caps} ! gidsink name=sink stream={STREAM}"

    def count(self, log: str, words: str) -> int:
        path = self.logs[log]
        return path.read_bytes().count(words.encode()) if path.exists() else 0

    def wait(self, log: str, words: str, count: int, timeout: float = PATIENCE) -> None:
        def enough() -> bool:
            for program in (self.weston.program, self.player, self.view):
                assert program.is_running(), f"{program.name} ended:\n{program.stderr}"
            return self.count(log, words) >= count

        wait_for(enough, f"{count} of {words} in {log}'s timeline", timeout, pause=0.1)

    def stop(self) -> None:
        """In good order, so that no line is cut off."""
        for program in (self.view, self.player, self.weston.program):
            assert program.stop(PATIENCE) == 0, f"{program.name}:\n{program.stderr}"
