# SPDX-License-Identifier: MIT
"""The streams of the domain open: the film twice, and a live source."""

import json
import sys
from pathlib import Path

import film
from backdrop import Tile
from children import Child, Children

_HERE = Path(__file__).resolve().parent

CAMERA = "videotestsrc is-live=true pattern=smpte ! video/x-raw,format=BGRx,framerate=30/1"
MOVIE_CAPS = "video/x-raw,format=BGRx"


class Producers:
    def __init__(self, children: Children, folder: Path, clip: Path, camera: Tile) -> None:
        self._children = children
        self._folder = folder
        decoded = film.decode(clip)
        self._pipelines = {
            "movie": f"{decoded} ! {MOVIE_CAPS}",
            "movie-i420": decoded,
            "camera": f"{CAMERA},width={camera.width},height={camera.height}",
        }
        self._started: dict[str, Child] = {}
        self._before: list[dict[str, dict]] = []  # counts of those that were killed

    def start(self) -> None:
        for stream, pipeline in self._pipelines.items():
            self._stats(stream).unlink(missing_ok=True)
            command = [sys.executable, str(_HERE / "play.py"), f"--stats={self._stats(stream)}"]
            if stream != "camera":
                command.append("--loop")
            command.append(f"{pipeline} ! gidsink name=sink stream={stream}")
            self._started[stream] = self._children.start(
                f"play-{stream}", command, GID_DOMAIN="open"
            )

    def stop(self) -> None:
        for child in self._started.values():
            self._children.stop(child)

    def running(self) -> list[Child]:
        return list(self._started.values())

    def remember(self) -> None:
        """What they have counted so far: they are about to be killed."""
        self._before.append({stream: read_json(self._stats(stream)) for stream in self._pipelines})

    def counts(self, stream: str) -> list[dict]:
        """The statistics of the stream's gidsinks, one after the other."""
        lives = [*(before[stream] for before in self._before), read_json(self._stats(stream))]
        return [life for life in lives if life]

    def _stats(self, stream: str) -> Path:
        return self._folder / f"play-{stream}.json"


class Check:
    """The receiver, in the domain cluster, that compares every frame of movie-i420."""

    def __init__(self, children: Children, folder: Path, clip: Path, seconds: float) -> None:
        self._stats = folder / "check.json"
        self._children = children
        self._command = [sys.executable, str(_HERE / "check.py"), f"--clip={clip}"]
        self._command += [f"--seconds={seconds}", f"--stats={self._stats}"]
        self._child: Child | None = None

    def start(self) -> None:
        """Returns when it knows the film's frames."""
        self._child = self._children.start("check", self._command, GID_DOMAIN="cluster")
        self._children.wait_until("learning the film's frames", self._stats.exists, timeout=120)

    def stop(self) -> None:
        self._children.stop(self._child)

    def counts(self) -> dict:
        return read_json(self._stats)


def read_json(path: Path) -> dict:
    """Empty while there is no such file."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return {}
