# SPDX-License-Identifier: MIT
"""A fullscreen window, and what a compositor's seat tells it."""

from collections.abc import Callable
from pathlib import Path

from lib.painter import Painter
from lib.weston import Weston

from lab.domains.wayland import Disconnected, Display, Object

FIXED = 256  # parts of a pixel
KEYBOARD = 2  # among a seat's devices


def bind_seat(display: Display, name: str) -> Object:
    """The wl_seat of that name."""
    for event, (number, interface, _) in list(display.registry.events):
        if event != "global" or interface != "wl_seat":
            continue
        display.globals["wl_seat"] = (number, 5)
        seat = display.bind("wl_seat", 5)
        if seat.wait("name") == (name,):
            return seat
    raise AssertionError(f"no seat {name}")


def wait_keyboard(seat: Object) -> None:
    """Whoever asks for one before the seat has it never hears of it, also when there is one."""

    def has_keyboard() -> bool:
        told = [args[0] for event, args in seat.events if event == "capabilities"]
        return bool(told) and told[-1] & KEYBOARD != 0

    seat.display.wait_until(has_keyboard, "a seat with a keyboard")


def seat_devices(weston: Weston, name: str) -> int:
    """1: a pointer, 2: a keyboard, 4: touch."""
    with Display(weston.socket, weston.protocols) as display:
        return bind_seat(display, name).wait("capabilities")[0]


class Lock:
    """A pointer that a program has locked to its surface, and how it moves."""

    def __init__(self, display: Display, surface: Object, pointer: Object) -> None:
        self.display, self.pointer = display, pointer
        manager = display.bind("zwp_relative_pointer_manager_v1")
        self.relative = manager("get_relative_pointer", pointer)
        constraints = display.bind("zwp_pointer_constraints_v1")
        persistent = constraints.interface.enums["lifetime"]["persistent"]
        self.lock = constraints("lock_pointer", surface, pointer, None, persistent)
        self.lock.wait("locked")

    def wait_moved(self, x: float, y: float) -> None:
        """By so much next, in pixels, to within half of one."""
        moved = self.relative.wait("relative_motion")[2:4]
        assert abs(moved[0] / FIXED - x) <= 0.5 and abs(moved[1] / FIXED - y) <= 0.5, moved

    def end(self) -> None:
        self.lock("destroy")
        self.relative("destroy")
        self.display.roundtrip()


class InputWindow:
    """On an output whose seat has these devices; by default all, of a seat of Weston's module."""

    def __init__(
        self,
        socket: Path,
        output: str,
        size: tuple[int, int],
        seat: str | None = None,
        devices: tuple[str, ...] = ("keyboard", "pointer", "touch"),
        focused: bool = True,  # when it is opened
    ) -> None:
        self.painter = Painter(socket, output, size)
        self.display = self.painter.client.display
        self.seat = bind_seat(self.display, seat or f"input/{output}")
        if focused:
            wait_keyboard(self.seat)
        for device in devices:
            setattr(self, device, self.seat(f"get_{device}"))
        self.prepare()
        self.painter.paint(1)
        if focused:
            self.keyboard.wait("enter")
        self.places: list[tuple[int, int]] = []
        self.entered = 0  # the serial of when the pointer came, by what was taken

    def prepare(self) -> None:
        """What else is to be there before the window is."""

    def take_keys(self) -> list[tuple[int, int]]:
        """Codes and states, as they came since."""
        self.display.dispatch_pending()
        return _take(self.keyboard, "key", lambda args: args[2:])

    def wait_keys(self, count: int) -> list[tuple[int, int]]:
        """As many keys, and what else has come by then."""
        found: list[tuple[int, int]] = []

        def there() -> bool:
            found.extend(_take(self.keyboard, "key", lambda args: args[2:]))
            return len(found) >= count

        self.display.wait_until(there, f"{count} keys")
        return found

    def take_rest(self) -> list[tuple[int, int]]:
        """What came before the compositor ended."""
        try:
            self.display.wait_until(lambda: False, "the compositor's end")
        except Disconnected:
            return _take(self.keyboard, "key", lambda args: args[2:])
        raise AssertionError("the compositor goes on")

    def wait_button(self) -> tuple[int, int]:
        return self.pointer.wait("button")[2:]

    def last_place(self) -> tuple[float, float]:
        """Where the pointer is, in pixels, by what has come."""
        came = _take(self.pointer, "enter", lambda args: args)
        moved = _take(self.pointer, "motion", lambda args: args[1:])
        self.entered = came[-1][0] if came else self.entered
        self.places = [*self.places, *(args[2:] for args in came), *moved][-1:]
        return tuple(at / FIXED for at in self.places[-1]) if self.places else (-1, -1)

    def wait_place(self, x: float, y: float) -> None:
        """Until the pointer is there, to within half a pixel."""

        def there() -> bool:
            at = self.last_place()
            return abs(at[0] - x) <= 0.5 and abs(at[1] - y) <= 0.5

        self.display.wait_until(there, f"the pointer at {x}, {y}")


def _take(target: Object, event: str, part: Callable[[tuple], tuple]) -> list:
    found = [part(args) for name, args in target.events if name == event]
    target.events = [(name, args) for name, args in target.events if name != event]
    return found
