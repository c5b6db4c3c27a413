# SPDX-License-Identifier: MIT
"""The ways by which pictures of a camera reach readers: who sends, who reads, and what it takes.

Each producer fills a picture with one copy, writes a stamp into it, and sends it. Each reader is an
endless iterator of pictures, as arrays of rows, pixels and bytes: in the way that takes a program
least. Who gets bytes one after the other makes such an array of them.
"""

import contextlib
import ctypes
import json
import mmap
import os
import resource
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import numpy as np
from gid_vm.preload import Preload

from scripts.pip_package import bring

SLOTS = 8
STREAM = "bench"
STAMP = struct.Struct("<QQ")  # its number, and when it is sent, ns
STAMPED = STAMP.size // 4  # pixels
# The first is that of which the second is a part, which it wants in just this version.
ICEORYX2 = {"gst-plugin-iceoryx2": "0.0.6", "iceoryx2": "0.9.1"}
ZENOH = {"eclipse-zenoh": "1.10.2"}
ZENOH_MORE = 8 << 20  # bytes: what it locks beside the pictures is less
# Named in the table all the same.
NEVER = {
    "iceoryx2src": "it takes BGR, RGB, I420 and NV12, and these pictures are BGRx",
}

Send = Callable[[int], None]


@dataclass(frozen=True)
class Place:
    """Where a measurement has its files, and what its pictures are."""

    folder: str
    width: int
    height: int
    rate: int
    readers: int
    port: int  # of this machine, free

    @property
    def size(self) -> int:
        return self.width * self.height * 4

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.height, self.width, 4

    @property
    def caps(self) -> str:
        size = f"width={self.width},height={self.height}"
        return f"video/x-raw,format=BGRx,{size},framerate={self.rate}/1"

    def file(self, name: str) -> str:
        return str(Path(self.folder) / name)

    def text(self) -> str:
        return json.dumps(asdict(self))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def picture_of(place: Place) -> bytes:
    """The same in every process."""
    return np.random.default_rng(35).bytes(place.size)


def stamp(sequence: int) -> bytes:
    return STAMP.pack(sequence, time.monotonic_ns())


def write_stamp(pixels: np.ndarray, sequence: int) -> None:
    """Into the first pixels."""
    said = np.frombuffer(stamp(sequence), np.uint8)
    pixels[0, :STAMPED] = said.reshape(STAMPED, 4)


def stamp_of(pixels: np.ndarray) -> tuple[int, int]:
    """Its number, and when it was sent."""
    return STAMP.unpack(pixels[0, :STAMPED].tobytes())


def python_path(packages: dict[str, str]) -> str:
    """With packages of PyPI, in just these versions; without those that pip cannot bring."""
    folders = [bring(*package) for package in packages.items()]
    here = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    return os.pathsep.join([*map(str, filter(None, folders)), *here])


# --- gid ------------------------------------------------------------------------------------------


def send_gid(place: Place, picture: bytes) -> Send:
    import gid

    size = place.width, place.height
    producer = gid.Domain("open").producer(STREAM, "XR24", *size, slots=SLOTS)
    source = np.frombuffer(picture, np.uint8).reshape(place.shape)

    def send(sequence: int) -> None:
        with producer.slot() as slot:
            slot[:] = source
            write_stamp(slot, sequence)

    return send


def read_gid(place: Place) -> Iterator[np.ndarray]:
    import gid

    return gid.Domain("cluster").consumer(STREAM, "open").pictures()


def read_gidsrc(place: Place) -> Iterator[np.ndarray]:
    os.environ["GID_DOMAIN"] = "cluster"
    yield from read_pipeline(f"gidsrc domain=open stream={STREAM}", place)


# --- what Python has by itself: eight slots in turn, and a pipe for each reader that says which ---


def pipe_of(place: Place, number: int) -> str:
    return place.file(f"pipe-{number}")


