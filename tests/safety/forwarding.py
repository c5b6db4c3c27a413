# SPDX-License-Identifier: MIT
"""Weston in `open`, which forwards safety surfaces to gid-cluster in `cluster`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy
from cockpit import Cockpit
from display import HEIGHT, WIDTH, Display
from program import BUILD, Program
from wayland import Display as Connection
from wayland import Object
from weston import SHM_FORMATS, XRGB8888, Weston

SHM_XRGB8888 = SHM_FORMATS[XRGB8888]
PYTHON = Path(sys.executable).resolve()
TELLTALE = BUILD / "clients" / "gid-telltale"

ROLE = f"""
[gid-safety]
role=telltale
clients={TELLTALE}, {PYTHON}
size={WIDTH}x{HEIGHT}
heartbeat-ms=50
[gid-safety]
role=other
clients={PYTHON}
"""


class Forwarding:
    def __init__(self, cockpit: Cockpit, config: str = ROLE, roles: str | None = None) -> None:
        self.cockpit = cockpit
        self.display = Display(cockpit) if roles is None else Display(cockpit, roles)
        self.weston = Weston(cockpit.folder, cockpit.env("open"))
        self.weston.configure(config)
        self.weston.start()
        cockpit.programs.append(self.weston.program)

    def restart_weston(self) -> None:
        self.weston.start()
        self.cockpit.programs.append(self.weston.program)

    def environment(self) -> dict[str, str]:
        return self.weston.environment | {"WAYLAND_DISPLAY": self.weston.socket.name}

    def telltale(self, *arguments: str, role: str = "telltale") -> Program:
        """gid-telltale as a surface of Weston."""
        command = [TELLTALE, "--role", role, *arguments]
        program = Program(command, self.environment(), self.cockpit.folder)
        self.cockpit.programs.append(program)
        return program

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A Wayland client of the test's own."""
        with Connection(self.weston.socket, self.weston.protocols) as connection:
            yield connection

    def counts(self, name: str = "telltale") -> dict:
        """What the module counts of the role's stream, as gidd of `cluster` reads it."""
        for subscription in self.cockpit.status("cluster")["subscriptions"]:
            if subscription["stream"] == f"safety/{name}":
                return subscription["producer_counts"]
        raise AssertionError(f"nobody reads safety/{name}")


class ShmSurface:
    """A window of ordinary shared memory, two buffers of which take turns."""

    def __init__(self, connection: Connection, app_id: str, width: int = WIDTH) -> None:
        self.connection, self.width = connection, width
        self.compositor = connection.bind("wl_compositor", 4)
        self.surface = self.compositor("create_surface")
        xdg_surface = connection.bind("xdg_wm_base", 1)("get_xdg_surface", self.surface)
        toplevel = xdg_surface("get_toplevel")
        toplevel("set_app_id", app_id)
        self.surface("commit")
        (serial,) = xdg_surface.wait("configure")
        xdg_surface("ack_configure", serial)
        self.size = width * HEIGHT * 4
        self.memory = os.memfd_create("surface")
        os.ftruncate(self.memory, 2 * self.size)
        self.pool = connection.bind("wl_shm")("create_pool", self.memory, 2 * self.size)
        self.buffers = [
            self.pool("create_buffer", i * self.size, width, HEIGHT, width * 4, SHM_XRGB8888)
            for i in range(2)
        ]
        self.commits = 0

    def show(self, picture: numpy.ndarray) -> Object:
        """Commits a picture of RGB, and returns its buffer."""
        index = self.commits % 2
        self.commits += 1
        pixels = numpy.full((HEIGHT, self.width, 4), 255, numpy.uint8)
        pixels[..., 2::-1] = picture
        os.pwrite(self.memory, pixels.tobytes(), index * self.size)
        self.surface("attach", self.buffers[index], 0, 0)
        self.surface("damage_buffer", 0, 0, self.width, HEIGHT)
        self.surface("commit")
        self.connection.roundtrip()
        return self.buffers[index]

    def hide(self) -> None:
        self.surface("attach", None, 0, 0)
        self.surface("commit")
        self.connection.roundtrip()


def random_picture(seed: int, width: int = WIDTH) -> numpy.ndarray:
    return numpy.random.default_rng(seed).integers(0, 256, (HEIGHT, width, 3), numpy.uint8)
