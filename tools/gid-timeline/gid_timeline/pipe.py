# SPDX-License-Identifier: MIT
"""A log that comes by a pipe: Ctrl-C is the end of it, as its writer's end would be.

`weston-debug timeline | gid-timeline report -` ends in no other way: the terminal sends SIGINT to
both, and what was read until then is what was asked for.
"""

import os
import select
import signal
import threading
import time
from typing import BinaryIO, Self

_LOOK = 0.1  # s between looks whether a signal came; a writer that is silent for so long is done
_REST = 1.0  # s at most for what the writer still has to say


class Pipe:
    """What of a file the reader needs. A second Ctrl-C is as always."""

    def __init__(self, file: BinaryIO) -> None:
        self._descriptor = file.fileno()
        self._end: float | None = None  # of time.monotonic(): when reading ends at the latest

    def __enter__(self) -> Self:
        self._mine = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._mine:
            signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        if self._mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupted(self, *_: object) -> None:
        self._end = time.monotonic() + _REST
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def read1(self, size: int) -> bytes:
        """What is there now, at least a byte of it; nothing at the end."""
        while True:
            is_ending = self._end is not None
            if is_ending and time.monotonic() >= self._end:
                return b""
            if select.select([self._descriptor], [], [], _LOOK)[0]:
                return os.read(self._descriptor, size)
            if is_ending:
                return b""