def send_shared_memory(place: Place, picture: bytes) -> Send:
    name, size = Path(place.folder).name, place.size
    try:
        memory = SharedMemory(name, create=True, size=size * SLOTS, track=False)
    except FileExistsError:  # its producer was killed: readers have it still
        memory = SharedMemory(name, track=False)
    whole = np.frombuffer(memory.buf, np.uint8)[: size * SLOTS].reshape(SLOTS, *place.shape)
    source = np.frombuffer(picture, np.uint8).reshape(place.shape)
    pipes = [pipe_of(place, number) for number in range(place.readers)]
    for pipe in pipes:
        with contextlib.suppress(FileExistsError):
            os.mkfifo(pipe)
    opened = [os.open(pipe, os.O_RDWR | os.O_NONBLOCK) for pipe in pipes]

    def send(sequence: int) -> None:
        pixels = whole[sequence % SLOTS]
        pixels[:] = source
        write_stamp(pixels, sequence)
        for pipe in opened:
            with contextlib.suppress(BlockingIOError):  # who does not read misses it
                os.write(pipe, bytes([sequence % SLOTS]))

    send.memory = memory  # type: ignore[attr-defined]
    return send


def read_shared_memory(place: Place, number: int) -> Iterator[np.ndarray]:
    name = pipe_of(place, number)
    while not os.path.exists(name):
        time.sleep(0.02)
    pipe = os.open(name, os.O_RDWR)
    slot = os.read(pipe, 1)
    memory = SharedMemory(Path(place.folder).name, track=False)
    whole = np.frombuffer(memory.buf, np.uint8)[: place.size * SLOTS].reshape(SLOTS, *place.shape)
    pictures = list(whole)
    while True:
        yield pictures[slot[0]]
        slot = os.read(pipe, 1)


# --- GStreamer ------------------------------------------------------------------------------------


def gstreamer() -> Any:
    import gi

    for name in ("Gst", "GstApp", "GstAllocators"):
        gi.require_version(name, "1.0")
    from gi.repository import Gst

    Gst.init(None)
    return Gst


def send_unixfd(place: Place, picture: bytes) -> Send:
    """From memory that needs no copy."""
    Gst = gstreamer()
    from gi.repository import GstAllocators

    Path(place.file("socket")).unlink(missing_ok=True)  # of a producer that was killed
    pipeline = Gst.parse_launch(
        f"appsrc name=source caps={place.caps} format=time block=true max-buffers=1 "
        f"! unixfdsink socket-path={place.file('socket')} sync=false"
    )
    GstAllocators.ShmAllocator.init_once()
    pool = Gst.BufferPool()
    config = pool.get_config()
    caps = Gst.Caps.from_string(place.caps)
    Gst.BufferPool.config_set_params(config, caps, place.size, SLOTS, 0)
    Gst.BufferPool.config_set_allocator(config, GstAllocators.ShmAllocator.get(), None)
    pool.set_config(config)
    pool.set_active(True)
    pipeline.set_state(Gst.State.PLAYING)
    source = pipeline.get_by_name("source")

    def send(sequence: int) -> None:
        _, buffer = pool.acquire_buffer(None)
        buffer.fill(0, picture)
        buffer.fill(0, stamp(sequence))
        source.emit("push-buffer", buffer)

    send.pipeline = pipeline  # type: ignore[attr-defined]
    return send


def samples(source: str) -> Iterator[Any]:
    """The buffers of a pipeline."""
    Gst = gstreamer()
    sink = "appsink name=sink sync=false max-buffers=1 drop=true"
    pipeline = Gst.parse_launch(f"{source} ! {sink}")
    pipeline.set_state(Gst.State.PLAYING)
    sink = pipeline.get_by_name("sink")
    while (sample := sink.emit("pull-sample")) is not None:
        yield sample.get_buffer()
        del sample


def read_pipeline(source: str, place: Place) -> Iterator[np.ndarray]:
    """As Python programs do it: PyGObject's map() copies."""
    Gst = gstreamer()
    for buffer in samples(source):
        _, mapped = buffer.map(Gst.MapFlags.READ)
        yield np.frombuffer(mapped.data, np.uint8).reshape(place.shape)
        buffer.unmap(mapped)


def unixfdsrc(place: Place) -> str:
    while not os.path.exists(place.file("socket")):
        time.sleep(0.02)
    return f"unixfdsrc socket-path={place.file('socket')}"


