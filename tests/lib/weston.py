# SPDX-License-Identifier: MIT
"""Weston with gid-buffer.so, headless, and a client that shows gid buffers in it."""

import mmap
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy
from lib.inspected import Inspected
from lib.program import BUILD, Program, Room, wait_for

from lab.domains import weston
from lab.domains.wayland import Display, Object, protocol_files

WIDTH, HEIGHT = 320, 240  # of the output, in pixels
XRGB8888, ARGB8888, XBGR8888, ABGR8888 = 0x34325258, 0x34325241, 0x34324258, 0x34324241
SHM_FORMATS = {ARGB8888: 0, XRGB8888: 1, XBGR8888: XBGR8888, ABGR8888: ABGR8888}  # wl_shm's codes

BACKGROUND = "background-color=0xff000000\n"
SHELL_CONFIG = f"{weston.SHELL}{BACKGROUND}"


class Weston(weston.Weston, Inspected):
    """One Weston, which may be started again and again, with `environment`."""

    program: Program | None = None

    def __init__(
        self,
        folder: Path,
        environment: dict[str, str],
        renderer: str = "pixman",
        kind: str = "desktop",
        options: Iterable[str] = (),
        scopes: str = "log,gid",
    ) -> None:
        module = {"WESTON_MODULE_MAP": f"gid-buffer.so={BUILD / 'weston-plugin/gid-buffer.so'}"}
        super().__init__(
            Room(folder, environment | module),
            options=[f"--width={WIDTH}", f"--height={HEIGHT}", "--debug", *options],
            shell=BACKGROUND,
            log=folder / "weston.log",
            renderer=renderer,
            kind=kind,
            scopes=scopes,
        )
        self.folder = folder
        self.protocols = protocol_files()

    def _is_ready(self) -> bool:
        """By what its clients see: of some tests the log has nothing but a timeline."""
        return self.has_global("gid_buffer_manager_v1")

    def client(self, command: Sequence[str | Path], **environment: str) -> Program:
        """A program that shows something in it."""
        return Program(command, self.environment | environment, self.folder)

    @property
    def environment(self) -> dict[str, str]:
        """Of its clients, once it was started."""
        return self.place.environment

    def has_global(self, interface: str) -> bool:
        try:
            with Display(self.socket, self.protocols) as display:
                return interface in display.globals
        except (FileNotFoundError, ConnectionRefusedError):
            return False

    def stop(self) -> int:
        """Ends it in good order. Returns its exit status."""
        return self.program.stop()

    def kill(self) -> None:
        self.program.kill()

    @property
    def pid(self) -> int:
        return self.program.pid

    def is_running(self) -> bool:
        return self.program is not None and self.program.is_running()

    def wait_log(self, text: str) -> None:
        wait_for(lambda: text in self.read_log(), f"{text!r} in the log of weston")

    def screenshot(self, name: str | None = None) -> numpy.ndarray:
        """An output as height x width x (blue, green, red); by default the first one."""
        with Display(self.socket, self.protocols) as display:
            output = bind_output(display, name) if name else display.bind("wl_output", 1)
            capture = display.bind("weston_capture_v1")
            framebuffer = capture.interface.enums["source"]["framebuffer"]
            source = capture("create", output, framebuffer)
            (fourcc,) = source.wait("format")
            width, height = source.wait("size")
            assert fourcc in SHM_FORMATS, hex(fourcc)
            memory = os.memfd_create("screenshot")
            os.ftruncate(memory, width * height * 4)
            pool = display.bind("wl_shm")("create_pool", memory, width * height * 4)
            buffer = pool("create_buffer", 0, width, height, width * 4, SHM_FORMATS[fourcc])
            source("capture", buffer)
            display.wait_until(lambda: source.has("complete") or source.has("failed"), "screenshot")
            assert source.has("complete"), source.events
            with mmap.mmap(memory, width * height * 4, prot=mmap.PROT_READ) as data:
                pixels = numpy.frombuffer(data, numpy.uint8).reshape(height, width, 4).copy()
            os.close(memory)
            return pixels[..., 2::-1] if fourcc in (XBGR8888, ABGR8888) else pixels[..., :3]


