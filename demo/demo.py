# SPDX-License-Identifier: MIT
"""./run demo: two domains on one machine, a film and a camera between them."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import backdrop
import clip as clips
import cockpit
import film
import judge
import report
from children import Children, DemoError
from display import Display
from progress import Progress
from report import duration
from streams import Check, Producers, read_json

_ENOUGH = 120  # frames of the film that come by at least, however short the demo


class Demo:
    """Everything that runs, and where it stands."""

    def __init__(self, options: argparse.Namespace, folder: Path, progress: Progress) -> None:
        self._seconds = options.seconds
        self._progress = progress
        self._children = Children(folder)
        self.clip = clips.find(options.clip, progress.say)
        self.tiles = backdrop.tiles(self.clip.name)
        self.picture = options.out / "cluster.png"
        self.display = Display(self._children, folder, self.tiles)
        self.producers = Producers(self._children, folder, self.clip)
        self.check = Check(self._children, folder, self.clip, self._seconds + 30)
        self.played = 0.0  # seconds

    def run(self) -> None:
        try:
            self._start()
            self._play()
            self._stop()
        finally:
            self._children.stop_all()

    def _start(self) -> None:
        cockpit.start(self._children, self._children.folder)
        self._progress.done("two domains: open and cluster, each with its gidd")
        self.display.start()
        self._progress.done("cluster: Weston with gid-buffer.so")
        self._progress.update("cluster: learning the film's frames")
        self.check.start()
        self._progress.done("cluster: a receiver that knows every frame of the film")
        self.display.show()
        self.producers.start()
        self._children.wait_until("the first frame of each stream", self._all_flow, timeout=30)
        self._progress.done("open: film and camera are on their way")

    def _all_flow(self) -> bool:
        return all(self.view(tile.stream).get("frames") for tile in self.tiles) and bool(
            self.check.counts().get("frames")
        )

    def view(self, stream: str) -> dict:
        """The statistics of a stream's gid-view."""
        return read_json(self.display.stats(stream))

    def _play(self) -> None:
        start = time.monotonic()
        shot = False
        while not self._is_over(time.monotonic() - start):
            time.sleep(0.1)
            self._children.check()
            self._progress.update(self._state(time.monotonic() - start))
            if not shot and time.monotonic() - start > self._seconds / 2:
                self.display.screenshot(self.picture)
                shot = True
        self.played = time.monotonic() - start
        self._progress.done(self._state(self.played))

    def _is_over(self, elapsed: float) -> bool:
        film_frames = min(self.view("movie")["frames"], self.check.counts()["frames"])
        return elapsed >= self._seconds and (
            film_frames >= _ENOUGH or elapsed >= self._seconds + 20
        )

    def _state(self, elapsed: float) -> str:
        parts = []
        for tile in self.tiles:
            view = self.view(tile.stream)
            latency = duration(view["latency_us"]["p50"])
            parts.append(f"{tile.stream} {view['frames']} frames, {latency}")
        counts = self.check.counts()
        checked = f"movie-i420 {counts['frames']} frames, {counts['wrong']} wrong"
        return " · ".join([f"{elapsed:.0f} s", *parts, checked])

    def _stop(self) -> None:
        """Consumers first: what the producers count as dropped is not our going."""
        self.check.stop()
        self.display.close()
        self.producers.stop()


def main() -> int:
    options = _parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    progress = Progress()
    film.Gst.init(None)
    # Short, for a socket's path has 108 bytes.
    folder = Path(tempfile.mkdtemp(prefix="gidway-demo-", dir="/tmp"))
    os.environ["GID_RUNTIME_DIR"] = str(folder)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        demo = Demo(options, folder, progress)
        demo.run()
        result = judge.build(demo)
        report.write(options.out, result, demo.picture)
    except (DemoError, film.FilmError, OSError) as error:
        progress.fail(f"{error}\nThe logs are in {folder}")
        return 1
    except KeyboardInterrupt:
        progress.fail("interrupted")
        return 130
    return _conclude(result, options.out, folder, progress)


def _conclude(result: dict, out: Path, folder: Path, progress: Progress) -> int:
    for check in result["checks"]:
        (progress.done if check["passed"] else progress.fail)(f"{check['what']}: {check['found']}")
    for name in ("cluster.png", "report.html", "report.json"):
        progress.say(f"  {out / name}")
    if not all(check["passed"] for check in result["checks"]):
        progress.say(f"The logs are in {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./run demo",
        description="Two domains on this machine: in `open` GStreamer decodes a film and has a "
        "camera, in `cluster` Weston shows both from the memory they were decoded into.",
    )
    parser.add_argument(
        "--seconds", type=_seconds, default=10, metavar="N", help="how long to play (default: 10)"
    )
    parser.add_argument(
        "--clip",
        metavar="FILE",
        help="any film that GStreamer can decode (default: Big Buck Bunny)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("out"),
        metavar="DIR",
        help="where cluster.png, report.json and report.html go (default: out)",
    )
    return parser.parse_args()


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 1 <= seconds <= 86400:
        raise ValueError(text)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
