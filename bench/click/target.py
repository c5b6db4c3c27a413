# SPDX-License-Identifier: MIT
"""A window of two pictures, of which each press of a button shows the other one.

target.py WIDTH HEIGHT button|whole [shm|gid]   On $WAYLAND_DISPLAY. Both are drawn before the first
                                                press; gid: into memory of $GID_DOMAIN.
"""

import mmap
import os
import sys
import time
from pathlib import Path

from lab.domains.wayland import Display, Object, protocol_files

XRGB = 1  # wl_shm's own code of it
XRGB8888 = 0x34325258
COLOURS = (0xFF3060A0, 0xFFE0C020)
BACKGROUND = 0xFF202020
PATIENCE = 1e9  # seconds: until a signal ends it


class Target:
    def __init__(self, width: int, height: int, change: str, memory: str = "shm") -> None:
        folder = Path(os.environ["XDG_RUNTIME_DIR"])
        self.display = Display(folder / os.environ["WAYLAND_DISPLAY"], protocol_files())
        self.box = (0, 0, width, height)
        if change == "button":
            self.box = (width * 3 // 8, height * 7 // 16, width // 4, height // 8)
        make = {"shm": self.make_shm, "gid": self.make_gids}[memory]
        self.buffers = make(width, height)
        self.shell = self.display.bind("xdg_wm_base", 1)
        self.surface = self.display.bind("wl_compositor", 4)("create_surface")
        self.role = self.shell("get_xdg_surface", self.surface)
        self.role("get_toplevel")("set_fullscreen", None)
        self.surface("commit")
        self.role("ack_configure", *self.role.wait("configure"))
        self.display.wait_until(self.find_seat, "seat", PATIENCE)
        self.seat = self.display.bind("wl_seat", 5)
        self.pointer = None
        self.shown = 0
        path = os.environ.get("GID_TIMELINE")
        self.timeline = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) if path else None

    def make_shm(self, width: int, height: int) -> list[Object]:
        size = width * height * 4
        memory = os.memfd_create("target")
        os.ftruncate(memory, 2 * size)
        data = memoryview(mmap.mmap(memory, 2 * size))
        pool = self.display.bind("wl_shm")("create_pool", memory, 2 * size)
        made = []
        for number, colour in enumerate(COLOURS):
            self.draw(data[number * size : (number + 1) * size], width, colour)
            form = (width, height, width * 4, XRGB)
            made.append(pool("create_buffer", number * size, *form))
        return made

    def make_gids(self, width: int, height: int) -> list[Object]:
        """Slots of a slab, which is there as long as this program."""
        import gid

        domain, slab = gid.ffi.new("struct gid_domain **"), gid.ffi.new("struct gid_slab **")
        layout = gid.ffi.new("struct gid_layout *")
        rest = (0, len(COLOURS), gid.ffi.NULL, slab)
        for error in (
            gid.lib.gid_domain_connect(gid.ffi.NULL, domain),
            gid.lib.gid_layout_init(layout, XRGB8888, width, height, 4),
            gid.lib.gid_slab_create(domain[0], layout, *rest),
        ):
            if error < 0:
                sys.exit(f"target.py: {os.strerror(-error)}")
        manager, made = self.display.bind("gid_buffer_manager_v1"), []
        for slot, colour in enumerate(COLOURS):
            data = gid.lib.gid_slab_data(slab[0], slot)
            self.draw(memoryview(gid.ffi.buffer(data, width * height * 4)), width, colour)
            name = gid.lib.gid_slab_gid(slab[0], slot)
            params = manager("create_params")
            params("add", name >> 32, name & 0xFFFFFFFF, 0, 0, width * 4, 0, 0)
            made.append(params("create_immed", width, height, XRGB8888))
        return made

    def draw(self, pixels: memoryview, width: int, colour: int) -> None:
        x, y, across, down = self.box
        pixels[:] = BACKGROUND.to_bytes(4, "little") * (len(pixels) // 4)
        for row in range(y, y + down):
            begin = (row * width + x) * 4
            pixels[begin : begin + across * 4] = colour.to_bytes(4, "little") * across

    def point(self, name: str) -> None:
        """In the timeline, where there is one."""
        if self.timeline is not None:
            seconds, rest = divmod(time.monotonic_ns(), 10**9)
            os.write(self.timeline, f'{{ "T":[{seconds}, {rest}], "N":"{name}" }}\n'.encode())

    def show(self) -> None:
        self.surface("attach", self.buffers[self.shown], 0, 0)
        self.surface("damage", *self.box)
        self.surface("commit")

    def find_seat(self) -> bool:
        """Some desktops have none before a viewer is there."""
        for event, values in self.display.registry.events:
            if event == "global" and values[1] == "wl_seat":
                self.display.globals["wl_seat"] = (values[0], values[2])
        return "wl_seat" in self.display.globals

    def take_seat(self) -> None:
        """Its pointer may come later."""
        while capabilities := self.seat.take("capabilities"):
            if capabilities[0] & 1 and self.pointer is None:
                self.pointer = self.seat("get_pointer")

    def answer(self) -> bool:
        """Whether a button was pressed."""
        self.take_seat()
        for serial in iter(lambda: self.role.take("configure"), None):
            self.role("ack_configure", *serial)
        for serial in iter(lambda: self.shell.take("ping"), None):
            self.shell("pong", *serial)
        if self.pointer is None:
            return False
        pressed = any(name == "button" and args[3] == 1 for name, args in self.pointer.events)
        self.pointer.events.clear()
        return pressed

    def run(self) -> None:
        self.show()
        while True:
            self.display.wait_until(self.answer, "press", PATIENCE)
            self.point("target_pressed")
            self.shown = 1 - self.shown
            self.show()
            self.point("target_committed")


Target(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]).run()
