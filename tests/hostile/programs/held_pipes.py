# SPDX-License-Identifier: MIT
"""Gives a Weston pipes that a thread of ours has locked in the kernel, for good.

    held_pipes.py KIND SOCKET PID PROTOCOL... FILE

FILE is what stuck_page.py made, PID the process of Weston. KIND is what Weston is to do with them.
Writes a line when it has been sent what it may stumble over, and stays.
"""

import ctypes
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from held_locks import PAGE, hold, stuck_page
from lib.clipboard import TEXT, ClipboardWindow, Program
from lib.two_desks import DESK_SIZE

from lab.domains.wayland import Display

MESSAGES, PIPES = 3, 28  # as many as one message can bring: more than one client may have unclosed


class Holder:
    def __init__(self, path: str, weston: str, protocols: list[str], file: str) -> None:
        self.socket, self.weston = Path(path), int(weston)
        self.protocols = [Path(protocol) for protocol in protocols]
        self.page = stuck_page(file)

    def lock(self, count: int = 1) -> list[int]:
        """Ends for writing into a pipe that is read into memory that never comes."""
        reading, writing = self.pipe = os.pipe()
        ends = [os.open(f"/proc/self/fd/{writing}", os.O_WRONLY) for _ in range(count)]
        os.write(writing, bytes(10))
        hold("read", reading, ctypes.c_void_p(self.page), 10)
        return ends

    @contextmanager
    def given(self) -> Iterator[int]:
        """An end that nobody but Weston has when it goes on."""
        (end,) = self.lock()
        os.kill(self.weston, signal.SIGSTOP)
        yield end
        os.close(end)
        os.kill(self.weston, signal.SIGCONT)

    def connect(self) -> Display:
        self.display = Display(self.socket, self.protocols)
        return self.display

    def open_window(self) -> Program:
        self.window = ClipboardWindow(self.socket, "desk", DESK_SIZE)
        return self.window.program

    # --- the kinds

    def pool(self) -> None:
        """libwayland closes it: it is no memory."""
        shm = self.connect().bind("wl_shm")
        with self.given() as end:
            shm("create_pool", end, 4096)

    def unread(self) -> None:
        """libwayland closes them with the connection."""
        ends = self.lock(MESSAGES * PIPES)
        display = self.connect()
        for at in range(0, len(ends), PIPES):
            socket.send_fds(display.socket, [b"x"], ends[at : at + PIPES])
        for end in ends:
            os.close(end)
        print("sent", flush=True)
        time.sleep(1)  # meanwhile Weston reads from others
        display.close()
        print("gone", flush=True)

    def plane(self) -> None:
        """libweston closes it, of a dma-buf that never was."""
        params = self.connect().bind("zwp_linux_dmabuf_v1", 3)("create_params")
        with self.given() as end:
            params("add", end, 0, 0, 64, 0, 0)
            params("destroy")

    def position(self) -> None:
        """libweston asks how long it is. A file in memory has a position, and one lock for it."""
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            self.file = os.open(file.name, os.O_RDWR)
        os.ftruncate(self.file, PAGE)
        self.copy = os.dup(self.file)  # nobody locks what is one's own
        params = self.connect().bind("zwp_linux_dmabuf_v1", 3)("create_params")
        hold("read", self.file, ctypes.c_void_p(self.page), 10)
        params("add", self.copy, 0, 0, 64, 0, 0)
        params("create", 16, 16, int.from_bytes(b"XR24", "little"), 0)

    def copied(self) -> None:
        """libweston's clipboard reads it."""
        program = self.open_window()
        program.copy(self._hold_write, program.serial() + 1)
        program.wait(lambda: program.asked > 0, "Weston to ask")

    def _hold_write(self, fd: int) -> None:
        """When Weston goes on there is something to read, and the pipe is locked."""
        os.kill(self.weston, signal.SIGSTOP)
        os.write(fd, b"text")
        hold("write", fd, ctypes.c_void_p(self.page), 10)
        os.kill(self.weston, signal.SIGCONT)

    def pasted(self) -> None:
        """libweston's clipboard writes into it."""
        program = self.open_window()
        program.leave(b"text")
        (end,) = self.lock()
        program.offer("receive", TEXT, end)

    def refused(self) -> None:
        """libweston's clipboard closes it: it has nothing of that type."""
        program = self.open_window()
        program.leave(b"text")
        with self.given() as end:
            program.offer("receive", "image/png", end)


def main() -> None:
    kind, path, weston, *protocols, file = sys.argv[1:]
    holder = Holder(path, weston, protocols, file)
    getattr(holder, kind)()
    print("sent", flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
