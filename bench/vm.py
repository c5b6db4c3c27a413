#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frames from a QEMU guest to its host, beside the same frames through a virtual network.

Boots one guest, and measures

- round trips: an eventfd between two processes of the host (the bare wake-up), a byte over a
  virtio-serial port, a ring of the doorbell device (all with both ends in Python); and whole
  doorbells, from a sleeping program of the host to one in the guest and back: by the device past
  both gidds (direct), by the device and both gidds (relay), and over the link, which is a
  virtio-serial port;
- by the same three ways, a 1280x720 frame from the guest to a sleeping program of the host;
- 1280x720 BGRx, as fast as they come: by gid, read by the host from the guest's memory; by TCP over
  virtio-net (QEMU's user network); and as a Wayland program's, by waypipe over the same network,
  without compression, every pixel of every frame changed. Per frame: the host's CPU time, of QEMU
  with all that the guest does, of the receiver (of waypipe's without the compositor) and of gidd;
  and the bytes of pixels that are copied on the way. For TCP and waypipe these are what the two
  programs write and read; kernels, QEMU, and waypipe in its own memory, copy on top of that;
- the bytes that are copied of each frame of a camera: where its driver writes into the window,
  which has pages for that, and where it has memory of its own;
- round trips of other programs, on the host, in the guest and between them, while a program of
  the guest rings one of the host without end, and while it does not.

With --minutes a film and a camera are in the window at once for so long, and nothing may grow: that
alone.
"""

import contextlib
import functools
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import gid_console
from gid_cockpit.machine import window_kind
from gid_vm.agent import Agent, GuestError

from bench import camera, common, doorbell, guest_network
from bench.through_waypipe import by_waypipe
from lab.domains.cockpit import Cockpit
from lab.domains.configuration import configuration
from lab.domains.program import LabError
from lab.film import film

SIZE = (1280, 720)  # pixels
FRAME = SIZE[0] * SIZE[1] * 4  # bytes
PORT = 47230  # of the host, for the guest: QEMU's user network has the host at 10.0.2.2
FRAMES_PIPED = 60  # at most: they take a second each under TCG
FEW = 20  # frames of the run that is taken off
MORE = 16  # times the frames that were asked for, at most
SECONDS = 120.0
CONFIGURATION = configuration(
    {
        "open": "kind=guest window=128M window-kind=auto local=* "
        "vm-options=-chardev socket,id=b,path={folder}/p,server=on,wait=off",
        "host": "kind=host window=4M local=*",
    },
    {"open host": "movie camera film storm", "host open": "ping"},
    runtime="{folder}",
)
# The longest line of a configuration is too short for them.
DEVICES = [
    *("-device", "virtserialport,chardev=b,name=org.gidway.bench"),
    *guest_network.devices(),
]
ECHO = """
import os, time
port = os.open("/dev/virtio-ports/org.gidway.bench", os.O_RDWR)
print("ready", flush=True)
while True:
    if byte := os.read(port, 1):
        os.write(port, byte)
    else:
        time.sleep(0.05)  # the host has not connected yet
"""
SOURCE = (
    "videotestsrc pattern=solid-color num-buffers={frames} ! "
    "video/x-raw,format=BGRx,width=1280,height=720,framerate=60/1"
)


def percentiles(way: str, times: list[float]) -> dict:
    cuts = statistics.quantiles(times, n=100)
    return {
        "way": way,
        "p50_us": cuts[49] * 1e6,
        "p99_us": cuts[98] * 1e6,
        "worst_us": max(times) * 1e6,
        "n": len(times),
    }


def ping(once: Callable[[], None], count: int) -> list[float]:
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        once()
        times.append(time.perf_counter() - begin)
    return times[count // 10 :]


def eventfd_round_trip(count: int) -> dict:
    there, back = os.eventfd(0), os.eventfd(0)
    child = os.fork()
    if child == 0:
        while os.eventfd_read(there) == 1:
            os.eventfd_write(back, 1)
        os._exit(0)

    def once() -> None:
        os.eventfd_write(there, 1)
        os.eventfd_read(back)

    times = ping(once, count)
    os.eventfd_write(there, 2)
    os.waitpid(child, 0)
    return percentiles("eventfd", times)


def serial_round_trip(agent: Agent, port: Path, count: int) -> dict:
    echo = agent.start(["python3", "-c", ECHO])
    echo.wait_for("ready", SECONDS)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(port))

        def once() -> None:
            connection.send(b"x")
            connection.recv(1)

        times = ping(once, count)
    echo.signal(9)
    return percentiles("virtio-serial", times)


# Seconds, seconds of CPU, and bytes of pixels copied, for that many frames.
Run = Callable[[int], tuple[float, float, int]]


def account(way: str, run: Run, frames: int) -> dict:
    """What so many frames more take than a few: pipelines take long to start in a guest.

    Where so many are lost in the noise of that, as they can be by a quick way, it takes more.
    """
    run(FEW)  # programs and plugins come into the guest's memory
    few, most = run(FEW), MORE * frames
    while True:
        many = run(FEW + frames)
        seconds, cpu, copied = (large - small for large, small in zip(many, few, strict=True))
        if seconds > 0 and cpu > 0:
            break
        if frames >= most:
            raise LabError(f"{way}: {frames} frames are lost in the noise: ask for more")
        frames *= 4
    return {
        "way": way,
        "frames": frames,
        "fps": frames / seconds,
        "host_cpu_ms_per_frame": cpu / frames * 1e3,
        "copied_bytes_per_frame": copied // frames,
    }


def by_gid(agent: Agent, watched: list[int], frames: int) -> tuple[float, float, int]:
    receive = "gidsrc domain=open stream=movie ! fakesink sync=false"
    receiver = subprocess.Popen(
        ["gst-launch-1.0", "-q", *receive.split()],
        env=os.environ | {"GID_DOMAIN": "host"},
    )
    sink = "gidsink name=sink stream=movie sync=false leaky=false wait-for-connection=true"
    player = ["python3", str(film.PLAY), "--stats", "/run/stats"]
    before, begin = sum(map(common.cpu_seconds, watched)), time.monotonic()
    usage = os.times()
    sent = agent.start([*player, f"{SOURCE.format(frames=frames)} ! {sink}"])
    receiver.wait(SECONDS * 3)
    seconds = time.monotonic() - begin
    sent.wait(SECONDS)
    cpu = sum(map(common.cpu_seconds, watched)) - before
    cpu += sum(os.times()[2:4]) - sum(usage[2:4])  # the receiver's, now that it was waited for
    stats = agent.start(["cat", "/run/stats"]).wait(SECONDS).out
    return seconds, cpu, json.loads(stats)["movie"]["copied-bytes"]


def by_tcp(agent: Agent, watched: list[int], frames: int) -> tuple[float, float, int]:
    with socket.create_server(("127.0.0.1", PORT)) as server:
        server.settimeout(SECONDS)
        before, begin = sum(map(common.cpu_seconds, watched)), time.monotonic()
        usage = os.times()
        sink = f"tcpclientsink host=10.0.2.2 port={PORT} sync=false"
        words = f"{SOURCE.format(frames=frames)} ! {sink}".split()
        sent = agent.start(["gst-launch-1.0", "-q", *words])
        connection, _ = server.accept()
        connection.settimeout(SECONDS)
        buffer, received = bytearray(FRAME), 0
        while count := connection.recv_into(buffer):
            received += count
        seconds = time.monotonic() - begin
        cpu = sum(map(common.cpu_seconds, watched)) - before
        cpu += sum(os.times()[:2]) - sum(usage[:2])
    sent.wait(SECONDS)
    if received != frames * FRAME:
        raise LabError(f"of {frames * FRAME} bytes came {received}")
    return seconds, cpu, 2 * received


@dataclass(frozen=True)
class Guest:
    agent: Agent
    watched: list[int]  # processes of the host that work for it: its gidd, QEMU
    no_pages: str | None  # why its window has none, for cameras to write into
    folder: Path


@contextlib.contextmanager
def guest() -> Iterator[Guest]:
    subprocess.run(["gst-inspect-1.0", "gidsink"], stdout=subprocess.DEVNULL, check=True)
    with tempfile.TemporaryDirectory(
        prefix="gb-", dir=common.memory_folder(), ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        cockpit = Cockpit(folder, CONFIGURATION.format(folder=folder), ["open"], SECONDS)
        try:
            machine = cockpit.start("open", devices=DEVICES)
            kind, why = window_kind(machine.guest.domain)
            watched = [cockpit["host"]["gidd"].pid, machine.qemu]
            yield Guest(machine.agent, watched, None if kind == "dax" else why, folder)
        except GuestError as error:
            raise LabError(str(error)) from None
        finally:
            cockpit.close()


@dataclass
class Found:
    """Rows of each kind."""

    trips: list[dict] = field(default_factory=list)
    latencies: list[dict] = field(default_factory=list)
    storms: list[dict] = field(default_factory=list)
    cameras: list[dict] = field(default_factory=list)
    frames: list[dict] = field(default_factory=list)
    no_pages: str | None = None

    def rows(self) -> list[dict]:
        return self.trips + self.latencies + self.storms + self.cameras + self.frames

    def ratios(self) -> dict[str, float]:
        gid, tcp, piped = self.frames
        p50 = {row["way"]: row["p50_us"] for row in self.trips + self.latencies}
        found = {
            "serial_vs_eventfd_p50": p50["virtio-serial"] / p50["eventfd"],
            "device_vs_eventfd_p50": p50["ivshmem-doorbell"] / p50["eventfd"],
            "device_vs_serial_p50": p50["ivshmem-doorbell"] / p50["virtio-serial"],
            "doorbell_direct_vs_relay": p50["doorbell, direct"] / p50["doorbell, relay"],
            "doorbell_relay_vs_link_p50": p50["doorbell, relay"] / p50["doorbell, link"],
            "frame_direct_vs_relay": p50["frame, direct"] / p50["frame, relay"],
            "gid_cpu_vs_tcp": gid["host_cpu_ms_per_frame"] / tcp["host_cpu_ms_per_frame"],
            "gid_fps_vs_tcp": gid["fps"] / tcp["fps"],
            "gid_cpu_vs_waypipe": gid["host_cpu_ms_per_frame"] / piped["host_cpu_ms_per_frame"],
            "gid_fps_vs_waypipe": gid["fps"] / piped["fps"],
        }
        if self.cameras:
            found["camera_copied_bytes"] = self.cameras[0]["copied_bytes"]
            found["camera_copied_bytes_from_dmabufs"] = self.cameras[1]["copied_bytes"]
        return found

    def show(self) -> None:
        ways = [("round trip", row) for row in self.trips]
        for what, row in ways + [("one way", row) for row in self.latencies]:
            print(
                f"{row['way']:<16} {what:<10} p50 {row['p50_us']:8.1f} µs, "
                f"p99 {row['p99_us']:8.1f} µs"
            )
        for row in self.storms:
            print(
                f"{row['way']:<32} p50 {row['p50_us']:8.1f} µs, p99 {row['p99_us']:8.1f} µs, "
                f"worst {row['worst_us']:8.1f} µs"
            )
        for row in self.cameras:
            print(f"{row['way']:<32} {row['copied_bytes']} bytes of pixels copied a frame")
        if self.no_pages is not None:
            print(f"no camera: the guest has no windows with pages: {self.no_pages}")
        for row in self.frames:
            print(
                f"{row['way']:<16} {row['fps']:7.1f} frames/s, host CPU "
                f"{row['host_cpu_ms_per_frame']:.2f} ms a frame, "
                f"{row['copied_bytes_per_frame']} bytes of pixels copied a frame"
            )


def pass_frames(there: Guest, count: int, progress: common.Progress) -> list[dict]:
    agent, watched = there.agent, there.watched
    progress.step("gid")
    rows = [account("gid", lambda n: by_gid(agent, watched, n), count)]
    progress.step("virtio-net TCP")
    guest_network.bring_up(agent)
    rows.append(account("virtio-net TCP", lambda n: by_tcp(agent, watched, n), count))
    progress.step("waypipe")
    piped = functools.partial(by_waypipe, agent, watched, PORT, SIZE)
    rows.append(account("waypipe", piped, min(count, FRAMES_PIPED)))
    return rows


def measure(round_trips: int, frames: int) -> Found:
    found = Found()
    progress = common.Progress(10)
    progress.step("eventfd")
    found.trips.append(eventfd_round_trip(round_trips))
    progress.step("the guest boots")
    with guest() as there:
        agent, found.no_pages = there.agent, there.no_pages
        progress.step("virtio-serial")
        found.trips.append(serial_round_trip(agent, there.folder / "p", round_trips))
        found.frames = pass_frames(there, frames, progress)
        progress.step("a camera")
        if there.no_pages is None:
            camera.load_camera(agent)
            found.cameras = camera.copied(agent, frames)
        progress.step("a storm")
        doorbell.wait_for_link(1, "direct")
        storms = doorbell.beside_a_storm(agent, round_trips)
        found.storms = [percentiles(way, times) for way, times in storms.items()]
        progress.step("doorbells")
        trip_times, frame_times = doorbell.all_ways(agent, round_trips, SIZE, frames)
        found.trips += [percentiles(f"doorbell, {way}", t) for way, t in trip_times.items()]
        found.latencies = [percentiles(f"frame, {way}", t) for way, t in frame_times.items()]
        progress.step("the device")
        server = there.folder / "bell" / "open.sock"
        alone = doorbell.bare(agent, server, round_trips, ping)
        found.trips.append(percentiles("ivshmem-doorbell", alone))
    progress.end()
    return found


def main() -> int:
    parser = common.parser("vm", __doc__)
    parser.add_argument(
        "--frames", type=common.count, default=300, metavar="N", help="default: 300"
    )
    parser.add_argument(
        "--round-trips", type=common.count, default=2000, metavar="N", help="default: 2000"
    )
    parser.add_argument(
        "--minutes",
        type=gid_console.decimal_number(0.01, 10080),
        metavar="M",
        help="only a film and a camera at once, for so long",
    )
    options = parser.parse_args()
    if options.minutes is not None:
        return for_minutes(options.minutes, options.json)
    found = measure(options.round_trips, options.frames)
    found.show()
    ratios = found.ratios()
    for name, value in ratios.items():
        print(f"{name} {value:.3f}")
    common.write(options.json, found.rows(), ratios)
    return 0


def for_minutes(minutes: float, json_path: Path | None) -> int:
    with guest() as there:
        if there.no_pages is not None:
            raise LabError(f"the guest has no windows with pages: {there.no_pages}")
        camera.load_camera(there.agent)
        hosts = dict(zip(("gidd, host", "QEMU"), there.watched, strict=True))
        rows = camera.together(there.agent, hosts, minutes, there.folder)
    growing = 0
    for row in (row for row in rows if "what" in row):
        growing += row["grows"]
        print(
            f"{row['of']:<16} {row['what']:<12} {row['first']:>9} → {row['last']:>9}, in all "
            f"{row['total']:+.1f}{', grows' if row['grows'] else ''}"
        )
    stats = [row["stats"] for row in rows if "stats" in row]
    # A decoder may have decoded its first frames before its memory was agreed on.
    copied = sum(one["copied-frames"] - one["copy-reasons"].get("startup", 0) for one in stats)
    common.write(json_path, rows, {"growing": growing, "copied_frames": copied})
    return 1 if growing or copied else 0


if __name__ == "__main__":
    sys.exit(common.run(main))
