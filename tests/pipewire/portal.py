# SPDX-License-Identifier: MIT
"""What a desktop has between its programs and its cameras and screens, where somebody says yes.

portal.py SOCKET [NODE]: the socket of PipeWire, and the number of the node that is chosen as a
screen; no: none is. The session bus has it as xdg-desktop-portal.
"""

import socket
import sys

from gi.repository import Gio, GLib

NAME = "org.freedesktop.portal.Desktop"
PLACE = "/org/freedesktop/portal/desktop"
INTERFACES = """<node><interface name="org.freedesktop.portal.Camera">
<method name="AccessCamera">
<arg type="a{sv}" direction="in"/><arg type="o" direction="out"/>
</method>
<method name="OpenPipeWireRemote">
<arg type="a{sv}" direction="in"/><arg type="h" direction="out"/>
</method>
<property name="IsCameraPresent" type="b" access="read"/>
<property name="version" type="u" access="read"/>
</interface><interface name="org.freedesktop.portal.ScreenCast">
<method name="CreateSession">
<arg type="a{sv}" direction="in"/><arg type="o" direction="out"/>
</method>
<method name="SelectSources">
<arg type="o" direction="in"/><arg type="a{sv}" direction="in"/><arg type="o" direction="out"/>
</method>
<method name="Start">
<arg type="o" direction="in"/><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/>
<arg type="o" direction="out"/>
</method>
<method name="OpenPipeWireRemote">
<arg type="o" direction="in"/><arg type="a{sv}" direction="in"/><arg type="h" direction="out"/>
</method>
</interface></node>"""
PROPERTIES = {"IsCameraPresent": GLib.Variant("b", True), "version": GLib.Variant("u", 1)}
CANCELLED = 1


class Portal:
    def __init__(self, place: str, node: str) -> None:
        self.place, self.node = place, node

    def answer(self, *said: object) -> None:
        _, _, _, _, method, given, call = said
        *words, options = given.unpack()
        if method == "OpenPipeWireRemote":
            self.give(call)
        elif method == "CreateSession":
            session = f"{PLACE}/session/test/{options['session_handle_token']}"
            self.say(call, options, 0, session_handle=GLib.Variant("s", session))
        elif method == "Start" and self.node == "no":
            self.say(call, options, CANCELLED)
        elif method == "Start":
            self.say(call, options, 0, streams=GLib.Variant("a(ua{sv})", [(int(self.node), {})]))
        else:
            self.say(call, options, 0)

    def say(self, call: Gio.DBusMethodInvocation, options: dict, code: int, **what: object) -> None:
        """Answers with the name of a request, and says then what became of it."""
        sender = call.get_sender()
        name = sender.removeprefix(":").replace(".", "_")
        request = f"{PLACE}/request/{name}/{options['handle_token']}"
        call.return_value(GLib.Variant("(o)", (request,)))
        said = GLib.Variant("(ua{sv})", (code, what))
        interface = "org.freedesktop.portal.Request"
        call.get_connection().emit_signal(sender, request, interface, "Response", said)

    def give(self, call: Gio.DBusMethodInvocation) -> None:
        """Answers with a connection to PipeWire."""
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connected.connect(self.place)
        descriptors = Gio.UnixFDList.new()
        index = descriptors.append(connected.fileno())
        call.return_value_with_unix_fd_list(GLib.Variant("(h)", (index,)), descriptors)
        connected.close()


def main() -> None:
    place, node = (*sys.argv[1:], "no")[:2]
    portal = Portal(place, node)

    def offer(bus: Gio.DBusConnection, _: str) -> None:
        for interface in Gio.DBusNodeInfo.new_for_xml(INTERFACES).interfaces:
            bus.register_object(
                PLACE, interface, portal.answer, lambda *said: PROPERTIES[said[4]], None
            )

    def tell(*_: object) -> None:
        print("ready", flush=True)

    Gio.bus_own_name(Gio.BusType.SESSION, NAME, Gio.BusNameOwnerFlags.NONE, offer, tell, None)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
