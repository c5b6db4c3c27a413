#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A GTK 4 program that says what is done to it, and where in its window that can be done.

"at NAME X Y" is the middle of what can be clicked on, in pixels of the window, or of its dialog.
"""

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk  # noqa: E402

NAME = "org.example.gtk"
DIALOG = (300, 200)


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
        self.ask = Gtk.Button(label="Ask")
        self.ask.connect("clicked", lambda _: self.open_dialog())
        for widget in (self.button, self.entry, self.menu, self.ask):
            widget.set_size_request(-1, 50)
            box.append(widget)
        self.window.set_child(box)
        popover = self.popover
        popover.connect("map", lambda _: GLib.timeout_add(200, self.tell_in, "choice", popover))
        popover.connect("closed", lambda _: say("closed"))
        self.window.present()
        GLib.timeout_add(200, self.tell)

    def choose(self, _: Gtk.Button) -> None:
        say("chosen")
        self.popover.popdown()

    def open_dialog(self) -> None:
        """A question with a menu of answers, and no way past it."""
        self.dialog = Gtk.Window(transient_for=self.window, modal=True, decorated=False)
        self.dialog.set_default_size(*DIALOG)
        self.answer = Gtk.Button(label="Answer")
        self.answer.set_size_request(120, 40)
        self.answer.connect("clicked", self.reply)
        popover = self.answers = Gtk.Popover(autohide=True, child=self.answer)
        popover.connect("map", lambda _: GLib.timeout_add(200, self.tell_in, "answer", popover))
        at_the_top = {"halign": Gtk.Align.CENTER, "valign": Gtk.Align.START}
        self.reasons = Gtk.MenuButton(label="Because", popover=popover, **at_the_top)
        self.dialog.set_child(self.reasons)
        self.dialog.connect("map", lambda _: GLib.timeout_add(200, self.tell_dialog))
        self.dialog.present()

    def reply(self, _: Gtk.Button) -> None:
        say("answered")
        self.dialog.destroy()

    def tell(self) -> bool:
        """Where all of it is, as soon as it is anywhere."""
        if self.menu.get_width() == 0:
            return True
        for name in ("button", "entry", "menu", "ask"):
            self.tell_place(name, self.window, 0, 0)
        return False

    def tell_in(self, name: str, popover: Gtk.Popover) -> bool:
        popup = popover.get_surface()
        self.tell_place(name, popover, popup.get_position_x(), popup.get_position_y())
        return False

    def tell_dialog(self) -> bool:
        say(f"dialog {self.dialog.get_width()} {self.dialog.get_height()}")
        self.tell_place("reasons", self.dialog, 0, 0)
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
