# SPDX-License-Identifier: MIT
"""Clients of Weston that choose how much there is to do, beside another client's safety surface."""

import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.display import ROLE as SHOWN_ROLE
from lib.forwarding import PYTHON, ROLE, Forwarding, ShmBuffers, Window, random_picture
from lib.program import BUILD, wait_for
from lib.stream_reader import StreamReader
from lib.weston import XRGB8888

from lab.domains.configuration import section
from lab.domains.wayland import Display as Connection
from lab.domains.wayland import Object, ProtocolError

LIBGID = BUILD / "libgid/libgid.so"
LARGE = (1280, 720)
COMMITS = 200
CROWD = 40000  # surfaces
ROUNDS = 200
TWO_ROLES = f"""{ROLE}
[gid-safety]
role=map
clients={PYTHON}
size={LARGE[0]}x{LARGE[1]}
client-ms=0
lease-ms=60000
"""

# Who reads a role gives back what it has seen.
SHOWN = SHOWN_ROLE + section(
    "layer map", "domain=open stream=safety/map x=400 y=0 width=64 height=36"
)


@pytest.fixture
def forwarding(cockpit: Cockpit) -> Iterator[Forwarding]:
    yield Forwarding(cockpit, TWO_ROLES, roles=SHOWN)


# --- pictures ---


@contextmanager
def at_once(connection: Connection) -> Iterator[None]:
    """Sends all requests in one piece."""
    held = []

    def hold(number: int, opcode: int, payload: bytes, fds: Sequence[int] = ()) -> None:
        assert not fds
        held.append(struct.pack("<IHH", number, opcode, 8 + len(payload)) + payload)

    connection.send_raw = hold
    yield
    del connection.send_raw
    connection.socket.sendall(b"".join(held))


def test_commits_without_end(forwarding: Forwarding) -> None:
    """Of those that come at once few are copied and hashed; the newest is shown."""
    place = forwarding.cockpit.socket("cluster")
    with forwarding.connection() as connection:
        window = Window(connection, "map")
        window.take_role("map")
        buffers = ShmBuffers(connection, *LARGE)
        first, last = (random_picture(seed, *LARGE) for seed in (1, 2))
        drawn = [buffers.draw(picture) for picture in (first, last)]
        window.show(drawn[0])
        wait_for(lambda: forwarding.counts("map")["copied_frames"] > 0, "the first picture")
        before = forwarding.counts("map")["copied_frames"]
        with at_once(connection):
            for number in range(COMMITS):
                window.surface("attach", drawn[number == COMMITS - 1], 0, 0)
                window.surface("damage_buffer", 0, 0, *LARGE)
                window.surface("commit")
        connection.roundtrip()
        with StreamReader(LIBGID, place, "safety/map", owner="open") as reader:
            reader.wait_picture(last[..., ::-1])
        copied = forwarding.counts("map")["copied_frames"] - before
        print(f"{copied} of {COMMITS} pictures were copied")
        assert copied < COMMITS / 4


# --- surfaces ---


def create_surfaces(connection: Connection, window: Window) -> None:
    for _ in range(CROWD):
        window.compositor("create_surface")


def create_subsurfaces(connection: Connection, window: Window) -> None:
    """Of the surface that has a role."""
    subcompositor = connection.bind("wl_subcompositor")
    for _ in range(CROWD):
        subcompositor("get_subsurface", window.compositor("create_surface"), window.surface)


def time_run(pid: int) -> float:
    """Of its main thread, seconds."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9


class Others:
    """A window that has the role, and another one, of which a part comes and goes."""

    def __init__(self, forwarding: Forwarding, connection: Connection) -> None:
        self.pid, self.connection = forwarding.weston.pid, connection
        self.window, other = Window(connection), Window(connection, "other")
        self.window.take_role()
        buffers = ShmBuffers(connection)
        self.pictures = [buffers.draw(random_picture(seed)) for seed in (1, 2)]
        self.small = ShmBuffers(connection, 16, 16).draw(random_picture(3, 16, 16))
        self.part = other.compositor("create_surface")
        subcompositor = connection.bind("wl_subcompositor")
        subcompositor("get_subsurface", self.part, other.surface)("set_desync")
        self.window.show(self.pictures[0])
        other.show(self.small)

    def time(self) -> float:
        """Of Weston's, that they take."""
        began = time_run(self.pid)
        for number in range(ROUNDS):
            self.window.surface("attach", self.pictures[number % 2], 0, 0)
            self.window.surface("commit")
            self.part("attach", None if number % 2 else self.small, 0, 0)
            self.part("commit")
            self.connection.roundtrip()
        return time_run(self.pid) - began


