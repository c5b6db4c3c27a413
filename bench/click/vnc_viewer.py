# SPDX-License-Identifier: MIT
"""A desktop by VNC, in a window without anything around it: the library of GNOME's viewers.

vnc_viewer.py HOST PORT USER   On $WAYLAND_DISPLAY. A server that asks for a password gets any.
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("GtkVnc", "2.0")
from gi.repository import GObject, Gtk, GtkVnc  # noqa: E402

WORD = GtkVnc.DisplayCredential


def main(host: str, port: str, user: str) -> None:
    answers = {WORD.USERNAME: user, WORD.PASSWORD: "any", WORD.CLIENTNAME: "viewer"}

    def answer(display: GtkVnc.Display, asked: GObject.ValueArray) -> None:
        for number in range(asked.n_values):
            word = asked.get_nth(number)
            display.set_credential(word, answers[word])

    window = Gtk.Window()
    display = GtkVnc.Display()
    display.set_lossy_encoding(False)
    display.connect("vnc-auth-credential", answer)
    display.connect("vnc-disconnected", lambda _: sys.exit("disconnected"))
    window.add(display)
    window.fullscreen()
    window.show_all()
    display.open_host(host, port)
    Gtk.main()


main(*sys.argv[1:])
