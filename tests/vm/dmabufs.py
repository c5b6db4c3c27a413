# SPDX-License-Identifier: MIT
"""Runs in a guest: shows dma-bufs on several screens, and measures what they show.

dmabufs.py REGISTRY   stdin has one JSON object a line: {"name", "source", "format", "width",
"height", "screens"}, and perhaps "reuse", one of these. For each, `open` plays the source into a
stream, the screens in `cluster` show it, and one JSON object says how: the sink's figures, and for
each of the screens the view's, and how the picture on it differs from the reference conversion of
the same frame; `again`: the same of memory that is used again. The last line says how a safety
picture in dma-bufs fared, and which formats gid-cluster offers.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy
from cockpit import Cockpit
from gid_vm.folder import memory_folder
from pipeline import LOSSLESS, Pipeline
from program import BUILD, Program, wait_for
from screens import HEIGHT, LAMP, WIDTH, ClusterScreen, WestonScreen

FRAMES = 10
SECONDS = 150  # for a few frames under TCG

# Of narrow range: what YUV means where nothing says so. gid-view tells it to a Weston that asks.
BT601 = numpy.array(
    [[1.164384, 0, 1.596027], [1.164384, -0.391762, -0.812968], [1.164384, 2.017232, 0]]
)


def plane(data: bytes, offset: int, stride: int, rows: int) -> numpy.ndarray:
    return numpy.frombuffer(data, numpy.uint8, stride * rows, offset).reshape(rows, stride)


def components(data: bytes, case: dict) -> list[numpy.ndarray]:
    """Y, U and V of a frame in GStreamer's own layout, chroma repeated for all its pixels."""
    width, height = case["width"], case["height"]
    stride = (width + 3) // 4 * 4
    y = plane(data, 0, stride, height)[:, :width]
    if case["format"] == "NV12":
        chroma = plane(data, stride * height, stride, height // 2)
        u, v = (chroma[:, i:width:2] for i in (0, 1))
    else:
        half = (width // 2 + 3) // 4 * 4
        size = half * (height // 2)
        u, v = (
            plane(data, stride * height + i * size, half, height // 2)[:, : width // 2]
            for i in (0, 1)
        )
    return [y, *(c.repeat(2, axis=0).repeat(2, axis=1) for c in (u, v))]


def reference(data: bytes, case: dict) -> numpy.ndarray:
    """The frame as blue, green, red."""
    if case["format"] == "BGRx":
        pixels = plane(data, 0, case["width"] * 4, case["height"])
        return pixels.reshape(case["height"], case["width"], 4)[..., :3].astype(float)
    yuv = numpy.stack(components(data, case), axis=-1)
    return numpy.clip((yuv - numpy.array([16.0, 128, 128])) @ BT601.T, 0, 255)[..., ::-1]


def compare(shot: numpy.ndarray, expected: numpy.ndarray) -> dict:
    """The picture is in the middle of the output, as large as it is."""
    height, width = expected.shape[:2]
    top, left = (HEIGHT - height) // 2, (WIDTH - width) // 2
    seen = shot[top : top + height, left : left + width]
    error = numpy.abs(seen - expected)
    return {
        "largest": float(error.max()),
        "mean": float(error.mean()),
        "colours": len(numpy.unique(seen.reshape(-1, 3), axis=0)),
    }


class Cluster:
    """The domain that shows what `open` plays, with its screens."""

    def __init__(self, registry: Path) -> None:
        self.cockpit = Cockpit()
        shutil.copy(registry, self.cockpit.folder / "registry.bin")
        self.cockpit.start_all()
        self.folder = Path(tempfile.mkdtemp(dir=memory_folder()))
        self.screens: dict[str, WestonScreen | ClusterScreen] = {}

    def need(self, names: list[str]) -> None:
        """Has these screens and no others: two cores do not draw for three at once."""
        for name in self.screens.keys() - set(names):
            self.screens.pop(name).close()
        new = [name for name in names if name not in self.screens]
        for name in new:
            kind = WestonScreen if name == "weston" else ClusterScreen
            self.screens[name] = kind(self.cockpit, self.folder, name)
        for name in new:
            self.screens[name].wait_ready()

    def view(self, screen: str, case: dict) -> Program:
        width, height = case["width"], case["height"]
        place = f"{width}x{height}+{(WIDTH - width) // 2}+{(HEIGHT - height) // 2}"
        words = [BUILD / "clients/gid-view", "-f", "--background=000000", "-d", "open"]
        words += ["-s", case["name"], f"--place={place}", "--stats", self.stats(screen, case)]
        return Program(words, self.screens[screen].environment, self.folder)

    def stats(self, screen: str, case: dict) -> Path:
        return self.folder / f"{case['name']}-{screen}.stats"

    def show(self, case: dict) -> dict:
        """Plays the case until enough frames came, and looks at the last one."""
        self.need(case["screens"])
        stream = case["name"]
        raw = self.folder / f"{stream}.raw"
        keep = f"gidsrc domain=open stream={stream} ! identity name=watch ! multifilesink"
        kept = Pipeline(self.cockpit, "cluster", f"{keep} location={raw} sync=false")
        views = [self.view(screen, case) for screen in case["screens"]]
        sink = f"identity name=watch ! gidsink name=sink stream={stream} {LOSSLESS}"
        sink += " lease=600000 copy-policy=error dmabuf=true"
        sent = Pipeline(self.cockpit, "open", f"{case['source']} ! {sink}")
        try:
            kept.wait_frames(FRAMES, SECONDS)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{sent.account()}") from None
        for screen in case["screens"]:
            self.wait_view(screen, case)
        sent.tell("state paused")
        found = {screen: self.wait_shown(screen, raw, case) for screen in case["screens"]}
        ways = {screen: self.screens[screen].shown() for screen in case["screens"]}
        again = None
        if "reuse" in case:
            again = self.show_again(case, sent, kept, raw, ways[case["reuse"]])
        for view in views:
            view.stop()
        answer = {
            "name": case["name"],
            "sums": set(kept.sums) <= set(sent.sums),
            "sink": sent.stats("sink"),
            "screens": {
                screen: {
                    "view": json.loads(self.stats(screen, case).read_text()),
                    "difference": found[screen],
                    "shown": ways[screen],
                }
                for screen in case["screens"]
            },
            "again": again,
        }
        for pipeline in (sent, kept):
            pipeline.tell("quit")
            pipeline.wait(SECONDS)
        return answer

    def wait_view(self, screen: str, case: dict) -> None:
        """Until a frame was shown: what joins a stream that is paused gets none."""
        path = self.stats(screen, case)

        def shows() -> bool:
            return path.exists() and json.loads(path.read_text() or "{}").get("frames", 0) > 0

        wait_for(shows, f"{case['name']} to be on {screen}", SECONDS)

    def show_again(
        self, case: dict, sent: Pipeline, kept: Pipeline, raw: Path, ways: list[str]
    ) -> dict:
        """Has more frames shown until none of them needs a buffer that was not there before.

        The stream has only so many slots, so that this comes soon. The last picture is then in
        memory that the screen has looked at with another picture in it: says how it is shown.
        """
        screen = case["reuse"]
        while True:
            buffers = len(ways)
            sent.tell("state playing")
            kept.wait_frames(len(kept.frames) + 2, SECONDS)  # of which one is written
            sent.tell("state paused")
            found = self.wait_shown(screen, raw, case)
            ways += self.screens[screen].shown()
            if len(ways) == buffers:
                return found

    def wait_shown(self, screen: str, raw: Path, case: dict) -> dict:
        """The least difference that was seen: the last frames may still be on their way."""
        end, best = time.monotonic() + SECONDS, None
        while time.monotonic() < end:
            shot = self.screens[screen].screenshot()
            try:
                found = compare(shot, reference(raw.read_bytes(), case))
            except ValueError:
                continue  # the file is just being written
            if best is None or found["mean"] < best["mean"]:
                best = found
            if best["largest"] <= case["tolerance"]:
                break
            time.sleep(0.2)
        return best

    def safety(self) -> dict:
        """gid-cluster shows nothing as live that it did not find on its output, pixel by pixel."""
        self.need(["gles2", "pixman"])
        lamp = self.cockpit.run("open", [BUILD / "tests/vm/dmabuf-lamp", *map(str, LAMP)])

        def live(screen: ClusterScreen) -> dict | None:
            role = screen.role()
            return role if role["state"] == "live" and role["shown_frames"] >= FRAMES else None

        answer = {
            "name": "lamp",
            "roles": {
                renderer: wait_for(lambda screen=screen: live(screen), f"the lamp, {renderer}")
                for renderer, screen in self.screens.items()
            },
        }
        assert lamp.is_running(), lamp.stderr
        answer["formats"] = {name: screen.formats() for name, screen in self.screens.items()}
        return answer

    def close_screens(self) -> None:
        while self.screens:
            self.screens.popitem()[1].close()

    def close(self) -> None:
        self.close_screens()
        self.cockpit.close()


def main() -> None:
    cluster = Cluster(Path(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(cluster.show(json.loads(line))), flush=True)
    print(json.dumps(cluster.safety()), flush=True)
    cluster.close()


main()
