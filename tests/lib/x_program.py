#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program of X that has copied a text: `x_program.py FILE SECONDS` gives it as late as that."""

import ctypes
import sys
import time
from ctypes import c_char_p, c_int, c_long, c_ulong, c_void_p
from pathlib import Path

LIBRARY = "libX11.so.6"
SELECTION_REQUEST, SELECTION_NOTIFY = 30, 31
ATOM, REPLACE = 4, 0


class Selection(ctypes.Structure):
    """Events of both kinds. In an answer `owner` is who asked, and the others are one earlier."""

    _fields_ = (("kind", c_int), ("serial", c_ulong), ("sent", c_int), ("display", c_void_p))
    _fields_ += tuple((name, c_ulong) for name in ("owner", "a", "b", "c", "d", "e"))


def load() -> ctypes.CDLL:
    x = ctypes.CDLL(LIBRARY)
    window = (c_void_p, c_ulong)
    for name, result, arguments in (
        ("XOpenDisplay", c_void_p, (c_char_p,)),
        ("XDefaultRootWindow", c_ulong, (c_void_p,)),
        ("XInternAtom", c_ulong, (c_void_p, c_char_p, c_int)),
        ("XCreateSimpleWindow", c_ulong, (*window, *[c_int] * 5, c_ulong, c_ulong)),
        ("XSetSelectionOwner", c_int, (c_void_p, c_ulong, c_ulong, c_ulong)),
        ("XNextEvent", c_int, (c_void_p, c_void_p)),
        ("XChangeProperty", c_int, (*window, c_ulong, c_ulong, c_int, c_int, c_void_p, c_int)),
        ("XSendEvent", c_int, (*window, c_int, c_long, c_void_p)),
        ("XFlush", c_int, (c_void_p,)),
    ):
        function = getattr(x, name)
        function.restype, function.argtypes = result, arguments
    return x


def main() -> None:
    text, late = Path(sys.argv[1]).read_bytes(), float(sys.argv[2])
    x = load()
    display = x.XOpenDisplay(None)
    if not display:
        raise SystemExit("there is no display")
    clipboard, targets, utf8 = (
        x.XInternAtom(display, name, 0) for name in (b"CLIPBOARD", b"TARGETS", b"UTF8_STRING")
    )
    ours = x.XCreateSimpleWindow(display, x.XDefaultRootWindow(display), 0, 0, 1, 1, 0, 0, 0)
    x.XSetSelectionOwner(display, clipboard, ours, 0)
    x.XFlush(display)
    event = ctypes.create_string_buffer(192)
    asked = Selection.from_buffer(event)
    while True:
        x.XNextEvent(display, event)
        if asked.kind != SELECTION_REQUEST:
            continue
        # who asks, for which selection, as what, where to, when
        who, selection, target, where, when = asked.a, asked.b, asked.c, asked.d, asked.e
        if target == targets:
            both = (c_ulong * 2)(targets, utf8)
            x.XChangeProperty(display, who, where, ATOM, 32, REPLACE, both, 2)
        elif target == utf8:
            print("asked", flush=True)
            time.sleep(late)
            x.XChangeProperty(display, who, where, utf8, 8, REPLACE, text, len(text))
        else:
            where = 0
        answer = Selection(SELECTION_NOTIFY, 0, 1, display, who, selection, target, where, when)
        x.XSendEvent(display, who, 0, 0, ctypes.byref(answer))
        x.XFlush(display)


main()
