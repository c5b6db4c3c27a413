#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A GTK 4 program that says what is done to it, and where in its window that can be done.

"at NAME X Y" is the middle of what can be clicked on, in pixels of the window.
"""

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk  # noqa: E402

NAME = "org.example.gtk"


def say(text: str) -> None:
    print(text, flush=True)


class Program(Gtk.Application):
    def __init__(self) -> None:
        super().__init__(application_id=NAME)

    def do_activate(self) -> None:
        self.window = Gtk.ApplicationWindow(application=self, title="GTK", decorated=False)
        self.window.set_default_size(640, 360)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=10)
        self.button = Gtk.Button(label="Press", hexpand=True)
        self.button.connect("clicked", lambda _: say("pressed"))
        self.entry = Gtk.Entry()
        self.entry.connect("activate", lambda entry: say(f"entered {entry.get_text()}"))
        self.popover = Gtk.Popover(autohide=True)
        self.choice = Gtk.Button(label="Choose")
        self.choice.set_size_request(200, 60)
        self.choice.connect("clicked", self.choose)
        self.popover.set_child(self.choice)
        self.menu = Gtk.MenuButton(label="Menu", popover=self.popover)
        for widget in (self.button, self.entry, self.menu):
            widget.set_size_request(-1, 50)
            box.append(widget)
        self.window.set_child(box)
        self.popover.connect("map", lambda _: GLib.timeout_add(200, self.tell_choice))
        self.popover.connect("closed", lambda _: say("closed"))
        self.window.present()
        GLib.timeout_add(200, self.tell)

    def choose(self, _: Gtk.Button) -> None:
        say("chosen")
        self.popover.popdown()

    def tell(self) -> bool:
        """Where all of it is, as soon as it is anywhere."""
        if self.menu.get_width() == 0:
            return True
        for name in ("button", "entry", "menu"):
            self.tell_place(name, self.window, 0, 0)
        return False

    def tell_choice(self) -> bool:
        popup = self.popover.get_surface()
        self.tell_place("choice", self.popover, popup.get_position_x(), popup.get_position_y())
        return False

    def tell_place(self, name: str, native: Gtk.Native, x: int, y: int) -> None:
        widget = getattr(self, name)
        _, bounds = widget.compute_bounds(native)
        shadow_x, shadow_y = native.get_surface_transform()
        middle_x = x + shadow_x + bounds.get_x() + bounds.get_width() / 2
        middle_y = y + shadow_y + bounds.get_y() + bounds.get_height() / 2
        say(f"at {name} {middle_x:.0f} {middle_y:.0f}")


GLib.set_prgname(NAME)  # by which GTK calls its windows
Program().run()
