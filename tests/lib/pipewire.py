# SPDX-License-Identifier: MIT
"""A PipeWire of a test's own, with a stream as its camera and GStreamer's reader of that."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from lib.cockpit import Cockpit
from lib.inspected import descriptors_of
from lib.program import BUILD, Program, wait_for

WIDTH, HEIGHT = 384, 240  # rows that need no padding in any of the formats
FORMATS = {  # GStreamer's name, and bytes a pixel
    "R8": ("GRAY8", 1),
    "NV12": ("NV12", 1.5),
    "YU12": ("I420", 1.5),
    "YUYV": ("YUY2", 2),
    "XR24": ("BGRx", 4),
    "AR24": ("BGRA", 4),
}
READER = "p,media.type=Video,media.category=Capture,media.role=Camera"
CAMERA = "gid.open.movie"


class Pipewire:
    """PipeWire and its session manager, for the programs of one environment."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.cockpit = cockpit
        self.folder = Path(tempfile.mkdtemp(prefix="pw-"))
        place = {"XDG_RUNTIME_DIR": str(self.folder), "PIPEWIRE_RUNTIME_DIR": str(self.folder)}
        self.environment = cockpit.env("cluster") | place
        self.environment |= {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder)}
        self.start("dbus-daemon", "--session", "--nofork", f"--address=unix:path={self.folder}/bus")
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={self.folder}/bus"
        wait_for((self.folder / "bus").exists, "the session bus")
        self.daemon = self.start("pipewire")
        wait_for((self.folder / "pipewire-0").exists, "PipeWire")
        self.start("wireplumber")
        wait_for(lambda: "WirePlumber" in str(self.dump()), "WirePlumber")

    def start(self, *command: str | Path) -> Program:
        return Program(command, self.environment, self.folder)

    def dump(self) -> list[dict]:
        done = subprocess.run(["pw-dump", "-N"], env=self.environment, capture_output=True)
        return json.loads(done.stdout) if done.returncode == 0 else []

    def nodes(self) -> dict[str, dict]:
        """The properties of each, by its name."""
        found = [thing["info"]["props"] for thing in self.dump() if "Node" in thing["type"]]
        return {node["node.name"]: node for node in found if "node.name" in node}

    def size(self) -> tuple[int, int] | None:
        """Of the camera's pictures, as it offers them now."""
        for thing in self.dump():
            info = thing["info"] if "Node" in thing["type"] else {}
            formats = info.get("params", {}).get("EnumFormat", [])
            if formats and info["props"].get("node.name") == CAMERA:
                return formats[0]["size"]["width"], formats[0]["size"]["height"]
        return None

    def camera(self, *options: str) -> Program:
        return self.start(
            BUILD / "clients/gid-pipewire", "--domain=open", "--stream=movie", *options
        )

    def browser(self, format: str, width: int, height: int, file: Path, *more: str) -> Program:
        """What reads as browsers do, of which a format has a name of PipeWire's."""
        program = BUILD / "tests/lib/programs/webrtc-reader"
        return self.start(program, CAMERA, format, str(width), str(height), file, *more)

    def reader(self, format: str = "R8", camera: str = CAMERA) -> "Reader":
        """GStreamer's, which writes each picture into a file, as it is."""
        file = Path(tempfile.mkdtemp(dir=self.folder)) / "pictures"
        text = f"pipewiresrc target-object={camera} stream-properties={READER} "
        text += f"! video/x-raw,format={FORMATS[format][0]} "
        text += f"! filesink buffer-mode=unbuffered location={file}"
        size = round(WIDTH * HEIGHT * FORMATS[format][1])
        return Reader(self.start("gst-launch-1.0", "-q", *text.split()), file, size)

    def player(self, file: Path) -> Program:
        """Looks at all that comes beside the pictures, which it writes as BGRx without padding."""
        text = f"pipewiresrc target-object={CAMERA} stream-properties={READER} ! videoconvert ! "
        text += "video/x-raw,format=BGRx ! videoflip video-direction=auto ! "
        text += f"filesink buffer-mode=unbuffered location={file}"
        return self.start("gst-launch-1.0", "-q", *text.split())

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Reader:
    def __init__(self, program: Program, file: Path, size: int) -> None:
        self.program = program
        self.file = file
        self.size = size  # of a picture, bytes

    def brightness(self) -> set[int]:
        """Each value in the first plane of the newest whole picture. Empty: there is none."""
        count = self.file.stat().st_size // self.size if self.file.exists() else 0
        if count == 0:
            return set()
        offset = (count - 1) * self.size
        return set(np.fromfile(self.file, np.uint8, WIDTH * HEIGHT, offset=offset).tolist())

    def slab_accesses(self) -> set[int]:
        """How it may use the descriptors of slabs that it has."""
        opened = descriptors_of(self.program.pid)
        slabs = [number for number, what in opened.items() if "gid-slab" in what]
        folder = Path(f"/proc/{self.program.pid}/fdinfo")
        infos = [(folder / str(number)).read_text() for number in slabs]
        return {int(re.search(r"flags:\s+(\d+)", info)[1], 8) & os.O_ACCMODE for info in infos}

    def wait_picture(self, brightness: int) -> None:
        def seen() -> bool:
            assert self.program.is_running(), self.program.stderr
            return self.brightness() == {brightness}

        wait_for(seen, f"a picture of {brightness}")
