# SPDX-License-Identifier: MIT
"""Weston in `open`, which forwards safety surfaces to gid-cluster in `cluster`."""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy
from lib.cockpit import Cockpit
from lib.display import HEIGHT, WIDTH, Display, with_deadline
from lib.program import BUILD, Program
from lib.session import OwnerProcess
from lib.weston import SHM_FORMATS, XRGB8888, Weston

from lab.domains.wayland import Display as Connection
from lab.domains.wayland import Object

PYTHON = Path(sys.executable).resolve()
TELLTALE = BUILD / "clients" / "gid-telltale"
GID_VIEW = BUILD / "clients" / "gid-view"

# The tests' own clients read no events while they look at displays: client-ms. Nor is a display
# late because this machine is: lease-ms.
ROLE = f"""
[gid-safety]
role=telltale
clients={TELLTALE}, {PYTHON}
size={WIDTH}x{HEIGHT}
client-ms=0
lease-ms=60000
"""


class Forwarding:
    def __init__(
        self,
        cockpit: Cockpit,
        config: str = ROLE,
        under: Sequence[str] = (),
        renderer: str = "pixman",
        deadline_ms: int = 10000,
        roles: str | None = None,
        display: Display | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        """`under` is a command that runs Weston, such as valgrind's; `roles`: gid-cluster's.

        `environment`: more for Weston.
        """
        self.cockpit = cockpit
        self.display = display or Display(cockpit, roles or with_deadline(deadline_ms))
        more = environment or {}
        self.weston = Weston(cockpit.folder, cockpit.env("open") | more, renderer)
        self.weston.configure(config)
        self.start_weston(under)

    def start_weston(self, under: Sequence[str] = ()) -> None:
        self.weston.start(under)

    def telltale(self, *arguments: str, role: str = "telltale") -> Program:
        """gid-telltale as a surface of Weston."""
        return self.client([TELLTALE, "--role", role, *arguments])

    def client(self, command: list[str | Path]) -> Program:
        return self.weston.client(command)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A Wayland client of the test's own."""
        with Connection(self.weston.socket, self.weston.protocols) as connection:
            yield connection

    @contextmanager
    def owner(self, domain: str = "open") -> Iterator[OwnerProcess]:
        owner = OwnerProcess(self.cockpit.env(domain))
        try:
            yield owner
        finally:
            owner.stop()

    def counts(self, name: str = "telltale") -> dict:
        """What the module counts of the role's stream, as the display's gidd reads it."""
        for subscription in self.cockpit.status(self.display.domain)["subscriptions"]:
            if subscription["stream"] == f"safety/{name}":
                return subscription["producer_counts"]
        raise AssertionError(f"nobody reads safety/{name}")


class Window:
    """A window of a client of the test's own."""

    def __init__(self, connection: Connection, app_id: str = "org.example.test") -> None:
        self.connection = connection
        self.compositor = connection.bind("wl_compositor", 4)
        self.surface = self.compositor("create_surface")
        self.xdg_surface = connection.bind("xdg_wm_base", 1)("get_xdg_surface", self.surface)
        self.toplevel = self.xdg_surface("get_toplevel")
        self.toplevel("set_app_id", app_id)
        self.safety: Object | None = None
        self.configured = False

    def take_role(self, name: str = "telltale") -> Object:
        manager = self.connection.bind("gid_safety_manager_v1")
        self.safety = manager("get_safety_surface", self.surface, name)
        return self.safety

    def attach(self, buffer: Object | None) -> None:
        """Shows the buffer at the next commit."""
        if not self.configured:
            self.surface("commit")
            (serial,) = self.xdg_surface.wait("configure")
            self.xdg_surface("ack_configure", serial)
            self.configured = True
        self.surface("attach", buffer, 0, 0)
        self.surface("damage_buffer", 0, 0, 0x7FFFFFFF, 0x7FFFFFFF)

    def commit(self) -> None:
        self.surface("commit")
        self.connection.roundtrip()

    def commit_drawn(self) -> None:
        """Commits, and waits until Weston has drawn it."""
        frame = self.surface("frame")
        self.surface("commit")
        frame.wait("done")

    def show(self, buffer: Object | None) -> Object | None:
        self.attach(buffer)
        self.commit()
        return buffer

    def wait_lost(self, reason: str) -> None:
        """Until the client was told that its frames do not arrive, for this reason."""
        reasons = self.safety.interface.enums["reason"]

        def told() -> bool:
            return any(
                name == "lost" and args == (reasons[reason],) for name, args in self.safety.events
            )

        self.connection.wait_until(told, f"lost: {reason}")
        self.safety.events.clear()


def show_each(connection: Connection, gids: list[int], width: int, height: int) -> list[Object]:
    """A window for each; returns what their buffers were made by."""
    manager = connection.bind("gid_buffer_manager_v1")
    made = []
    for index, gid in enumerate(gids):
        params = manager("create_params")
        params("add", gid >> 32, gid & 0xFFFFFFFF, 0, 0, width * 4, 0, 0)
        window = Window(connection, f"window-{index}")
        window.attach(params("create_immed", width, height, XRGB8888))
        window.commit_drawn()
        made.append(params)
    return made


class ShmBuffers:
    """Ordinary shared memory."""

    def __init__(self, connection: Connection, width: int = WIDTH, height: int = HEIGHT) -> None:
        self.connection, self.width, self.height = connection, width, height
        self.memory = os.memfd_create("none")  # of the last buffer

    def draw(self, picture: numpy.ndarray) -> Object:
        """A buffer with the picture, of RGB."""
        return self.draw_raw(bytes_of(picture), SHM_FORMATS[XRGB8888])

    def draw_raw(self, pixels: bytes, code: int) -> Object:
        """A buffer of these words in this format of wl_shm."""
        size = self.width * self.height * 4
        os.close(self.memory)
        self.memory = os.memfd_create("buffer")
        os.ftruncate(self.memory, size)
        os.pwrite(self.memory, pixels, 0)
        pool = self.connection.bind("wl_shm")("create_pool", self.memory, size)
        return pool("create_buffer", 0, self.width, self.height, self.width * 4, code)


class GidBuffers:
    """The slots of a slab, one after the other."""

    def __init__(
        self,
        connection: Connection,
        owner: OwnerProcess,
        folder: Path,
        width: int = WIDTH,
        height: int = HEIGHT,
        slots: int = 4,
        slot_size: int = 0,
    ) -> None:
        self.owner, self.folder, self.width, self.height = owner, folder, width, height
        self.manager = connection.bind("gid_buffer_manager_v1")
        self.slab, *self.gids = owner.call("create", XRGB8888, width, height, slots, slot_size)
        self.slot = 0

    def draw(self, picture: numpy.ndarray) -> Object:
        """A buffer with the picture, of RGB."""
        slot, self.slot = self.slot, self.slot + 1
        with tempfile.NamedTemporaryFile(dir=self.folder) as file:
            file.write(bytes_of(picture))
            file.flush()
            self.owner.call("write", self.slab, slot, file.name)
        gid = self.gids[slot]
        params = self.manager("create_params")
        params("add", gid >> 32, gid & 0xFFFFFFFF, 0, 0, self.width * 4, 0, 0)
        return params("create_immed", self.width, self.height, XRGB8888)


def bytes_of(picture: numpy.ndarray) -> bytes:
    pixels = numpy.full((*picture.shape[:2], 4), 255, numpy.uint8)
    pixels[..., 2::-1] = picture
    return pixels.tobytes()


def random_picture(seed: int, width: int = WIDTH, height: int = HEIGHT) -> numpy.ndarray:
    return numpy.random.default_rng(seed).integers(0, 256, (height, width, 3), numpy.uint8)
