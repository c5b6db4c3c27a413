# SPDX-License-Identifier: MIT
"""Runs in a guest: shows a stream of dma-bufs as a camera of PipeWire, to groups of readers.

dmabuf_camera.py REGISTRY   One JSON object says of each group and reader: the colours of a picture,
and how many of its descriptors are dma-bufs; and what gid-pipewire counted. The reader `files`
takes no dma-bufs.
"""

import json
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
from lib.cockpit import Cockpit
from lib.inspected import descriptors_of
from lib.pipeline import Pipeline
from lib.pipewire import CAMERA, READER, Pipewire
from lib.program import Program, wait_for

WIDTH, HEIGHT = 320, 240
COLOUR = 0xFF336699
SECONDS = 120
GROUPS = [["gstreamer"], ["any"], ["files", "any"]]


def newest(file: Path) -> np.ndarray:
    """The pixels of the newest whole picture; empty: there is none."""
    size = WIDTH * HEIGHT * 4
    count = file.stat().st_size // size if file.exists() else 0
    if count == 0:
        return np.empty(0, "<u4")
    return np.fromfile(file, "<u4", WIDTH * HEIGHT, offset=(count - 1) * size)


def start_reader(pipewire: Pipewire, name: str, file: Path) -> Program:
    if name != "gstreamer":
        return pipewire.browser("BGRA", WIDTH, HEIGHT, file, name)
    text = f"pipewiresrc target-object={CAMERA} stream-properties={READER} "
    text += f"! filesink buffer-mode=unbuffered location={file}"
    return pipewire.start("gst-launch-1.0", "-q", *text.split())


def wait_picture(pipewire: Pipewire, name: str) -> tuple[Program, dict]:
    file = Path(tempfile.mkdtemp(dir=pipewire.folder)) / "pictures"
    reader = start_reader(pipewire, name, file)

    def seen() -> bool:
        return (newest(file) == COLOUR).any()

    wait_for(lambda: seen() or not reader.is_running(), f"a picture for {name}", SECONDS)
    assert reader.is_running(), f"{name}: {reader.stderr}"
    return reader, {
        "colours": [f"{colour:08x}" for colour in np.unique(newest(file))],
        "dmabufs": sum("dmabuf" in what for what in descriptors_of(reader.pid).values()),
    }


def look(pipewire: Pipewire, names: list[str]) -> dict:
    """What each of them has when it has come, while those before it go on."""
    camera = pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera", SECONDS)
    found = {}
    readers = []
    for name in names:
        reader, found[name] = wait_picture(pipewire, name)
        readers.append(reader)
    for reader in readers:
        reader.stop()
    camera.signal(signal.SIGTERM)
    camera.wait()
    return found | {"counts": json.loads(camera.stdout)}


def main() -> None:
    cockpit = Cockpit()
    shutil.copy(sys.argv[1], cockpit.folder / "registry.bin")
    cockpit.start_all()
    pipewire = Pipewire(cockpit)
    source = f"videotestsrc pattern=solid-color foreground-color={COLOUR} is-live=true"
    source += f" ! video/x-raw,format=BGRA,width={WIDTH},height={HEIGHT},framerate=10/1"
    sent = Pipeline(cockpit, "open", f"{source} ! gidsink name=sink stream=movie dmabuf=true")
    try:
        print(json.dumps({" ".join(names): look(pipewire, names) for names in GROUPS}))
    except AssertionError as error:
        raise AssertionError(f"{error}\n{sent.account()}") from None


main()
