# SPDX-License-Identifier: MIT
"""Clients of Weston that send descriptors whose close takes as long as they like, while another
client's telltale is forwarded."""

import fcntl
import mmap
import os
import signal
import socket
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.forwarding import ROLE, Forwarding
from lib.holding import held_pipes
from lib.program import BUILD, wait_for
from lib.stream_reader import StreamReader

from lab.domains.wayland import Disconnected, Display, ProtocolError

# Of a close: whoever waits for it stands still for as long.
LINGER_S, SHORT_LINGER_S = 60, 3
FRAMES = 40  # a heartbeat comes each 50 ms
PATIENCE_S = 30  # with who is to go on
LIBGID = BUILD / "libgid/libgid.so"

far_ends: list[socket.socket] = []


def make_trap(linger_s: int = LINGER_S) -> int:
    """A socket whose last close takes as long: its peer does not read, and it lingers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        trap = socket.create_connection(server.getsockname())
        far_end, _ = server.accept()
    far_ends.append(far_end)
    trap.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
    trap.setblocking(False)
    for _ in range(2):
        with suppress(BlockingIOError):
            while True:
                trap.send(bytes(1 << 16))
        time.sleep(0.01)  # in which the far end takes what it has room for
    trap.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, linger_s))
    return trap.detach()


def is_in_memory(descriptor: int) -> bool:
    try:
        return fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) >= 0
    except OSError:
        return False


def make_nested_trap() -> int:
    """A unix socket in whose queue such a one waits."""
    ours, theirs = socket.socketpair()
    trap = make_trap()
    socket.send_fds(ours, [b"x"], [trap])
    os.close(trap)
    ours.close()
    return theirs.detach()


Attack = Callable[[Display, list[int]], None]


def as_memory(display: Display, traps: list[int]) -> None:
    shm = display.bind("wl_shm")
    for trap in traps:
        shm("create_pool", trap, 4096)


def too_many(display: Display, traps: list[int]) -> None:
    """With one byte: libwayland has room for 28."""
    socket.send_fds(display.socket, [b"x"], traps)


def unread(display: Display, traps: list[int]) -> None:
    """Behind a message that ends the connection, in its queue."""
    display.send_raw(0xDEAD, 0, b"")
    for trap in traps:
        socket.send_fds(display.socket, [bytes(3000)], [trap])
    display.socket.close()


def carry_out(forwarding: Forwarding, display: Display, attack: Attack, traps: list[int]) -> None:
    """Weston has the last copies of the traps when it goes on."""
    forwarding.weston.program.signal(signal.SIGSTOP)
    attack(display, traps)
    for trap in traps:
        os.close(trap)
    forwarding.weston.program.signal(signal.SIGCONT)


@pytest.fixture
def forwarding(cockpit: Cockpit) -> Iterator[Forwarding]:
    yield Forwarding(cockpit, ROLE)
    while far_ends:
        far_ends.pop().close()  # which ends each close that waits


@pytest.mark.parametrize(
    ("attack", "make", "count"),
    [
        (as_memory, make_trap, 1),
        (as_memory, make_nested_trap, 1),
        (too_many, make_trap, 30),
        (unread, make_trap, 4),
    ],
)
def test_nobody_stops_anothers_telltale(
    forwarding: Forwarding, attack: Attack, make: Callable[[], int], count: int
) -> None:
    """Its signs of life come while the close lasts, and not only when that is over."""
    forwarding.telltale("--state", "5")
    forwarding.display.wait_role("live")
    place = forwarding.cockpit.socket("cluster")
    traps = [make() for _ in range(count)]
    with StreamReader(LIBGID, place, "safety/telltale", owner="open") as reader:
        reader.next()
        with forwarding.connection() as connection:
            begun = time.monotonic()
            carry_out(forwarding, connection, attack, traps)
            for _ in range(FRAMES):
                reader.next()
            passed = time.monotonic() - begun
    print(f"{FRAMES} frames came within {passed:.3f} s")
    assert passed < LINGER_S
    assert [t["reason"] for t in forwarding.display.role()["transitions"]] == ["none"]


def test_a_pipe_that_is_locked(forwarding: Forwarding) -> None:
    """By who reads it into memory that never comes: its close waits, and Weston does not."""
    forwarding.telltale("--state", "5")
    forwarding.display.wait_role("live")
    place = forwarding.cockpit.socket("cluster")
    with (
        StreamReader(LIBGID, place, "safety/telltale", owner="open") as reader,
        held_pipes(forwarding.cockpit, forwarding.weston, "pool"),
    ):
        for _ in range(FRAMES):
            reader.next()
    assert [t["reason"] for t in forwarding.display.role()["transitions"]] == ["none"]


@pytest.mark.parametrize("kind", ["plane", "position"])
def test_what_is_no_dmabuf(cockpit: Cockpit, kind: str) -> None:
    """A pipe that is locked, or a file whose position is: libweston closes the one, and asks how
    long the other is."""
    forwarding = Forwarding(cockpit, ROLE, renderer="gl")
    if not forwarding.weston.has_global("zwp_linux_dmabuf_v1"):
        pytest.skip("this renderer takes no dma-bufs")
    with forwarding.connection() as other, held_pipes(cockpit, forwarding.weston, kind):
        other.roundtrip(PATIENCE_S)


@pytest.mark.parametrize("immediately", [True, False])
def test_what_is_offered_as_a_dmabuf(cockpit: Cockpit, immediately: bool) -> None:
    """And is none: its client is refused, and nobody else. The driver of the renderer never has it:
    a pipe, whose size nobody knows, or memory."""
    forwarding = Forwarding(cockpit, ROLE, renderer="gl")
    if not forwarding.weston.has_global("zwp_linux_dmabuf_v1"):
        pytest.skip("this renderer takes no dma-bufs")
    offers = [os.memfd_create("none"), os.eventfd(0), *os.pipe(), socket.socketpair()[0].detach()]
    os.ftruncate(offers[0], mmap.PAGESIZE)
    with forwarding.connection() as other:
        for offer in offers:
            with forwarding.connection() as connection:
                params = connection.bind("zwp_linux_dmabuf_v1", 3)("create_params")
                params("add", offer, 0, 0, 64, 0, 0)
                request = "create_immed" if immediately else "create"
                params(request, 16, 16, int.from_bytes(b"XR24", "little"), 0)
                with pytest.raises(ProtocolError, match="out_of_bounds"):
                    connection.roundtrip(PATIENCE_S)
            other.roundtrip(PATIENCE_S)
    told = forwarding.weston.read_log().count("offered as a dma-buf what is none")
    assert told == len(offers)


def test_who_gave_it_pays(forwarding: Forwarding) -> None:
    """A client that leaves has sent more pipes than one may, which are locked, without a message:
    Weston closes them when it has read from another one last. That one goes on."""
    with (
        forwarding.connection() as other,
        held_pipes(forwarding.cockpit, forwarding.weston, "unread") as holder,
    ):
        while "gone" not in holder.stdout:
            assert holder.is_running(), holder.stderr
            other.roundtrip(PATIENCE_S)
        for _ in range(FRAMES):
            other.roundtrip(PATIENCE_S)


def test_who_sends_such_without_end_is_hung_up_on(forwarding: Forwarding) -> None:
    """And the descriptors of Weston do not run out."""
    for _ in range(8):
        with forwarding.connection() as connection:
            traps = [make_trap(SHORT_LINGER_S) for _ in range(60)]
            carry_out(forwarding, connection, too_many, traps)
    wait_for(lambda: len(forwarding.weston.descriptors()) < 300, "Weston's descriptors")
    forwarding.telltale("--state", "5")
    forwarding.display.wait_role("live")


def test_memory_and_pipes_come_through(forwarding: Forwarding) -> None:
    with forwarding.connection() as connection:
        shm = connection.bind("wl_shm")
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as named:
            for descriptor in (os.memfd_create("plain"), os.dup(named.fileno())):
                os.ftruncate(descriptor, mmap.PAGESIZE)
                pool = shm("create_pool", descriptor, mmap.PAGESIZE)
                pool("create_buffer", 0, 16, 16, 64, 0)
                os.close(descriptor)
        connection.roundtrip()


def test_what_is_refused_is_told(forwarding: Forwarding) -> None:
    with forwarding.connection() as connection:
        carry_out(forwarding, connection, as_memory, [make_trap()])
        with pytest.raises((ProtocolError, Disconnected)):
            connection.roundtrip()
    forwarding.weston.wait_log("neither memory (memfd, tmpfs), a dma-buf, a pipe nor a fence")


def test_a_file_of_a_disk_is_none(forwarding: Forwarding, tmp_path: Path) -> None:
    """It can be one of FUSE: nobody asks a file system."""
    path = tmp_path / "file"
    path.write_bytes(bytes(mmap.PAGESIZE))
    with path.open("rb") as file:
        if is_in_memory(file.fileno()):
            pytest.skip("the folder of temporary files is in memory here")
    with forwarding.connection() as connection:
        descriptor = os.open(path, os.O_RDWR)
        connection.bind("wl_shm")("create_pool", descriptor, mmap.PAGESIZE)
        os.close(descriptor)
        with pytest.raises((ProtocolError, Disconnected)):
            connection.roundtrip()


def test_large_pools_are_freed(forwarding: Forwarding) -> None:
    """By another thread: to unmap what a client has filled takes its time."""
    size = 256 << 20
    with forwarding.connection() as connection:
        descriptor = os.memfd_create("large")
        inode = os.fstat(descriptor).st_ino
        os.posix_fallocate(descriptor, 0, size)
        pool = connection.bind("wl_shm")("create_pool", descriptor, size)
        connection.roundtrip()
        assert forwarding.weston.permissions_of(inode) == ["rw-s"]
        pool("destroy")
        os.close(descriptor)
        wait_for(lambda: not forwarding.weston.permissions_of(inode), "the memory to be freed")
        connection.roundtrip()


def test_libwayland_is_guarded(forwarding: Forwarding) -> None:
    assert "closed by Weston itself" not in forwarding.weston.read_log()
