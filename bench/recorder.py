#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What gid-recorder takes of a processor while nothing happens, and when a role fails.

The domain `open` draws a light and a camera of 1920x1080, each 60 times a second. gid-cluster
shows the light in the domain `cluster`; gid-recorder watches it there, with the options that it has
without any. It keeps the light alone; then the light and the camera; then both and the picture of
the whole display. Last the light is killed: the time until the page is there, and what making it
takes in all, which is done with the lowest priority.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench import common
from lab.domains.cockpit import Cockpit
from lab.domains.configuration import section
from lab.domains.display import Display
from lab.domains.program import LabError, wait_for

CYCLE_MS = 17
CAMERA = (1920, 1080)
WATCHED = {
    "light": ("open:safety/telltale",),
    "light, camera": ("open:safety/telltale", "open:camera/rear"),
    "light, camera, display": ("open:safety/telltale", "open:camera/rear", "screen"),
}
CONFIGURATION = section(
    "display", "width=1280 height=720 refresh=60 worst-frame=0 stream=screen"
) + section("role telltale", "domain=open width=320 height=80 deadline-ms=500")
SETTLE = 2.0  # seconds: what is allocated, and first pictures
WINDOWS = 3  # parts of each measurement
PATIENCE = 120.0


def start_producers(cockpit: Cockpit) -> Display:
    cycle = f"--cycle={CYCLE_MS}"
    size = f"--size={CAMERA[0]}x{CAMERA[1]}"
    cockpit["open"].start("light", ["gid-telltale", cycle])
    cockpit["open"].start("camera", ["gid-telltale", "--stream=camera/rear", size, cycle])
    display = Display(cockpit["cluster"])
    display.launch(CONFIGURATION, "--headless")
    display.wait_live()
    return display


def watch(cockpit: Cockpit, display: Display, streams: tuple[str, ...], seconds: float) -> dict:
    """Percents of a core, of each part, and how much is kept."""
    place = cockpit["cluster"]
    folder = place.folder / "incidents"
    words = ["gid-recorder", f"--folder={folder}", f"--status={display.status_path}", "--after=1"]
    with place.running("recorder", [*words, *streams]) as recorder:
        place.wait_until("gid-recorder", lambda: "gid-recorder: ready" in recorder.said())
        time.sleep(SETTLE)
        parts = []
        for _ in range(WINDOWS):
            before, begin = common.cpu_seconds(recorder.pid), time.monotonic()
            time.sleep(seconds / WINDOWS)
            used = common.cpu_seconds(recorder.pid) - before
            parts.append(100 * used / (time.monotonic() - begin))
        found = {"core_percent": statistics.median(parts), "core_percent_max": max(parts)}
        if streams == list(WATCHED.values())[-1]:
            found |= incident(cockpit, recorder.pid, folder)
    return found


def incident(cockpit: Cockpit, pid: int, folder: Path) -> dict:
    """The light dies."""
    before = common.cpu_seconds(pid)
    begin = time.monotonic()
    cockpit["open"]["light"].kill()
    cockpit["open"].forget("light")
    (page,) = wait_for("the page", lambda: list(folder.glob("incident-*.html")), PATIENCE)
    seconds = time.monotonic() - begin
    # Whoever made the page has ended, and counts as soon as it was waited for.
    wait_for("its end", lambda: common.cpu_seconds(pid) > before + 0.01, PATIENCE)
    return {
        "page_s": seconds,
        "page_cpu_s": common.cpu_seconds(pid) - before,
        "page_kb": page.stat().st_size / 1e3,
    }


def main() -> int:
    parser = common.parser("recorder", __doc__)
    parser.add_argument(
        "--seconds", type=common.seconds, default=30, help="of each measurement (default: 30)"
    )
    options = parser.parse_args()
    rows = []
    progress = common.Progress(len(WATCHED))
    with tempfile.TemporaryDirectory(prefix="gid-", ignore_cleanup_errors=True) as name:
        with common.cockpit(Path(name), "safety/* camera/*") as cockpit:
            display = start_producers(cockpit)
            for what, streams in WATCHED.items():
                progress.step(what)
                found = watch(cockpit, display, streams, options.seconds)
                rows.append({"bench": "recorder", "who": "gid", "what": what} | found)
    progress.end()
    for row in rows:
        print(
            f"{row['what']:24} core: {row['core_percent']:5.2f} % "
            f"(at most {row['core_percent_max']:.2f} %)"
        )
    last = rows[-1]
    if "page_s" not in last:
        raise LabError("no page was made")
    print(
        f"the page of an incident: after {last['page_s']:.1f} s, of which 1 s is --after; "
        f"{last['page_cpu_s']:.2f} s of a processor, {last['page_kb']:.0f} kB"
    )
    common.write(options.json, rows, {})
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
