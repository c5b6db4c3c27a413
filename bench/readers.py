#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One camera for 1, 4 and 8 readers in Python: gid against what Python programs have otherwise.

A producer in Python fills each picture with one copy, writes the time into it, and sends it. Each
reader is a process that waits for the picture, looks at every 64th row by numpy, and lets go. Two
things are compared, as medians over the readers: a reader's processor time for each frame, and how
long after it was sent it had the picture as an array. The peers:

shared_memory  multiprocessing.shared_memory, eight slots in turn, and a pipe for each reader that
               says which: the least that works. Nobody sees to it that a slot is not written again.
unixfd         GStreamer's unixfdsink, from memory that needs no copy, unixfdsrc and appsink.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import numpy as np

from bench import common
from lab.domains.program import LabError, Wanting

WIDTH, HEIGHT, SLOTS = 1920, 1080, 8
SIZE = WIDTH * HEIGHT * 4
RATE = 60
WAYS = ("gid", "shared_memory", "unixfd")
CAPS = f"video/x-raw,format=BGRx,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
WARM_UP = 30  # frames that are not counted
STAMP = np.dtype([("sequence", "<u8"), ("time", "<u8")])

Send = Callable[[bytes, int], None]


# --- producers: each makes a function that sends a picture, which begins with a stamp -------------


def stamp_into(pixels: np.ndarray, sequence: int) -> None:
    pixels[: STAMP.itemsize].view(STAMP)[0] = (sequence, time.monotonic_ns())


def send_gid(place: str, readers: int) -> Send:
    import gid

    domain = gid.Domain("open")
    producer = domain.producer("bench", "XR24", WIDTH, HEIGHT, slots=SLOTS)

    def send(picture: bytes, sequence: int) -> None:
        with producer.slot() as slot:
            pixels = slot.reshape(-1)
            pixels[:] = np.frombuffer(picture, np.uint8)
            stamp_into(pixels, sequence)

    return send


def send_shared_memory(place: str, readers: int) -> Send:
    memory = SharedMemory(place, create=True, size=SIZE * SLOTS, track=False)
    whole = np.frombuffer(memory.buf, np.uint8).reshape(SLOTS, SIZE)
    pipes = [os.open(f"/tmp/{place}.{n}", os.O_RDWR | os.O_NONBLOCK) for n in range(readers)]

    def send(picture: bytes, sequence: int) -> None:
        pixels = whole[sequence % SLOTS]
        pixels[:] = np.frombuffer(picture, np.uint8)
        stamp_into(pixels, sequence)
        for pipe in pipes:
            os.write(pipe, bytes([sequence % SLOTS]))

    send.memory = memory  # type: ignore[attr-defined]
    return send


def gstreamer() -> "object":
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    gi.require_version("GstAllocators", "1.0")
    from gi.repository import Gst

    Gst.init(None)
    return Gst


def send_unixfd(place: str, readers: int) -> Send:
    Gst = gstreamer()
    from gi.repository import GstAllocators

    pipeline = Gst.parse_launch(
        f"appsrc name=source caps={CAPS} format=time block=true max-buffers=1 "
        f"! unixfdsink socket-path={place} sync=false"
    )
    GstAllocators.ShmAllocator.init_once()
    pool = Gst.BufferPool()
    config = pool.get_config()
    Gst.BufferPool.config_set_params(config, Gst.Caps.from_string(CAPS), SIZE, SLOTS, 0)
    Gst.BufferPool.config_set_allocator(config, GstAllocators.ShmAllocator.get(), None)
    pool.set_config(config)
    pool.set_active(True)
    pipeline.set_state(Gst.State.PLAYING)
    source = pipeline.get_by_name("source")

    def send(picture: bytes, sequence: int) -> None:
        _, buffer = pool.acquire_buffer(None)
        buffer.fill(0, picture)
        stamp = np.zeros(STAMP.itemsize, np.uint8)
        stamp_into(stamp, sequence)
        buffer.fill(0, stamp.tobytes())
        source.emit("push-buffer", buffer)

    send.pipeline = pipeline  # type: ignore[attr-defined]
    return send


# --- readers: each is an endless iterator of pictures, as bytes one after the other ---------------


def read_gid(place: str, number: int) -> Iterator[np.ndarray]:
    import gid

    for frame in gid.Domain("cluster").consumer("bench", "open"):
        with frame as picture:
            yield picture.reshape(-1)


def read_shared_memory(place: str, number: int) -> Iterator[np.ndarray]:
    pipe = os.open(f"/tmp/{place}.{number}", os.O_RDWR)
    slot = os.read(pipe, 1)
    memory = SharedMemory(place, track=False)
    whole = np.frombuffer(memory.buf, np.uint8).reshape(SLOTS, SIZE)
    while True:
        yield whole[slot[0]]
        slot = os.read(pipe, 1)


def read_unixfd(place: str, number: int) -> Iterator[np.ndarray]:
    Gst = gstreamer()
    while not os.path.exists(place):
        time.sleep(0.02)
    pipeline = Gst.parse_launch(
        f"unixfdsrc socket-path={place} ! appsink name=sink sync=false max-buffers=1 drop=true"
    )
    pipeline.set_state(Gst.State.PLAYING)
    sink = pipeline.get_by_name("sink")
    while True:
        buffer = sink.emit("pull-sample").get_buffer()
        _, mapped = buffer.map(Gst.MapFlags.READ)
        yield np.frombuffer(mapped.data, np.uint8)
        buffer.unmap(mapped)


