# SPDX-License-Identifier: MIT
"""Runs in a guest: shows dma-bufs of YUV on Weston's GL renderer, and measures what it shows.

dmabufs.py REGISTRY   stdin has one JSON object a line: {"name", "source", "format", "width",
"height"}. For each, `open` plays the source into a stream, Weston in `cluster` shows it, and one
JSON object says how: the sink's and the view's figures, and how the picture on the screen differs
from the reference conversion of the same frame.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy
from cockpit import Cockpit
from pipeline import LOSSLESS, Pipeline
from program import BUILD, Program
from weston import Weston, screenshot

FRAMES = 10
SECONDS = 150  # for a few frames under TCG
WIDTH, HEIGHT = 640, 360  # of the output

# ITU-R BT.601 of narrow range: what GL renderers make of YUV where nothing says otherwise.
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


class Screen:
    def __init__(self, registry: Path) -> None:
        self.cockpit = Cockpit()
        shutil.copy(registry, self.cockpit.folder / "registry.bin")
        self.cockpit.start_all()
        self.folder = Path(tempfile.mkdtemp(dir="/tmp"))
        self.weston = Weston(self.folder, self.cockpit.env("cluster"), "gl")
        self.weston.command += [f"--width={WIDTH}", f"--height={HEIGHT}"]
        self.weston.start()
        self.log_seen = 0

    def view(self, case: dict, stats: Path) -> Program:
        width, height = case["width"], case["height"]
        place = f"{width}x{height}+{(WIDTH - width) // 2}+{(HEIGHT - height) // 2}"
        words = [BUILD / "clients/gid-view", "-f", "--background=000000", "-d", "open"]
        words += ["-s", case["name"], f"--place={place}", "--stats", stats]
        environment = self.weston.environment | {"WAYLAND_DISPLAY": self.weston.socket.name}
        return Program(words, environment, self.folder)

    def show(self, case: dict) -> dict:
        """Plays the case until enough frames came, and looks at the last one."""
        stream = case["name"]
        raw, stats = self.folder / f"{stream}.raw", self.folder / f"{stream}.stats"
        keep = f"gidsrc domain=open stream={stream} ! identity name=watch ! multifilesink"
        kept = Pipeline(self.cockpit, "cluster", f"{keep} location={raw} sync=false")
        view = self.view(case, stats)
        sink = f"identity name=watch ! gidsink name=sink stream={stream} {LOSSLESS}"
        sink += " lease=600000 copy-policy=error dmabuf=true"
        sent = Pipeline(self.cockpit, "open", f"{case['source']} ! {sink}")
        try:
            kept.wait_frames(FRAMES, SECONDS)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{sent.account()}") from None
        sent.tell("state paused")
        found = self.wait_shown(raw, case)
        view.stop()
        answer = {
            "name": case["name"],
            "sums": set(kept.sums) <= set(sent.sums),
            "sink": sent.stats("sink"),
            "view": json.loads(stats.read_text()),
            "difference": found,
            "shown": self.shown(),
        }
        for pipeline in (sent, kept):
            pipeline.tell("quit")
            pipeline.wait(SECONDS)
        return answer

    def shown(self) -> list[str]:
        """How the module has shown the buffers since it was last asked."""
        log = self.weston.read_log().splitlines()
        new, self.log_seen = log[self.log_seen :], len(log)
        return [line.rsplit(": ", 1)[1] for line in new if line.startswith("gid: buffer")]

    def wait_shown(self, raw: Path, case: dict) -> dict:
        """The least difference that was seen: the last frames may still be on their way."""
        end, best = time.monotonic() + SECONDS, None
        while time.monotonic() < end:
            shot = screenshot(self.weston)
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

    def close(self) -> None:
        assert self.weston.stop() == 0, self.weston.read_log()
        self.cockpit.close()


def main() -> None:
    screen = Screen(Path(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(screen.show(json.loads(line))), flush=True)
    screen.close()


main()
