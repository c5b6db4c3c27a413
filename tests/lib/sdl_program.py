#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program of SDL 2, as games are: fullscreen, and the mouse is its own. It says what is done.

A square is where the mouse has pushed it, and has another colour after each click.
"""

import ctypes
import os
import struct

NAME = "org.example.game"
LIBRARY = "libSDL2-2.0.so.0"
INIT_VIDEO = 0x20
FULLSCREEN_DESKTOP = 0x1001
UNDEFINED = 0x1FFF0000  # of a window's place
QUIT, KEY_DOWN, MOTION, BUTTON_DOWN = 0x100, 0x300, 0x400, 0x401
COLOURS = ((220, 40, 40), (40, 220, 40), (40, 40, 220))
SIDE = 60
WAIT_MS = 20  # between two pictures


def say(*words: object) -> None:
    print(*words, flush=True)


class Game:
    def __init__(self) -> None:
        os.environ |= {"SDL_VIDEODRIVER": "wayland", "SDL_VIDEO_WAYLAND_WMCLASS": NAME}
        sdl = self.sdl = ctypes.CDLL(LIBRARY)
        for function in (sdl.SDL_CreateWindow, sdl.SDL_CreateRenderer, sdl.SDL_GetError):
            function.restype = ctypes.c_void_p
        sdl.SDL_GetError.restype = ctypes.c_char_p
        self.check(sdl.SDL_Init(INIT_VIDEO) == 0)
        place = (UNDEFINED, UNDEFINED, 640, 360)
        window = sdl.SDL_CreateWindow(b"Game", *place, FULLSCREEN_DESKTOP)
        self.check(window)
        self.renderer = ctypes.c_void_p(sdl.SDL_CreateRenderer(ctypes.c_void_p(window), -1, 0))
        self.check(self.renderer)
        self.event = ctypes.create_string_buffer(128)
        self.x = self.y = self.clicks = 0

    def check(self, done: object) -> None:
        if not done:
            raise SystemExit(self.sdl.SDL_GetError().decode())

    def draw(self) -> None:
        sdl, renderer = self.sdl, self.renderer
        sdl.SDL_SetRenderDrawColor(renderer, 20, 20, 20, 255)
        sdl.SDL_RenderClear(renderer)
        sdl.SDL_SetRenderDrawColor(renderer, *COLOURS[self.clicks % len(COLOURS)], 255)
        square = struct.pack("4i", 20 + self.x, 20 + self.y, SIDE, SIDE)
        sdl.SDL_RenderFillRect(renderer, square)
        sdl.SDL_RenderPresent(renderer)

    def handle(self) -> bool:
        """One event. Returns whether it goes on."""
        (kind,) = struct.unpack_from("I", self.event)
        if kind == MOTION:
            x, y = struct.unpack_from("2i", self.event, 28)
            self.x, self.y = self.x + x, self.y + y
            say("moved", self.x, self.y)
        elif kind == BUTTON_DOWN:
            self.clicks += 1
            say("clicked", self.clicks)
        elif kind == KEY_DOWN:
            (symbol,) = struct.unpack_from("i", self.event, 20)
            say("key", chr(symbol))
        return kind != QUIT

    def run(self) -> None:
        self.draw()
        self.check(self.sdl.SDL_SetRelativeMouseMode(1) == 0)
        say("ready")
        while True:
            self.draw()
            while self.sdl.SDL_PollEvent(self.event):
                if not self.handle():
                    return
            self.sdl.SDL_Delay(WAIT_MS)


if __name__ == "__main__":
    Game().run()