def read_unixfd(place: Place) -> Iterator[np.ndarray]:
    yield from read_pipeline(unixfdsrc(place), place)


def read_unixfd_itself(place: Place) -> Iterator[np.ndarray]:
    """The memory that others see, which map() does not show to Python."""
    gstreamer()
    from gi.repository import GstAllocators

    for buffer in samples(unixfdsrc(place)):
        memory = buffer.peek_memory(0)
        _, start, _ = memory.get_sizes()
        descriptor = GstAllocators.fd_memory_get_fd(memory)
        whole = mmap.mmap(descriptor, start + place.size, mmap.MAP_SHARED, mmap.PROT_READ)
        yield np.frombuffer(whole, np.uint8)[start:].reshape(place.shape)


# --- iceoryx2, by the package of gst-plugin-iceoryx2 ----------------------------------------------


def iceoryx2_node(place: Place) -> Any:
    """What it leaves lies in the measurement's folder, and is seen by nobody else."""
    import iceoryx2 as iox2

    iox2.set_log_level(iox2.LogLevel.Fatal)
    config = iox2.config.global_config()
    config.global_cfg.root_path = iox2.Path.new(place.file("iceoryx2"))
    config.global_cfg.prefix = iox2.FileName.new(f"{Path(place.folder).name}_")
    return iox2.NodeBuilder.new().config(config).create(iox2.ServiceType.Ipc)


def send_iceoryx2(place: Place, picture: bytes) -> Send:
    node = iceoryx2_node(place)
    from gst_iceoryx2.video import FrameParams, VideoFramePublisher

    publisher = VideoFramePublisher(STREAM, max_bytes=place.size, iox2_node=node)
    params = FrameParams(width=place.width, height=place.height, format="BGRA")
    source = (ctypes.c_uint8 * place.size).from_buffer(bytearray(picture))

    def send(sequence: int) -> None:
        ctypes.memmove(source, stamp(sequence), STAMP.size)
        publisher.publish_frame(source, params)

    return send


def read_iceoryx2(place: Place) -> Iterator[np.ndarray]:
    node = iceoryx2_node(place)
    from gst_iceoryx2.video import VideoFrameSubscriber

    subscriber = VideoFrameSubscriber(STREAM, iox2_node=node)
    while True:
        frame = subscriber.receive_blocking()
        if frame is not None:
            yield frame.numpy_view()
        del frame  # gives it back


# --- zenoh, by its shared memory ------------------------------------------------------------------


def zenoh_session(connections: str, place: Place) -> Any:
    import zenoh

    most = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))
    config = zenoh.Config()
    for key, value in {
        "mode": "peer",
        "listen/endpoints": [],
        "scouting/multicast/enabled": False,
        "scouting/gossip/enabled": False,
        "transport/shared_memory/enabled": True,
        connections: [f"tcp/127.0.0.1:{place.port}"],
    }.items():
        config.insert_json5(key, json.dumps(value))
    return zenoh.open(config)


def zenoh_memory(size: int) -> int:
    """Bytes that are shared for pictures of a size. Each process locks them."""
    return size * (SLOTS + 1)


def may_lock(place: Place) -> bool:
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    return limit == resource.RLIM_INFINITY or limit >= zenoh_memory(place.size) + ZENOH_MORE


def send_zenoh(place: Place, picture: bytes) -> Send:
    session = zenoh_session("listen/endpoints", place)
    import zenoh

    provider = zenoh.shm.ShmProvider.default_backend(zenoh_memory(place.size))
    policy = zenoh.shm.GarbageCollect()
    drop = zenoh.CongestionControl.DROP
    publisher = session.declare_publisher(STREAM, congestion_control=drop, express=True)

    def send(sequence: int) -> None:
        try:
            buffer = provider.alloc(place.size, policy)
        except zenoh.ZError:
            return  # no memory is free: nobody gets this one
        buffer[:] = picture
        buffer[: STAMP.size] = stamp(sequence)
        publisher.put(buffer)

    send.session = session  # type: ignore[attr-defined]
    return send


