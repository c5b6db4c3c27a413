#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How large the smallest gidway is: libgid, gidd and the elements, on disk and in memory.

It is built for size and without any other part, in the folder `small` of the build folder, and
installed stripped. Each file is optimized as a whole, without tables for backtraces, with packed
relocations and no gaps between its segments. That installation is what runs: two domains, then a
live picture of 640x480 from one to the other. Of gidd's memory `resident` counts all pages that it
has mapped. Those of `libraries` (libc, libsystemd and what that takes) are mostly mapped by others,
too: the kernel maps what lies around a page that is used, as far as it is in memory anyway. `own`
is what only this gidd has: the pages that it has written to.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import common
from lab.domains.cockpit import Cockpit
from lab.domains.configuration import configuration
from lab.domains.here import Here
from lab.domains.program import LabError

OPTIONS = ("--buildtype=minsize", "--prefix=/usr", "--libdir=lib", "-Dauto_features=disabled")
OPTIONS += ("-Ddaemon=enabled", "-Dgstreamer=enabled", "-Dtests=false", "-Db_lto=true")
OPTIONS += ("-Dc_args=-fno-asynchronous-unwind-tables",)
OPTIONS += ("-Dc_link_args=-Wl,-z,noseparate-code,-z,pack-relative-relocs",)
FILES = {
    "libgid": "usr/lib/libgid.so.0.*",
    "gidd": "usr/bin/gidd",
    "the elements": "usr/lib/gstreamer-1.0/libgstgid.so",
}
GOAL_DISK, GOAL_RESIDENT = 500 * 1024, 2 * 1024 * 1024
FRAMES = 60
PICTURES = ["videotestsrc", "is-live=true", "!", "video/x-raw,format=BGRx,width=640,height=480"]


def made(*command: str | Path) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise LabError(f"{command[0]}: {result.stdout[-2000:]}{result.stderr[-2000:]}")


def install(folder: Path, target: Path) -> None:
    """Builds in the one, and installs below the other as if that were /."""
    again = ["--reconfigure"] if (folder / "build.ninja").exists() else []
    made("meson", "setup", *again, folder, common.TOP, *OPTIONS)
    made("ninja", "-C", folder)
    made("meson", "install", "-C", folder, "--no-rebuild", "--strip", "--destdir", target)


def sizes(target: Path) -> dict[str, int]:
    """Of the files, in bytes."""
    found = {}
    for name, pattern in FILES.items():
        (file,) = target.glob(pattern)
        found[name] = file.stat().st_size
    return found


def memory(pid: int) -> dict[str, int]:
    """Of a process, in bytes: all of its memory that is there, what of it is of libraries' files,
    and what it shares with nobody."""
    kib = dict.fromkeys(("resident", "libraries", "own"), 0)
    of_library = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if (mapping := re.match(r"[0-9a-f]+-[0-9a-f]+ .{4} \w+ \S+ \d+ *(.*)", line)) is not None:
            of_library = ".so" in Path(mapping[1]).name
        elif (value := re.match(r"(Rss|Private_Dirty): +(\d+) kB", line)) is not None:
            name, size = value[1], int(value[2])
            kib["resident" if name == "Rss" else "own"] += size
            kib["libraries"] += size if name == "Rss" and of_library else 0
    return {name: size * 1024 for name, size in kib.items()}


def run(target: Path, folder: Path) -> dict[str, dict[str, int]]:
    """What gidd of the producer's domain takes, alone and with a stream."""
    os.environ.pop("MALLOC_PERTURB_", None)  # of the tests: calloc() writes to all pages then
    os.environ["LD_LIBRARY_PATH"] = str(target / "usr/lib")
    os.environ["GST_PLUGIN_PATH"] = str(target / "usr/lib/gstreamer-1.0")
    os.environ["GST_REGISTRY"] = str(folder / "registry.bin")
    Here.gidd = target / "usr/bin/gidd"
    text = configuration({"open": "", "cluster": ""}, {"open cluster": "movie"}, runtime=folder)
    cockpit = Cockpit(folder, text)
    found = {}
    try:
        for domain in ("open", "cluster"):
            cockpit.start(domain)
        gidd = cockpit["open"]["gidd"].pid
        found["started"] = memory(gidd)
        launch = ["gst-launch-1.0", "-q"]
        film = [*launch, *PICTURES, "!", "gidsink", "stream=movie"]
        view = [*launch, "gidsrc", "domain=open", "stream=movie", f"num-buffers={FRAMES}"]
        with cockpit["open"].running("film", film):
            cockpit["cluster"].run([*view, "!", "fakesink"])
            found["with a stream"] = memory(gidd)
    finally:
        cockpit.close()
    return found


def verdict(size: int, goal: int) -> str:
    return "" if size <= goal else f", {(size - goal) / 1024:.0f} KiB more than its goal"


def main() -> int:
    options = common.parser("small", __doc__).parse_args()
    progress = common.Progress(2)
    with tempfile.TemporaryDirectory() as folder:
        target, runtime = Path(folder) / "installed", Path(folder) / "run"
        runtime.mkdir()
        progress.step("building")
        install(Path(os.environ["GIDWAY_BUILD"]) / "small", target)
        disk = sizes(target)
        progress.step("running")
        taken = run(target, runtime)
    progress.end()
    for name, size in disk.items():
        print(f"{name:14} {size / 1024:7.0f} KiB on disk")
    total = sum(disk.values())
    print(f"{'all of it':14} {total / 1024:7.0f} KiB on disk{verdict(total, GOAL_DISK)}")
    for state, parts in taken.items():
        resident, libraries, own = (size // 1024 for size in parts.values())
        told = f"{resident} KiB resident, {libraries} KiB of it libraries, {own} KiB its own"
        print(f"gidd {state}: {told}{verdict(parts['resident'], GOAL_RESIDENT)}")
    rows = [{"bench": "small", "what": name, "bytes": size} for name, size in disk.items()]
    rows += [{"bench": "small", "what": f"gidd {state}", **parts} for state, parts in taken.items()]
    most = max(parts["resident"] for parts in taken.values())
    ratios = {
        "small_disk_vs_goal": total / GOAL_DISK,
        "small_resident_vs_goal": most / GOAL_RESIDENT,
    }
    common.write(options.json, rows, ratios)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
