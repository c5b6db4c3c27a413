#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sends a screen of GNOME or KDE as a stream: the desktop asks you which one, or which window.

Usage: screen.py STREAM

It asks the desktop's portal (xdg-desktop-portal), which gives the pictures by PipeWire. Each is
copied once. It takes gstreamer1.0-pipewire, and sends from the domain that $GID_DOMAIN names.
"""

import argparse
import itertools
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gio, GLib, Gst  # noqa: E402

PORTAL = "org.freedesktop.portal.Desktop"
PLACE = "/org/freedesktop/portal/desktop"
SCREENCAST = "org.freedesktop.portal.ScreenCast"
SCREENS, WINDOWS = 1, 2  # what may be chosen
DRAWN = 2  # the cursor is part of the picture
READER = "p,media.type=Video,media.category=Capture,media.role=Screen"


class Desktop:
    """The portal, over the session bus."""

    def __init__(self, loop: GLib.MainLoop) -> None:
        self.loop = loop
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        self.tokens = (f"gidway{number}" for number in itertools.count(1))
        self.requests = f"{PLACE}/request/{self.bus.get_unique_name()[1:].replace('.', '_')}"

    def listen(self, interface: str, event: str, path: str, heard: object) -> int:
        return self.bus.signal_subscribe(PORTAL, interface, event, path, None, 0, heard)

    def ask(self, method: str, kind: str, *words: str, **options: GLib.Variant) -> dict:
        """What was answered, once you have. It ends the program where you said no."""
        token, answers = next(self.tokens), []

        def heard(*said: object) -> None:
            answers.append(said[5].unpack())
            self.loop.quit()

        interface = "org.freedesktop.portal.Request"
        listener = self.listen(interface, "Response", f"{self.requests}/{token}", heard)
        options["handle_token"] = GLib.Variant("s", token)
        asked = GLib.Variant(kind, (*words, options))
        self.bus.call_sync(PORTAL, PLACE, SCREENCAST, method, asked, None, 0, -1)
        self.loop.run()
        self.bus.signal_unsubscribe(listener)
        if not answers or answers[0][0] != 0:
            sys.exit("screen.py: the desktop gives no picture")
        return answers[0][1]

    def choose(self) -> tuple[str, int]:
        """The session, and the node of PipeWire that you have chosen."""
        token = GLib.Variant("s", "gidway")
        session = self.ask("CreateSession", "(a{sv})", session_handle_token=token)["session_handle"]
        types, cursor = GLib.Variant("u", SCREENS | WINDOWS), GLib.Variant("u", DRAWN)
        self.ask("SelectSources", "(oa{sv})", session, types=types, cursor_mode=cursor)
        return session, self.ask("Start", "(osa{sv})", session, "")["streams"][0][0]

    def connect(self, session: str) -> int:
        """A descriptor of a connection to PipeWire, which shows that node alone."""
        asked = GLib.Variant("(oa{sv})", (session, {}))
        answer, descriptors = self.bus.call_with_unix_fd_list_sync(
            PORTAL, PLACE, SCREENCAST, "OpenPipeWireRemote", asked, None, 0, -1
        )
        return descriptors.get(answer.unpack()[0])


def send(desktop: Desktop, stream: str) -> str | None:
    """Until the desktop ends it. Returns what went wrong."""
    session, node = desktop.choose()
    pipeline = Gst.parse_launch(
        f'pipewiresrc fd={desktop.connect(session)} path={node} stream-properties="{READER}" '
        f"! video/x-raw ! gidsink stream={stream}"
    )
    faults = []

    def fail(_: Gst.Bus, message: Gst.Message) -> None:
        faults.append(message.parse_error()[0].message)
        desktop.loop.quit()

    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message::error", fail)
    bus.connect("message::eos", lambda *_: desktop.loop.quit())
    over = "org.freedesktop.portal.Session"
    desktop.listen(over, "Closed", session, lambda *_: desktop.loop.quit())
    pipeline.set_state(Gst.State.PLAYING)
    desktop.loop.run()
    pipeline.set_state(Gst.State.NULL)
    return faults[0] if faults else None


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("stream")
    stream = arguments.parse_args().stream
    Gst.init(None)
    loop = GLib.MainLoop()
    for number in (signal.SIGINT, signal.SIGTERM):
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, loop.quit)
    try:
        fault = send(Desktop(loop), stream)
    except GLib.Error as error:  # as where there is no portal
        fault = error.message
    if fault is not None:
        sys.exit(f"screen.py: {fault}")


if __name__ == "__main__":
    main()
