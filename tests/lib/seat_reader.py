#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Says what a compositor hears of the kernel's devices: by libinput, which has that from udev."""

import ctypes
import os
import select
from typing import Any

# Of enum libinput_event_type.
ADDED, REMOVED, KEY, BUTTON = 1, 2, 300, 402
NEAR, TIP = 601, 602  # of a pen
FINGERS = {500: "finger 1", 501: "finger 0", 503: "finger 0"}  # down, up, and not to be heeded
OPENED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p)
CLOSED = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)


class Interface(ctypes.Structure):
    _fields_ = (("open_restricted", OPENED), ("close_restricted", CLOSED))


def load(name: str, functions: dict[str, Any]) -> ctypes.CDLL:
    """`functions`: what each returns, of pointers alone."""
    library = ctypes.CDLL(name)
    for function, result in functions.items():
        getattr(library, function).restype = result
    return library


POINTERS = ("udev_create_context", "get_event", "event_get_device", "event_get_keyboard_event")
POINTERS += ("event_get_pointer_event", "event_get_tablet_tool_event", "event_tablet_tool_get_tool")
libinput = load("libinput.so.10", {f"libinput_{name}": ctypes.c_void_p for name in POINTERS})
for axis in ("pressure", "tilt_x", "tilt_y"):
    getattr(libinput, f"libinput_event_tablet_tool_get_{axis}").restype = ctypes.c_double
libinput.libinput_device_get_name.restype = ctypes.c_char_p
udev = load("libudev.so.1", {"udev_new": ctypes.c_void_p})


def say(*words: object) -> None:
    print(*words, flush=True)


def tell(event: ctypes.c_void_p) -> None:
    kind = libinput.libinput_event_get_type(event)
    if kind in (ADDED, REMOVED):
        device = ctypes.c_void_p(libinput.libinput_event_get_device(event))
        name = libinput.libinput_device_get_name(device).decode()
        say("added" if kind == ADDED else "removed", name)
    elif kind == KEY:
        key = ctypes.c_void_p(libinput.libinput_event_get_keyboard_event(event))
        code = libinput.libinput_event_keyboard_get_key(key)
        say("key", code, libinput.libinput_event_keyboard_get_key_state(key))
    elif kind == BUTTON:
        pointer = ctypes.c_void_p(libinput.libinput_event_get_pointer_event(event))
        code = libinput.libinput_event_pointer_get_button(pointer)
        say("button", code, libinput.libinput_event_pointer_get_button_state(pointer))
    elif kind in FINGERS:
        say(FINGERS[kind])
    elif kind in (NEAR, TIP):
        tell_pen(kind, ctypes.c_void_p(libinput.libinput_event_get_tablet_tool_event(event)))


def tell_pen(kind: int, event: ctypes.c_void_p) -> None:
    """With how it leans as it comes near, and how it is pressed as its tip is down, in percent."""
    tool = ctypes.c_void_p(libinput.libinput_event_tablet_tool_get_tool(event))

    def axis(name: str) -> float:
        return getattr(libinput, f"libinput_event_tablet_tool_get_{name}")(event)

    if kind == NEAR:
        state = libinput.libinput_event_tablet_tool_get_proximity_state(event)
        leans = (round(axis("tilt_x")), round(axis("tilt_y"))) if state else ()
        say("pen", libinput.libinput_tablet_tool_get_type(tool), state, *leans)
    else:
        state = libinput.libinput_event_tablet_tool_get_tip_state(event)
        say("tip", state, *([round(axis("pressure") * 100)] if state else ()))


def main() -> None:
    opened = OPENED(lambda path, flags, _: os.open(path, flags))
    closed = CLOSED(lambda fd, _: os.close(fd))
    interface = Interface(opened, closed)
    known = ctypes.c_void_p(udev.udev_new())
    context = ctypes.c_void_p(
        libinput.libinput_udev_create_context(ctypes.byref(interface), None, known)
    )
    if libinput.libinput_udev_assign_seat(context, b"seat0") != 0:
        raise SystemExit("there is no udev")
    say("ready")
    while True:
        select.select([libinput.libinput_get_fd(context)], [], [])
        libinput.libinput_dispatch(context)
        while found := libinput.libinput_get_event(context):
            event = ctypes.c_void_p(found)
            tell(event)
            libinput.libinput_event_destroy(event)


main()
