# SPDX-License-Identifier: MIT
"""A single window of Weston ([gid-window]) that is used from another domain, and its menus."""

from collections.abc import Sequence
from pathlib import Path

import numpy
from lib.cockpit import Cockpit
from lib.forwarding import ShmBuffers, Window, random_picture
from lib.input_window import FIXED, bind_seat, seat_devices
from lib.program import BUILD, wait_for
from lib.stream_reader import StreamReader
from lib.typist import LEASE_MS, Typist
from lib.weston import Weston

from lab.domains.wayland import Display, Object

LIBGID = BUILD / "libgid/libgid.so"
APP, STREAM, SEAT = "org.example.map", "map", "input/map"
PLAIN = f"[gid-window]\nstream={STREAM}\napp-id={APP}\n"
INPUT = f"{PLAIN}input=cluster\n"
WIDTH, HEIGHT = 320, 80
TOLD = {"key", "motion", "button", "axis", "down", "up"}


class Used(Window):
    """A window of a program that draws what it is asked for, and what its seat tells it.

    With a parent it is a dialog of that.
    """

    def __init__(
        self,
        connection: Display,
        seed: int = 1,
        seat: str = SEAT,
        size: tuple[int, int] = (WIDTH, HEIGHT),
        parent: "Used | None" = None,
    ) -> None:
        super().__init__(connection, APP)
        if parent is not None:
            self.toplevel("set_parent", parent.toplevel)
        self.seat = bind_seat(connection, seat)
        self.keyboard = self.seat("get_keyboard")
        self.pointer = self.seat("get_pointer")
        self.touch = self.seat("get_touch")
        self.at: tuple = (None, -1, -1)  # surface and place of the pointer
        self.draw(seed, *size)

    def draw(self, seed: int, width: int = WIDTH, height: int = HEIGHT) -> numpy.ndarray:
        picture = random_picture(seed, width, height)
        self.show(ShmBuffers(self.connection, width, height).draw(picture))
        return picture

    def close(self) -> None:
        for part in (self.toplevel, self.xdg_surface, self.surface):
            part("destroy")
        self.connection.roundtrip()

    def wait_keys(self, *expected: tuple[int, int]) -> None:
        """These come next."""
        assert [self.keyboard.wait("key")[2:] for _ in expected] == list(expected)

    def wait_place(self, x: float, y: float, surface: Object | None = None) -> None:
        """Until the pointer is there, to within half a pixel, on this surface of it."""

        def there() -> bool:
            for name, args in self.pointer.events:
                if name == "enter":
                    self.at = args[1:]
                elif name == "motion":
                    self.at = (self.at[0], *args[1:])
            self.pointer.events = [
                one for one in self.pointer.events if one[0] not in ("enter", "motion")
            ]
            on, at_x, at_y = self.at
            return (
                on is (surface or self.surface)
                and abs(at_x / FIXED - x) <= 0.5
                and abs(at_y / FIXED - y) <= 0.5
            )

        self.connection.wait_until(there, f"the pointer at {x}, {y}")

    def told(self) -> set[str]:
        """Of which kinds there were events by now, the shell's focus aside."""
        self.connection.roundtrip()
        devices = (self.keyboard, self.pointer, self.touch)
        return TOLD & {name for device in devices for name, _ in device.events}


class Desk:
    """A Weston in `open`, one window of which is used in `cluster`. `under`: a command that runs
    it, as valgrind's."""

    def __init__(
        self, cockpit: Cockpit, folder: Path, config: str, under: Sequence[str] = ()
    ) -> None:
        self.cockpit = cockpit
        self.weston = Weston(folder, cockpit.env("open"))
        self.weston.configure(config)
        self.weston.start(under)
        self.typist = self.start_typist()

    def start_typist(self, lease_ms: int = LEASE_MS) -> Typist:
        typist = Typist(self.cockpit.env("cluster"), SEAT, lease_ms=lease_ms)
        wait_for(lambda: seat_devices(self.weston, SEAT) == 7, "the seat's devices")
        return typist

    def connect(self) -> Display:
        return Display(self.weston.socket, self.weston.protocols)

    def read(self) -> StreamReader:
        return StreamReader(LIBGID, self.cockpit.socket("cluster"), STREAM, "open")

    def finish(self) -> None:
        self.typist.stop()
        if self.weston.is_running():
            assert self.weston.stop() == 0, self.weston.read_log()


def point(desk: Desk, x: int, y: int) -> None:
    desk.typist.point((x - 1) / WIDTH, y / HEIGHT)
    desk.typist.point(x / WIDTH, y / HEIGHT)


def pointed_at(used: Used) -> Object | None:
    """The surface that has the pointer."""
    entered = [args[1] for name, args in used.pointer.events if name == "enter"]
    return entered[-1] if entered else None


def point_at(desk: Desk, used: Used, x: int, y: int) -> Object | None:
    """The surface that has the pointer then."""
    point(desk, x, y)
    used.connection.roundtrip()
    return pointed_at(used)


class Menu:
    """Of a window, or of another menu, which takes all input by an event of this serial."""

    def __init__(
        self,
        window: Used,
        serial: int | None,
        place: tuple[int, int],
        size: tuple[int, int],
        parent: "Menu | None" = None,
    ) -> None:
        self.window, self.size = window, size
        objects = list(window.connection.objects.values())
        base = next(one for one in objects if one.interface.name == "xdg_wm_base")
        positioner = base("create_positioner")
        positioner("set_size", *size)
        positioner("set_anchor_rect", *place, 1, 1)
        positioner("set_anchor", positioner.interface.enums["anchor"]["top_left"])
        positioner("set_gravity", positioner.interface.enums["gravity"]["bottom_right"])
        self.surface = window.compositor("create_surface")
        self.xdg_surface = base("get_xdg_surface", self.surface)
        on = parent.xdg_surface if parent else window.xdg_surface
        self.popup = self.xdg_surface("get_popup", on, positioner)
        self.configured = False
        if serial is not None:
            self.popup("grab", window.seat, serial)
        self.surface("commit")

    def show(self, seed: int) -> numpy.ndarray:
        """Returns what it shows, as readers see it."""
        if not self.configured:
            (serial,) = self.xdg_surface.wait("configure")
            self.xdg_surface("ack_configure", serial)
            self.configured = True
        picture = random_picture(seed, *self.size)
        self.surface("attach", ShmBuffers(self.window.connection, *self.size).draw(picture), 0, 0)
        self.surface("damage_buffer", 0, 0, *self.size)
        self.surface("commit")
        return picture[..., ::-1]

    def close(self) -> None:
        self.popup("destroy")
        self.xdg_surface("destroy")
        self.surface("destroy")
        self.window.connection.roundtrip()


def click_at(desk: Desk, used: Used, x: int, y: int) -> tuple[Object, int]:
    """The surface that was clicked on, and the serial."""
    point(desk, x, y)
    desk.typist.click()
    serial, _, _, _ = used.pointer.wait("button")
    used.pointer.wait("button")
    return pointed_at(used), serial


def with_box(picture: numpy.ndarray, box: numpy.ndarray, x: int, y: int) -> numpy.ndarray:
    """The picture with another one in it."""
    made = picture.copy()
    made[y : y + box.shape[0], x : x + box.shape[1]] = box
    return made
