# SPDX-License-Identifier: MIT
"""A guest's camera, alone and beside a film: who copies its frames, and whether anything grows.

The camera is vivid, the kernel's own.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gid_vm.agent import Agent, Command

from lab.domains.program import LabError
from lab.film import clip, film
from lab.soak.growth import growth, which_grow
from lab.soak.samples import COUNTED, counts, sample

SECONDS = 120.0
CAPS = "video/x-raw,format=BGRx,width=640,height=360"
FILM_DIVISOR = 4  # of 1280x720
WARM_SECONDS = 60.0
# QEMU's own is next to nothing beside the guest's memory and the code that it has translated.
OF_THE_GUEST = ("heap", "memory")
SAMPLE_SECONDS = 10.0
# How the driver is given memory, and what that is.
MODES = {"userptr": "camera, into the window", "dmabuf": "camera, from its own dma-bufs"}
LOOK = """
for pid in {pids}; do
	cat /proc/$pid/smaps_rollup
	echo "$(ls /proc/$pid/fd | wc -l) $(wc -l </proc/$pid/maps)"
done
"""


def check(result: object, what: str) -> None:
    if result.code != 0:
        raise LabError(f"{what}: {result.err[-1000:]}")


def load_camera(agent: Agent) -> None:
    check(agent.start(["modprobe", "vivid"]).wait(SECONDS), "the guest has no camera")


def play(agent: Agent, stream: str, source: str, sink: str, *options: str) -> Command:
    """Prints its process first."""
    words = ["python3", str(film.PLAY), "--stats", f"/run/{stream}.stats", *options]
    words.append(f"{source} ! gidsink name=sink stream={stream} {sink}")
    return agent.start(["sh", "-c", 'echo $$; exec "$@"', "sh", *words])


def stats(agent: Agent, stream: str) -> dict:
    return json.loads(agent.start(["cat", f"/run/{stream}.stats"]).wait(SECONDS).out)[stream]


@contextmanager
def receiver(stream: str) -> Iterator[subprocess.Popen]:
    receive = f"gidsrc domain=open stream={stream} ! fakesink sync=false"
    environment = os.environ | {"GID_DOMAIN": "host"}
    process = subprocess.Popen(["gst-launch-1.0", "-q", *receive.split()], env=environment)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(SECONDS)


def copied(agent: Agent, frames: int) -> list[dict]:
    """Bytes of pixels that are copied of each frame on the way to the host, in each mode."""
    rows = []
    for mode, way in MODES.items():
        with receiver("camera"):
            source = f"v4l2src device=/dev/video0 io-mode={mode} num-buffers={frames} ! {CAPS}"
            sink = "sync=false leaky=false wait-for-connection=true"
            check(play(agent, "camera", source, sink).wait(SECONDS + frames), way)
        found = stats(agent, "camera")
        # The mark of the end counts as delivered, too.
        if found["delivered"] < frames or found["dropped"] > 0:
            raise LabError(f"{way}: of {frames} frames {found['dropped']} were dropped")
        rows.append({"way": way, "frames": frames, "copied_bytes": found["copied-bytes"] // frames})
    return rows


# --- for minutes ----------------------------------------------------------------------------------


@dataclass
class Curve:
    hours: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


def samples_in_guest(agent: Agent, pids: list[int]) -> list[dict[str, int]]:
    script = LOOK.format(pids=" ".join(map(str, pids)))
    result = agent.start(["sh", "-c", script]).wait(SECONDS)
    check(result, "a program of the guest has ended")
    found, text = [], ""
    for line in result.out.splitlines():
        words = line.split()
        if len(words) == 2 and words[0].isdigit():
            found.append(counts(text, *map(int, words)))
            text = ""
        else:
            text += f"{line}\n"
    return found


def first_line(command: Command) -> int:
    command.wait_for("\n", SECONDS)
    return int(command.out.splitlines()[0])


def watch(agent: Agent, names: dict[str, int], guests: dict[str, int], minutes: float) -> dict:
    """(what, of which process) -> its curve, once the programs have warmed up."""
    curves: dict[tuple[str, str], Curve] = {}
    time.sleep(WARM_SECONDS)
    begin = time.monotonic()
    while (elapsed := time.monotonic() - begin) < minutes * 60:
        found = {name: sample(pid) for name, pid in names.items()}
        found |= dict(zip(guests, samples_in_guest(agent, list(guests.values())), strict=True))
        for name, one in found.items():
            for what, value in one.items():
                curve = curves.setdefault((name, what), Curve())
                curve.hours.append(elapsed / 3600)
                curve.values.append(value)
        time.sleep(SAMPLE_SECONDS)
    return curves


def together(agent: Agent, hosts: dict[str, int], minutes: float, folder: Path) -> list[dict]:
    """A film and a camera in the window at once: what grows, and what was lost or copied."""
    film = clip.shrink(clip.find(None), FILM_DIVISOR, folder)
    put = agent.start(["sh", "-c", "cat >/run/film.mp4"], stdin=film.read_bytes())
    check(put.wait(SECONDS), "the film")
    sources = {
        "film": "filesrc location=/run/film.mp4 ! qtdemux ! h264parse ! avdec_h264 max-threads=1",
        "camera": f"v4l2src device=/dev/video0 io-mode=userptr ! {CAPS},framerate=10/1",
    }
    with receiver("film") as film_reader, receiver("camera") as camera_reader:
        sent = {name: play(agent, name, source, "", "--loop") for name, source in sources.items()}
        guests = {f"{name}, guest": first_line(command) for name, command in sent.items()}
        gidd = agent.start(["pidof", "gidd"]).wait(SECONDS).out
        names = hosts | {"film's reader": film_reader.pid, "camera's reader": camera_reader.pid}
        curves = watch(agent, names, guests | {"gidd, guest": int(gidd)}, minutes)
        found = {name: stats(agent, name) for name in sources}
        for command in sent.values():
            command.signal(15)
            command.wait(SECONDS)
    for name, one in found.items():
        print(
            f"{name}: {one['delivered']} frames, of which {one['copied-frames']} were copied and "
            f"{one['dropped']} dropped"
        )
    judged = {
        (name, what): growth(curve.hours, curve.values)
        for (name, what), curve in curves.items()
        if name != "QEMU" or what not in OF_THE_GUEST
    }
    grow = which_grow([(found, COUNTED[what][1]) for (_, what), found in judged.items()])
    rows = [
        {
            "of": name,
            "what": what,
            "first": curves[name, what].values[0],
            "last": curves[name, what].values[-1],
            "total": found.total,
            "grows": grows,
        }
        for ((name, what), found), grows in zip(judged.items(), grow, strict=True)
    ]
    return rows + [{"of": name, "stats": one} for name, one in found.items()]
