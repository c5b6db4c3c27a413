#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A stream in a window of GTK 4. Usage: show.py gid://DOMAIN/STREAM"""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gst, Gtk  # noqa: E402

if len(sys.argv) != 2:
    print(__doc__, file=sys.stderr)
    sys.exit(2)
Gst.init(None)
player = Gst.parse_launch("uridecodebin3 name=src ! videoconvert ! gtk4paintablesink name=sink")
player.get_by_name("src").props.uri = sys.argv[1]


def open_window(program: Gtk.Application) -> None:
    paintable = player.get_by_name("sink").props.paintable
    picture = Gtk.Picture(paintable=paintable, can_shrink=False)  # the window grows with it
    Gtk.ApplicationWindow(application=program, child=picture, decorated=False).present()
    player.set_state(Gst.State.PLAYING)


program = Gtk.Application(application_id="org.example.show")
program.connect("activate", open_window)
program.run()
player.set_state(Gst.State.NULL)