def zenoh_payloads(place: Place) -> Iterator[Any]:
    session = zenoh_session("connect/endpoints", place)
    import zenoh

    subscriber = session.declare_subscriber(STREAM, zenoh.handlers.RingChannel(2))
    while True:
        sample = subscriber.recv()
        yield sample.payload
        del sample


def read_zenoh(place: Place) -> Iterator[np.ndarray]:
    """Python gets the bytes of a payload as a copy alone."""
    for payload in zenoh_payloads(place):
        yield np.frombuffer(payload.to_bytes(), np.uint8).reshape(place.shape)


def shared_memory_with(start: bytes, size: int) -> np.ndarray | None:
    """Where such a picture lies in a file that this process shares."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        bounds, rights, *_ = line.split(maxsplit=2)
        begin, end = (int(one, 16) for one in bounds.split("-"))
        if rights[0] == "r" and rights[3] == "s" and end - begin >= size:
            whole = np.frombuffer((ctypes.c_uint8 * (end - begin)).from_address(begin), np.uint8)
            words = whole.view("<u8")
            first, second = np.frombuffer(start, "<u8")
            for at in np.flatnonzero((words[:-1] == first) & (words[1:] == second)):
                found = whole[8 * at : 8 * at + size]
                found.flags.writeable = False  # nothing of this is what zenoh offers
                return found
    return None


def read_zenoh_itself(place: Place) -> Iterator[np.ndarray]:
    for payload in zenoh_payloads(place):
        start = payload.to_bytes()[: STAMP.size]
        pixels = shared_memory_with(start, place.size)
        if pixels is not None:
            yield pixels.reshape(place.shape)


# --- all of them ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    send: Callable[[Place, bytes], Send]
    read: Callable[..., Iterator[np.ndarray]]
    itself: Callable[..., Iterator[np.ndarray]] | None = None  # where `read` gives a copy
    packages: dict[str, str] = field(default_factory=dict)
    module: str = ""
    element: str = ""
    program: str = ""  # that reads, in place of this one


WAYS = {
    "gid": Way(send_gid, read_gid, module="gid"),
    "gid in C": Way(send_gid, read_gid, module="gid", program="gid-bench-reader"),
    "gidsrc": Way(send_gid, read_gidsrc, module="gid", element="gidsrc"),
    "iceoryx2": Way(send_iceoryx2, read_iceoryx2, packages=ICEORYX2, module="gst_iceoryx2.video"),
    "zenoh": Way(send_zenoh, read_zenoh, read_zenoh_itself, packages=ZENOH, module="zenoh.shm"),
    "shared_memory": Way(send_shared_memory, read_shared_memory),
    "unixfd": Way(send_unixfd, read_unixfd, read_unixfd_itself, element="unixfdsink"),
}
OURS = ("gid", "gid in C", "gidsrc")


def lacks(name: str) -> str | None:
    """Why it cannot be measured here."""
    way = WAYS[name]
    for package, version in way.packages.items():
        if bring(package, version) is None:
            return f"pip cannot install {package} {version} here"
    if way.module:
        words = [sys.executable, "-c", f"import {way.module}"]
        environment = os.environ | {"PYTHONPATH": python_path(way.packages)}
        tried = subprocess.run(words, env=environment, capture_output=True, text=True)
        if tried.returncode != 0:
            return (tried.stderr.strip().splitlines() or ["it cannot be imported"])[-1]
    if way.element:
        words = ["gst-inspect-1.0", "--exists", way.element]
        if subprocess.run(words, capture_output=True).returncode != 0:
            return f"there is no {way.element} here"
    if way.program and shutil.which(way.program) is None:
        return f"{way.program} was not built"
    return None


def preload(name: str, place: Place) -> Preload | None:
    """For its processes. zenoh does nothing at all where mlock() is refused."""
    if name == "zenoh" and not may_lock(place):
        return Preload(os.environ["GID_BENCH_UNLOCKED_LIBRARY"])
    return None


def read(name: str, place: Place, number: int, itself: bool = False) -> Iterator[np.ndarray]:
    """`itself`: the memory that others have, too, if it need be in a way that nobody would take."""
    way = WAYS[name]
    reader = way.itself if itself and way.itself else way.read
    return reader(place, number) if reader is read_shared_memory else reader(place)
