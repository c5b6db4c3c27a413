# SPDX-License-Identifier: MIT
"""A window whose program knows graphics tablets, and what their pens do on it."""

from lib.input_window import InputWindow

from lab.domains.wayland import Object

PEN, ERASER = 0x140, 0x141  # tools
STYLUS_3, TIP, STYLUS, STYLUS_2 = range(0x149, 0x14D)  # their buttons


class PenWindow(InputWindow):
    """Whose compositor has a tablet already."""

    def prepare(self) -> None:
        manager = self.display.bind("zwp_tablet_manager_v2")
        self.tablets = manager("get_tablet_seat", self.seat)
        self.tools: dict[int, Object] = {}

    def tool(self, kind: int) -> Object:
        """Once there is one of that kind."""

        def there() -> bool:
            for name, args in self.tablets.events:
                if name == "tool_added":
                    (number,) = next(args for said, args in args[0].events if said == "type")
                    self.tools[number] = args[0]
            return kind in self.tools

        self.display.wait_until(there, f"a tool of the kind {kind:#x}")
        return self.tools[kind]

    def wait_pen(self, tool: Object, *expected: tuple) -> None:
        """Until it has said all of that, in this order, whatever was between. Of what has an object
        or a serial only the rest is looked at."""

        def said() -> list[tuple]:
            return [(name, *plain(name, args)) for name, args in tool.events]

        def there() -> bool:
            left = iter(said())
            return all(event in left for event in expected)

        try:
            self.display.wait_until(there, "the pen")
        except TimeoutError:
            raise AssertionError(f"{expected}, came {said()}") from None
        tool.events.clear()


def plain(name: str, args: tuple) -> tuple:
    serials = {"proximity_in": 3, "down": 1, "button": 1, "frame": 1}
    return args[serials.get(name, 0) :]
