# SPDX-License-Identifier: MIT
"""The streams of the domain open: the film twice, a live source, and what the panel shows."""

from pathlib import Path

from demo.backdrop import Tile
from demo.panel import Panel
from lab.domains.place import Place
from lab.film import film

MOVIE_CAPS = "video/x-raw,format=BGRx"
# For how long a frame may be looked at before it is taken back by force: on a slow machine it takes
# seconds to check one.
_LEASE_MS = 30000


def camera(tile: Tile, rate: int) -> str:
    """The part of a pipeline that is the live source."""
    size = f"width={tile.width},height={tile.height}"
    caps = f"video/x-raw,format=BGRx,{size},framerate={rate}/1"
    return f"videotestsrc is-live=true pattern=smpte ! {caps}"


class Producers:
    """Of one life of the domain. `still`: pictures that are streams, too, as files."""

    def __init__(self, place: Place, clip: Path, camera: str, still: dict[str, Path]) -> None:
        self._place = place
        decoded = film.decode(place.put(clip))
        self._pipelines = {
            "movie": f"{decoded} ! {MOVIE_CAPS}",
            "movie-i420": decoded,
            "camera": camera,
            **{name: Panel.pipeline(name, place.put(file)) for name, file in still.items()},
        }
        self._stats = place.folder / "play.json"

    def start(self) -> None:
        command = ["python3", str(film.PLAY), "--loop", f"--stats={self._stats}"]
        for stream, pipeline in self._pipelines.items():
            command.append(f"{pipeline} ! gidsink name=sink stream={stream} lease={_LEASE_MS}")
        self._place.start("play", command)

    def stop(self) -> None:
        self._place.stop("play")

    def counts(self) -> dict[str, dict]:
        """The statistics of each stream's gidsink, as far as there are any."""
        counts = self._place.read_json(self._stats)
        return {stream: counts.get(stream, {}) for stream in self._pipelines}


class Check:
    """The receiver, in the domain cluster, that compares every frame of movie-i420."""

    def __init__(self, place: Place, clip: Path, seconds: float) -> None:
        self._place = place
        self._stats = place.folder / "check.json"
        self._command = ["python3", "-P", "-m", "demo.check", f"--clip={place.put(clip)}"]
        self._command += [f"--seconds={seconds}", f"--stats={self._stats}"]

    def start(self) -> None:
        """Returns when it knows the film's frames."""
        self._place.start("check", self._command)
        self._place.wait_until("learning the film's frames", self.counts)

    def stop(self) -> None:
        self._place.stop("check")

    def counts(self) -> dict:
        return self._place.read_json(self._stats)
