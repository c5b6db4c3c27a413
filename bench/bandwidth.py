#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many bytes are moved for each frame that one process hands to another: gid and other ways.

A picture of 1280x720 goes from one program to another on this machine: by gid, by GStreamer's
unixfd and shm elements, by TCP, and as a Wayland program's by waypipe (without compression, every
pixel changed). Counted is what the programs copy: by memcpy() of at least a page, and by reading
and writing descriptors. What the maker of the picture copies without any transport is taken off,
and what a program of GStreamer copies as it starts.
What a program copies in loops of its own (waypipe compares each picture with the last) is not seen.

Each byte that is copied is read once and written once. The bandwidth is that of 60 frames a second,
with the picture being made once and read once.
"""

import contextlib
import functools
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gid_vm.preload import NotLoadedError, Preload

from bench import common
from bench.through_waypipe import WAYPIPE, screen
from lab.domains.program import LabError, Wanting

SIZE = (1280, 720)  # pixels
FRAME = SIZE[0] * SIZE[1] * 4  # bytes
RATE = 60
PATIENCE = 60.0  # seconds
PORT = 47231
GSTREAMER = "gst-launch-1.0"
CAPS = f"video/x-raw,format=BGRx,width={SIZE[0]},height={SIZE[1]},framerate={RATE}/1"
SOURCE = "videotestsrc is-live=true pattern=solid-color num-buffers={frames} ! " + CAPS
# What shmsink says when it stops after all of its frames.
SHM_ENDS = "Failed waiting on fd activity"
# How a pipeline ends, how one begins, and whether all frames come through it for certain.
PIPELINES = {
    "gid": (
        "gidsink stream=bench sync=false wait-for-connection=true",
        "gidsrc domain=open stream=bench",
        False,
    ),
    "unixfd": (
        "unixfdsink socket-path={socket} sync=false",
        "unixfdsrc socket-path={socket}",
        False,
    ),
    "shm": (
        f"shmsink socket-path={{socket}} shm-size={12 * FRAME} sync=false "
        "wait-for-connection=false",
        f"shmsrc socket-path={{socket}} is-live=true ! {CAPS}",
        False,
    ),
    "tcp": (
        f"tcpclientsink host=127.0.0.1 port={PORT} sync=false",
        f"tcpserversrc host=127.0.0.1 port={PORT}",
        True,
    ),
}


class Sums:
    """What all processes of one measurement copied, in bytes, through memory and descriptors."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "sums"
        self._preload = Preload(os.environ["GID_BENCH_COPIES_LIBRARY"])

    @contextlib.contextmanager
    def counting(self) -> Iterator[dict[str, str]]:
        """Begins at 0; the environment for the programs."""
        self._path.write_bytes(bytes(16))
        self._preload.forget()
        yield self._preload.env | {"GID_BENCH_COPIES": str(self._path)}

    def read(self, *programs: str) -> tuple[int, int]:
        """Of these, each of which was counted for certain."""
        try:
            self._preload.check(*programs)
        except NotLoadedError as error:
            raise LabError(f"copies were not counted: {error}") from None
        return struct.unpack("=QQ", self._path.read_bytes())


def start(pipeline: str, domain: str, environment: dict[str, str]) -> subprocess.Popen:
    return subprocess.Popen(
        [GSTREAMER, "-q", *pipeline.split()],
        env=os.environ | {"GID_DOMAIN": domain} | environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen, who: str) -> None:
    try:
        _, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        _kill(process)
        raise LabError(f"{who}: it does not end") from None
    if process.returncode != 0 and SHM_ENDS not in errors:
        raise LabError(f"{who}: {errors.strip()[-500:]}")