@pytest.mark.parametrize("create", [create_surfaces, create_subsurfaces])
def test_surfaces_without_end(
    forwarding: Forwarding, create: Callable[[Connection, Window], None]
) -> None:
    """What is done at a commit does not depend on how many surfaces others have."""
    with forwarding.connection() as connection, forwarding.connection() as hostile:
        others, crowd = Others(forwarding, connection), Window(hostile, "crowd")
        alone = others.time()
        crowd.take_role("map")
        create(hostile, crowd)
        hostile.roundtrip()
        beside = others.time()
        print(f"{alone * 1e3:.0f} ms alone, {beside * 1e3:.0f} ms beside {CROWD} surfaces")
        assert beside < 3 * alone + 0.03
        wait_for(lambda: forwarding.display.role()["state"] == "live", "the role to be live")


# --- memory ---

VIEWS = 10000
HOLDERS, BUFFERS = 8, 1000  # clients, and buffers of each, which may have 1024
SIZE = 16
SETTLED_S = 0.6  # in which what nobody shows settles: 0.25 s


def create_views(connection: Connection, window: Window) -> None:
    """Parts of the window, each of which shows something."""
    subcompositor = connection.bind("wl_subcompositor")
    dot = ShmBuffers(connection, 1, 1).draw(random_picture(4, 1, 1))
    for _ in range(VIEWS):
        part = window.compositor("create_surface")
        subcompositor("get_subsurface", part, window.surface)
        part("attach", dot, 0, 0)
        part("commit")
    window.show(dot)


def create_buffers(connection: Connection, gid: int) -> list[Object]:
    """What they were made by."""
    manager = connection.bind("gid_buffer_manager_v1")
    made = []
    for _ in range(BUFFERS):
        params = manager("create_params")
        params("add", gid >> 32, gid & 0xFFFFFFFF, 0, 0, SIZE * 4, 0, 0)
        params("create_immed", SIZE, SIZE, XRGB8888)
        made.append(params)
    connection.roundtrip()
    return made


def time_revocation(forwarding: Forwarding) -> float:
    """Of Weston's, in which one slab is taken back, of which it has many buffers."""
    with forwarding.owner() as owner, ExitStack() as stack:
        _, gid = owner.call("create", XRGB8888, SIZE, SIZE, 1, 0)
        holders = [stack.enter_context(forwarding.connection()) for _ in range(HOLDERS)]
        made = [create_buffers(each, gid) for each in holders]
        began = time_run(forwarding.weston.pid)
        owner.kill()
        for of_one in made:
            of_one[0].wait("revoked")
            of_one[-1].wait("revoked")
        time.sleep(SETTLED_S)
        return time_run(forwarding.weston.pid) - began


def test_memory_that_is_taken_back(forwarding: Forwarding) -> None:
    """What is done then does not depend on how many surfaces there are, for each buffer."""
    with forwarding.connection() as hostile:
        alone = time_revocation(forwarding)
        create_views(hostile, Window(hostile, "crowd"))
        beside = time_revocation(forwarding)
        print(f"{alone * 1e3:.0f} ms alone, {beside * 1e3:.0f} ms beside {VIEWS} views")
        assert beside < 3 * alone + 0.03


def test_buffers_of_many_clients(forwarding: Forwarding) -> None:
    """A program can connect as often as it likes: all have 8192 together."""
    with forwarding.owner() as owner, ExitStack() as stack:
        _, gid = owner.call("create", XRGB8888, SIZE, SIZE, 1, 0)
        holders = [stack.enter_context(forwarding.connection()) for _ in range(HOLDERS)]
        for each in holders:
            create_buffers(each, gid)
        with forwarding.connection() as beyond, pytest.raises(ProtocolError) as caught:
            create_buffers(beyond, gid)
        assert (caught.value.interface, caught.value.error) == ("wl_display", "no_memory")
        holders[0].close()
        with forwarding.connection() as next_:
            create_buffers(next_, gid)
        for each in holders[1:]:
            each.roundtrip()
