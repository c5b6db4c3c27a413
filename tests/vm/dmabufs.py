# SPDX-License-Identifier: MIT
"""Runs in a guest: shows frames on several screens, and measures what they show.

dmabufs.py REGISTRY   stdin has one JSON object a line: {"name", "source", "options", "environment",
"format", "width", "height", "tolerance", "screens", "refused"}, and perhaps "reuse", one of the
screens. For each, `open` plays the source into a stream, the screens in `cluster` show it, and one
JSON object says how: the sink's figures, and for each of the screens the view's, and how the
picture on it differs from the reference conversion of the same frame; `again`: the same of memory
that is used again; `refused`: what the view says on each screen that cannot show the format. The
last lines say what the screens show of a GL client without gids, and which formats the library for
wlroots offers.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy
from gid_vm.folder import memory_folder
from gl_client import drawn_picture
from lib.cockpit import Cockpit
from lib.pipeline import LOSSLESS, Pipeline
from lib.program import BUILD, Program, wait_for
from lib.wlroots_screen import WlrootsScreen
from reference import compare, reference
from screens import WestonScreen, place, start_screen

FRAMES = 10
SECONDS = 300  # for a few frames under TCG
SCREENS = ("weston-gl", "weston-pixman", "gles2", "pixman")
TOLERANCE = 1.0  # of 255: GL rounds
MAP = (320, 180)  # the pixels of a GL client's picture


class Cluster:
    """The domain that shows what `open` plays, with its screens."""

    def __init__(self, registry: Path) -> None:
        self.cockpit = Cockpit()
        shutil.copy(registry, self.cockpit.folder / "registry.bin")
        self.cockpit.start_all()
        self.folder = Path(tempfile.mkdtemp(dir=memory_folder()))
        self.screens: dict[str, WestonScreen | WlrootsScreen] = {}

    def start_screens(self) -> None:
        for name in SCREENS:
            self.screens[name] = start_screen(self.cockpit, self.folder, name)
        for screen in self.screens.values():
            screen.wait_ready()

    def view(self, screen: str, case: dict) -> Program:
        left, top = place(case["width"], case["height"])
        words = [BUILD / "clients/gid-view", "-f", "--background=000000", "-d", "open"]
        words += ["-s", case["name"], f"--place={case['width']}x{case['height']}+{left}+{top}"]
        words += ["--stats", self.stats(screen, case)]
        return Program(words, self.screens[screen].environment, self.folder)

    def stats(self, screen: str, case: dict) -> Path:
        return self.folder / f"{case['name']}-{screen}.stats"

    def show(self, case: dict) -> dict:
        """Plays the case until enough frames came, and looks at the last one."""
        stream = case["name"]
        raw = self.folder / f"{stream}.raw"
        keep = f"gidsrc domain=open stream={stream} ! identity name=watch ! multifilesink"
        kept = Pipeline(self.cockpit, "cluster", f"{keep} location={raw} sync=false")
        views = [self.view(screen, case) for screen in case["screens"]]
        refused = {screen: self.view(screen, case) for screen in case["refused"]}
        sink = f"identity name=watch ! gidsink name=sink stream={stream} {LOSSLESS}"
        sink += f" lease=600000 copy-policy=error {case['options']}"
        text = f"{case['source']} ! {sink}"
        sent = Pipeline(self.cockpit, "open", text, **case["environment"])
        try:
            kept.wait_frames(FRAMES, SECONDS)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{sent.account()}") from None
        for screen in case["screens"]:
            self.wait_view(screen, case)
        for view in refused.values():
            assert view.wait(SECONDS) == 1, view.stderr
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
            "refused": {screen: view.stderr for screen, view in refused.items()},
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
        left, top = place(case["width"], case["height"])
        while time.monotonic() < end:
            shot = self.screens[screen].screenshot()
            seen = shot[top : top + case["height"], left : left + case["width"]]
            try:
                found = compare(seen, reference(raw.read_bytes(), case))
            except ValueError:
                continue  # the file is just being written
            if best is None or found["mean"] < best["mean"]:
                best = found
            if best["largest"] <= case["tolerance"]:
                break
            time.sleep(0.2)
        return best

    def maps(self) -> dict:
        """A GL client that knows no gids: by dma-bufs, and by what EGL gives it on a processor."""
        expected: list[numpy.ndarray] = []
        return {
            "name": "map",
            "dmabuf": {name: self.show_map(name, expected, "--udmabuf") for name in self.screens},
            "memory": {name: self.show_map(name, expected) for name in self.screens},
        }

    def show_map(self, screen: str, expected: list[numpy.ndarray], *options: str) -> dict:
        """`expected`: its picture, which is what is in its dma-bufs where it has some."""
        width, height = MAP
        words = [BUILD / "clients/gid-map", "--still=700", f"--size={width}x{height}", *options]
        client = Program(words, self.screens[screen].environment, self.folder)
        end, found = time.monotonic() + SECONDS, {"largest": 255.0}
        while client.is_running() and found["largest"] > TOLERANCE and time.monotonic() < end:
            seen = self.screens[screen].find(width, height)
            if not seen.any():
                continue
            drawn = drawn_picture(client, width, height) if options else None
            expected[:] = expected if drawn is None else [drawn]
            if expected and seen.shape == expected[0].shape:
                found = compare(seen, expected[0])
        return {"code": client.stop(), "said": client.stderr, "difference": found}

    def offers(self) -> dict:
        formats = {name: self.screens[name].formats() for name in ("gles2", "pixman")}
        return {"name": "offers", "formats": formats}

    def close_screens(self) -> None:
        while self.screens:
            self.screens.popitem()[1].close()

    def close(self) -> None:
        self.close_screens()
        self.cockpit.close()


def main() -> None:
    cluster = Cluster(Path(sys.argv[1]))
    cluster.start_screens()
    for line in sys.stdin:
        print(json.dumps(cluster.show(json.loads(line))), flush=True)
    print(json.dumps(cluster.maps()), flush=True)
    print(json.dumps(cluster.offers()), flush=True)
    cluster.close()


main()
