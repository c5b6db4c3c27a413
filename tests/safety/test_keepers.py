# SPDX-License-Identifier: MIT
"""Readers that give nothing back, and say all the time that they live: others get what is new."""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy
from lib.cockpit import Cockpit
from lib.display import Display, start_telltale
from lib.program import wait_for
from test_meter import LIBGID, Frame, StreamReader


class Keeper(threading.Thread):
    def __init__(self, cockpit: Cockpit, stream: str, owner: str) -> None:
        super().__init__()
        self._place = (LIBGID, cockpit.socket("cluster"), stream, owner)
        self.ends = threading.Event()
        self.taken = 0

    def run(self) -> None:
        with StreamReader(*self._place) as reader:
            while not self.ends.is_set():
                reader.wait(0.02)
                got = reader.lib.gid_consumer_receive(reader.consumer, ctypes.byref(Frame()))
                self.taken += got == 1
                reader.lib.gid_consumer_renew(reader.consumer)


@contextmanager
def keepers(cockpit: Cockpit, count: int, stream: str, owner: str = "cluster") -> Iterator[None]:
    """Each of which has taken something already."""
    threads = [Keeper(cockpit, stream, owner) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        wait_for(lambda: all(thread.taken > 0 for thread in threads), "what is kept")
        yield
    finally:
        for thread in threads:
            thread.ends.set()
        for thread in threads:
            thread.join()


def test_the_screen_can_be_looked_at(cockpit: Cockpit) -> None:
    """While it moves, and when it stands still."""
    display = Display(cockpit)
    telltale = start_telltale(cockpit, "--state", "5", "--cycle", "20")
    display.wait_role("live")
    with keepers(cockpit, 3, "screen"):
        for _ in range(3):
            assert display.screenshot().any()
        telltale.stop()
        display.wait_role("lost")
        stripes = display.screenshot()
        wait_for(lambda: numpy.array_equal(display.screenshot(), stripes), "what stands still")
