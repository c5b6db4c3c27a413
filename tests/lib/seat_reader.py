#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Says what a compositor hears of the kernel's devices: by libinput, which has that from udev."""

import ctypes
import os
import select
from typing import Any

# Of enum libinput_event_type.
ADDED, REMOVED, KEY, BUTTON = 1, 2, 300, 402
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
POINTERS += ("event_get_pointer_event",)
libinput = load("libinput.so.10", {f"libinput_{name}": ctypes.c_void_p for name in POINTERS})
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