def _kill(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.kill()
        process.communicate()


def wait_for(what: str, condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise LabError(f"waited in vain for {what}")
        time.sleep(0.01)


def is_listening() -> bool:
    """To our port: as the kernel tells, for a connection would be taken for the sender's."""
    wanted = f":{PORT:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return any(line.split()[1].endswith(wanted) and line.split()[3] == "0A" for line in lines)


class Bench:
    def __init__(self, folder: Path, frames: int) -> None:
        self._folder, self._frames = folder, frames
        self._sums = Sums(folder)

    def generator(self) -> tuple[int, int]:
        """The maker of the pictures alone."""
        with self._sums.counting() as environment:
            source = SOURCE.format(frames=self._frames)
            end(start(f"{source} ! fakesink sync=false", "open", environment), "videotestsrc")
            return self._sums.read(GSTREAMER)

    @functools.cached_property
    def _beginning(self) -> tuple[int, int]:
        """What GStreamer copies before its first picture: what it knows of its plug-ins."""
        with self._sums.counting() as environment:
            end(start("fakesrc num-buffers=1 ! fakesink", "cluster", environment), "fakesrc")
            return self._sums.read(GSTREAMER)

    def pipelines(self, who: str) -> dict:
        """The sender's side by all of its frames; the receiver's by those that it got."""
        send, receive, is_lossless = PIPELINES[who]
        socket = self._folder / f"{who}.sock"
        taken = self._frames if is_lossless else self._frames // 2
        receiving = f"{receive.format(socket=socket)} ! fakesink sync=false"
        receiving += "" if is_lossless else " num-buffers={frames}"
        sending = f"{SOURCE.format(frames=self._frames)} ! {send.format(socket=socket)}"
        # The two share one sum: they take turns in being counted.
        sides = [
            self._run(sending, receiving.format(frames=number), is_lossless, socket, counted)
            for counted, number in enumerate((-1, taken))
        ]
        alone = self.generator()
        sent = [side - bare for side, bare in zip(sides[0], alone, strict=True)]
        received = [side - bare for side, bare in zip(sides[1], self._beginning, strict=True)]
        memory, descriptors = (
            max(0.0, out / self._frames) + max(0.0, came / taken)
            for out, came in zip(sent, received, strict=True)
        )
        return self._row(who, memory, descriptors)

    def _run(
        self, sending: str, receiving: str, receiver_first: bool, socket: Path, counted: int
    ) -> tuple[int, int]:
        """What the sender (0) or the receiver (1) copied until it ended; the other is killed."""
        with self._sums.counting() as environment, contextlib.ExitStack() as stack:
            sides = [(sending, "open"), (receiving, "cluster")]
            processes = {}
            for number in (1, 0) if receiver_first else (0, 1):
                pipeline, domain = sides[number]
                processes[number] = start(
                    pipeline, domain, environment if number == counted else {}
                )
                stack.callback(_kill, processes[number])
                if receiver_first and number == 1:
                    wait_for("the receiver", is_listening)
                elif number == 0 and "socket-path" in sending:
                    wait_for("the sender", socket.exists)
            end(processes[counted], (sending, receiving)[counted])
            return self._sums.read(GSTREAMER)

    def waypipe(self) -> dict:
        frames = self._frames // 2
        with self._sums.counting() as environment:
            before = dict(os.environ)
            with tempfile.TemporaryDirectory(prefix="gw-", dir=common.memory_folder()) as name:
                folder = Path(name)
                with screen(folder, SIZE, environment):
                    display = folder / "display"
                    words = [*WAYPIPE, "-s", str(folder / "waypipe"), "--display", str(display)]
                    redraw = common.TOP / "bench" / "waypipe" / "redraw.py"
                    program = ["env", "-u", "LD_PRELOAD", sys.executable, str(redraw), str(display)]
                    program += map(str, (*SIZE, frames))
                    subprocess.run(
                        [*words, "server", *program],
                        env=before | environment,
                        stdin=subprocess.DEVNULL,
                        check=True,
                        timeout=PATIENCE + frames,
                    )
            memory, descriptors = self._sums.read("waypipe")
        return self._row("waypipe", memory / frames, descriptors / frames)

    def _row(self, who: str, memory: float, descriptors: float) -> dict:
        copied = memory + descriptors
        return {
            "bench": "bandwidth",
            "who": who,
            "frames": self._frames,
            "copied_bytes_per_frame": round(copied),
            "by_memcpy_per_frame": round(memory),
            "by_descriptors_per_frame": round(descriptors),
            "copies_per_frame": round(copied / FRAME, 3),
            "mb_s": round((2 * FRAME + 2 * copied) * RATE / 1e6, 1),
        }


def main() -> int:
    parser = common.parser("bandwidth", __doc__)
    parser.add_argument(
        "--frames", type=common.count, default=120, help="of each way (default: 120)"
    )
    options = parser.parse_args()
    if "GID_BENCH_COPIES_LIBRARY" not in os.environ:
        raise Wanting("the counter of copies is only built for x86_64")
    rows = []
    progress = common.Progress(len(PIPELINES) + 1)
    with tempfile.TemporaryDirectory(prefix="gid-bench-", dir=common.memory_folder()) as name:
        with common.cockpit(Path(name), "bench"):
            bench = Bench(Path(name), options.frames)
            for who in PIPELINES:
                progress.step(who)
                rows.append(bench.pipelines(who))
            progress.step("waypipe")
            rows.append(bench.waypipe())
    progress.end()
    if next(row for row in rows if row["who"] == "tcp")["copies_per_frame"] < 1:
        raise LabError("copies were not counted: TCP makes two of each picture")
    for row in rows:
        print(
            f"{row['who']:8} {row['copies_per_frame']:7.3f} copies of each picture, "
            f"{row['mb_s']:7.1f} MB/s at {RATE} frames a second"
        )
    gid, *peers = (row["mb_s"] for row in rows)
    found = {
        "gid_copies_per_frame": rows[0]["copies_per_frame"],
        "gid_bandwidth_vs_best_peer": round(gid / min(peers), 4),
    }
    common.write(options.json, rows, found)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