class Client:
    """A client with one fullscreen window and the gid buffers that a test makes."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self.compositor = display.bind("wl_compositor", 4)
        self.manager: Object | None = None  # of gid buffers, where the compositor has one
        if "gid_buffer_manager_v1" in display.globals:
            self.manager = display.bind("gid_buffer_manager_v1")
        self.surface: Object | None = None
        self.redraws = 0

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.display.close()

    def open_window(self, output: Object | None = None) -> Object:
        """A fullscreen surface that may be attached to, on an output of the compositor's choice."""
        wm = self.display.bind("xdg_wm_base", 1)
        self.surface = self.compositor("create_surface")
        xdg_surface = wm("get_xdg_surface", self.surface)
        toplevel = xdg_surface("get_toplevel")
        toplevel("set_fullscreen", output)
        self.surface("commit")
        (serial,) = xdg_surface.wait("configure")
        xdg_surface("ack_configure", serial)
        return self.surface

    def params(
        self, gid: int, stride: int, offset: int = 0, plane: int = 0, modifier: int = 0
    ) -> Object:
        params = self.manager("create_params")
        self.add(params, gid, stride, offset, plane, modifier)
        return params

    def add(
        self,
        params: Object,
        gid: int,
        stride: int,
        offset: int = 0,
        plane: int = 0,
        modifier: int = 0,
    ) -> None:
        hi, lo = gid >> 32, gid & 0xFFFFFFFF
        params("add", hi, lo, plane, offset, stride, modifier >> 32, modifier & 0xFFFFFFFF)

    def create(
        self, gid: int, width: int = WIDTH, height: int = HEIGHT, fourcc: int = XRGB8888
    ) -> tuple[Object, Object | None]:
        """The params object, and the wl_buffer or None for `failed`."""
        params = self.params(gid, width * 4)
        params("create", width, height, fourcc)
        return params, wait_created(params)

    def create_immed(
        self, gid: int, width: int = WIDTH, height: int = HEIGHT, fourcc: int = XRGB8888
    ) -> tuple[Object, Object]:
        params = self.params(gid, width * 4)
        return params, params("create_immed", width, height, fourcc)

    def show(self, buffer: Object) -> None:
        """Attaches, commits and waits until it was drawn."""
        self.surface("attach", buffer, 0, 0)
        self.surface("damage", 0, 0, WIDTH, HEIGHT)
        self.commit()

    def redraw(self) -> None:
        """Has the surface drawn again without a new buffer, and waits for it.

        Weston heeds damage only beside a buffer, but for a new opaque region it draws everything.
        """
        self.redraws += 1
        region = self.compositor("create_region")
        region("add", 0, 0, 1 + self.redraws % 2, 1)
        self.surface("set_opaque_region", region)
        region("destroy")
        self.commit()

    def commit(self) -> None:
        frame = self.surface("frame")
        self.surface("commit")
        frame.wait("done")


def wait_created(params: Object) -> Object | None:
    """The new wl_buffer, or None for `failed`."""
    params.display.wait_until(
        lambda: params.has("created") or params.has("failed"), "created or failed"
    )
    created = params.take("created")
    if created:
        return created[0]
    params.take("failed")
    return None


def lit(shot: numpy.ndarray) -> numpy.ndarray:
    """The part of a screenshot that is not black: a window, wherever the shell put it."""
    places = numpy.argwhere(shot.any(axis=2))
    if not len(places):
        return shot[:0]
    (top, left), (bottom, right) = places.min(axis=0), places.max(axis=0) + 1
    return shot[top:bottom, left:right]


def bind_output(display: Display, name: str) -> Object:
    """The wl_output of that name."""
    for event, (number, interface, _) in list(display.registry.events):
        if event != "global" or interface != "wl_output":
            continue
        display.globals["wl_output"] = (number, 4)
        output = display.bind("wl_output", 4)
        if output.wait("name") == (name,):
            return output
    raise AssertionError(f"no output {name}")