# --- the processes --------------------------------------------------------------------------------


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def produce(way: str, place: str, readers: int) -> None:
    """Until it is killed."""
    send: Send = globals()[f"send_{way}"](place, readers)
    picture = os.urandom(SIZE)
    due = time.monotonic()
    for sequence in range(1, 2**63):
        send(picture, sequence)
        due += 1 / RATE
        time.sleep(max(0.0, due - time.monotonic()))


def read(way: str, place: str, number: int, frames: int) -> None:
    """Writes a row of figures."""
    late: list[float] = []
    seen, missed, last, cpu = 0, 0, 0, 0.0
    for pixels in globals()[f"read_{way}"](place, number):
        sequence, sent = map(int, pixels[: STAMP.itemsize].view(STAMP)[0])
        now = time.monotonic_ns()
        int(pixels.reshape(HEIGHT, WIDTH, 4)[::64, :, 0].sum(dtype=np.uint64))
        seen += 1
        if seen == WARM_UP:
            cpu, last = cpu_seconds(), sequence
        elif seen > WARM_UP:
            late.append((now - sent) / 1000)
            missed, last = missed + sequence - last - 1, sequence
        if seen == WARM_UP + frames:
            break
    figures = {
        "cpu_us": (cpu_seconds() - cpu) / frames * 1e6,
        "latency_us": statistics.median(late),
        "missed": missed,
    }
    print(json.dumps(figures), flush=True)
    os._exit(0)  # the iterators have no end


def measure(way: str, readers: int, frames: int, folder: Path) -> dict:
    place = f"gid-bench-{os.getpid()}" if way == "shared_memory" else str(folder / "socket")
    pipes = [Path(f"/tmp/{place}.{number}") for number in range(readers)]
    if way == "shared_memory":
        for pipe in pipes:
            os.mkfifo(pipe)
    me = [sys.executable, __file__, "--role"]
    started = []
    try:
        words = [*me, "produce", way, place, str(readers)]
        started.append(subprocess.Popen(words))
        for number in range(readers):
            words = [*me, "read", way, place, str(number), str(frames)]
            started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        limit = 60 + 10 * frames / RATE
        rows = []
        for process in started[1:]:
            said, _ = process.communicate(timeout=limit)
            if process.returncode != 0:
                raise LabError(f"a reader by {way} ended with {process.returncode}")
            rows.append(json.loads(said))
    finally:
        for process in started:
            process.kill()
            process.wait()
        if way == "shared_memory":
            for pipe in pipes:
                pipe.unlink()
            Path(f"/dev/shm/{place}").unlink(missing_ok=True)
        Path(folder / "socket").unlink(missing_ok=True)
    median = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
    return {"way": way, "readers": readers, **median}


def ratios_of(rows: list[dict]) -> dict[str, float]:
    """Below 1: gid is better than the best of the others."""
    ratios = {}
    for readers in sorted({row["readers"] for row in rows}):
        of = {row["way"]: row for row in rows if row["readers"] == readers}
        for name, key in (("cpu", "cpu_us"), ("latency", "latency_us")):
            best = min(row[key] for way, row in of.items() if way != "gid")
            ratios[f"python_{name}_vs_best_peer_{readers}"] = of["gid"][key] / best
    for name in ("cpu", "latency"):
        key = f"python_{name}_vs_best_peer"
        ratios[key] = max(value for other, value in ratios.items() if other.startswith(key))
    return ratios


def main() -> int:
    parser = common.parser("readers", __doc__)
    parser.add_argument("--frames", type=int, default=600, help="for each reader (default: 600)")
    parser.add_argument(
        "--readers", type=int, nargs="+", default=[1, 4, 8], help="how many (default: 1 4 8)"
    )
    parser.add_argument("--role", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        what, way, place, *numbers = options.role
        {"produce": produce, "read": read}[what](way, place, *map(int, numbers))
        return 0
    try:
        import gid  # noqa: F401
    except ImportError:
        raise Wanting("the package gid was not built: python3-cffi is missing") from None
    rows = []
    progress = common.Progress(len(options.readers) * len(WAYS))
    with tempfile.TemporaryDirectory(prefix="gid-", dir=common.memory_folder()) as name:
        folder = Path(name)
        with common.cockpit(folder, "bench"):
            for readers in options.readers:
                for way in WAYS:
                    progress.step(f"{way}, {readers} readers")
                    rows.append(measure(way, readers, options.frames, folder))
    progress.end()
    print(f"{'':14} readers   CPU us a frame   us late   missed of {options.frames}")
    for row in rows:
        print(
            f"{row['way']:14} {row['readers']:7} {row['cpu_us']:16.0f} {row['latency_us']:9.0f}"
            f" {row['missed']:8.0f}"
        )
    ratios = ratios_of(rows)
    for key in ("python_cpu_vs_best_peer", "python_latency_vs_best_peer"):
        print(f"{key}: {ratios[key]:.2f} (the worst of all numbers of readers)")
    common.write(options.json, rows, ratios)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
